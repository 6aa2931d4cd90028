/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of MPI, which its plugin uses: plugin.c.
 * usage: loader PLUGIN */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*work)(void);

    if (!plugin) {
        fprintf(stderr, "no plugin: %s\n", argc > 1 ? dlerror() : "");
        return 1;
    }
    *(void **) &work = dlsym(plugin, "work");
    return work() != 0 || dlclose(plugin) != 0;
}
