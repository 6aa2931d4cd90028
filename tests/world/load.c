/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI whose plugin brings libmpich in, and is bound to it
 * past any preloaded library.
 *
 * usage: load PLUGIN */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*plugin_run)(void) = NULL;
    void *plugin;

    if (argc != 2)
        return 2;
    plugin = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
    if (plugin)
        *(void **) &plugin_run = dlsym(plugin, "plugin_run");
    if (!plugin_run) {
        fprintf(stderr, "load: %s\n", dlerror());
        return 1;
    }
    return plugin_run();
}
