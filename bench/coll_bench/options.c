/* SPDX-License-Identifier: BSD-3-Clause */
/* The applications, and the keys they take. */
#include "bench.h"

#include "bench/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct app *const apps[] = {&fft_app,      &cg_app,   &summa_app,
                                         &cholesky_app, &late_app, NULL};

static const struct key keys[] = {
    {"how",
     "packed|slabs|pencils|allreduce|reduce|blocking|prefetch|"
     "bcast|sum|exchange",
     offsetof(struct options, how)},
    {"rows", NULL, offsetof(struct options, rows)},
    {"n", NULL, offsetof(struct options, n)},
    {"nx", NULL, offsetof(struct options, nx)},
    {"ny", NULL, offsetof(struct options, ny)},
    {"nz", NULL, offsetof(struct options, nz)},
    {"block", NULL, offsetof(struct options, block)},
    {"extra", NULL, offsetof(struct options, extra)},
    {"reach", NULL, offsetof(struct options, reach)},
    {"shift", NULL, offsetof(struct options, shift)},
    {"most", NULL, offsetof(struct options, most)},
    {"compute_us", NULL, offsetof(struct options, compute_us)},
    {NULL, NULL, 0},
};

static void refuse(const char *spec, const char *word)
{
    fprintf(stderr, "coll_app: cannot make sense of '%s' in '%s'\n", word,
            spec);
    exit(2);
}

static void read_keys(const char *spec, char *rest, struct options *out)
{
    while (rest) {
        char *word = strsep(&rest, ","), *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        if (!value || !key_set(keys, out, word, value))
            refuse(spec, word);
    }
}

const struct app *options_read(const char *spec, struct options *out)
{
    char *text = strdup(spec), *rest = text, *name = strsep(&rest, ",");
    const struct app *const *app = apps;

    while (*app && strcmp((*app)->name, name) != 0)
        app++;
    if (!*app)
        refuse(spec, name);
    *out = (struct options){.how = (int) (*app)->first,
                            .n = *app == &cg_app ? 75000 : 64,
                            .block = 16,
                            .extra = 57,
                            .shift = 200,
                            .most = 1000,
                            .compute_us = 200000};
    read_keys(spec, rest, out);
    if (out->how < (int) (*app)->first || out->how > (int) (*app)->last)
        refuse(spec, "how");
    if (out->n < 1 || out->block < 1 || out->most < 1 || out->shift < 1)
        refuse(spec, "0");
    out->nx += out->nx ? 0 : out->n;
    out->ny += out->ny ? 0 : out->n;
    out->nz += out->nz ? 0 : out->n;
    free(text);
    return *app;
}
