/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: random [--seed S] [--programs N | --program K] [options]
 *   --seed S            of the random numbers (1)
 *   --programs N        run programs 0 to N-1 (100)
 *   --first K           begin with program K
 *   --program K         run this one only
 *   --plain-safe        leave out what plain MPICH 4.0.2 gets wrong
 *   --early-posts       no barrier between epochs of post and start, which
 * plain MPICH 4.0.2 sometimes hangs in
 *   --limit SECONDS     for one program; then it is called stuck (30)
 *   --print             list the operations
 *   --break WHAT:K      expect something wrong in program K, to see that it is
 *                       noticed: memory, value or order
 *
 * The last line is "N programs, M wrong, T s"; the first wrong program ends the
 * run. Ends with 0 if none was wrong, 3 if one was stuck. */
#include "random.h"

#include <execinfo.h>
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

struct options options = {.seed = 1,
                          .programs = 100,
                          .limit_s = 30,
                          .break_memory = -1,
                          .break_value = -1,
                          .break_order = -1};
int world_rank, world_size;
int world_node[MAX_RANKS];

static struct program program;

static void stuck(int signal)
{
    char text[200];
    int n = snprintf(text, sizeof text,
                     "random: seed %llu program %ld phase %d, rank %d: stuck "
                     "in %s\n",
                     (unsigned long long) program.seed, program.number,
                     program.phase, world_rank, program.stage);

    void *frames[24];

    (void) signal;
    if (write(STDERR_FILENO, text, (size_t) n) < 0)
        _exit(4);
    backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
    sleep(1); /* let the others say where they are */
    _exit(3);
}

static int break_parse(const char *text)
{
    static const struct {
        const char *name;
        long *number;
    } what[] = {{"memory:", &options.break_memory},
                {"value:", &options.break_value},
                {"order:", &options.break_order}};

    for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
        size_t length = strlen(what[i].name);

        if (strncmp(text, what[i].name, length) == 0) {
            *what[i].number = strtol(text + length, NULL, 10);
            return 0;
        }
    }
    return -1;
}

static int options_parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"seed", required_argument, NULL, 's'},
        {"programs", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"program", required_argument, NULL, 'p'},
        {"plain-safe", no_argument, NULL, 'a'},
        {"limit", required_argument, NULL, 'l'},
        {"early-posts", no_argument, NULL, 'e'},
        {"switches", no_argument, NULL, 'w'},
        {"print", no_argument, NULL, 'v'},
        {"break", required_argument, NULL, 'b'},
        {0}};
    int c;

    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == 's')
            options.seed = strtoull(optarg, NULL, 10);
        else if (c == 'n')
            options.programs = strtol(optarg, NULL, 10);
        else if (c == 'f' || c == 'p')
            options.first = strtol(optarg, NULL, 10);
        else if (c == 'a')
            options.plain_safe = 1;
        else if (c == 'l')
            options.limit_s = (int) strtol(optarg, NULL, 10);
        else if (c == 'e')
            options.early_posts = 1;
        else if (c == 'w')
            options.switches = 1;
        else if (c == 'v')
            options.print = 1;
        else if (c != 'b' || break_parse(optarg) < 0)
            return -1;
        if (c == 'p')
            options.programs = 1;
    }
    return optind == argc && options.programs > 0 ? 0 : -1;
}

/* Which ranks share a node: the lowest rank of it names it. */
static void nodes_find(void)
{
    MPI_Comm node;
    int first = world_rank;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank,
                        MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Allgather(&first, 1, MPI_INT, world_node, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
}

/* Those on the memory of others go first. */
static void windows_end(struct program *p)
{
    for (int children = 1; children >= 0; children--)
        for (int i = 0; i < p->n_windows; i++) {
            struct window *w = &p->window[p->free_order[i]];

            if (w->death == p->phase && !!w->parent == children)
                window_free(w);
        }
}

static void models_free(struct program *p)
{
    for (int i = 0; i < p->n_windows; i++)
        for (int r = 0; r < p->window[i].comm->n; r++) {
            free(p->window[i].side[r].model);
            free(p->window[i].side[r].known);
        }
}

static void program_run(struct program *p, long number)
{
    alarm((unsigned) options.limit_s);
    p->stage = "communicators";
    program_begin(p, number);
    comms_make(p);
    for (p->phase = 0; p->phase < p->phases; p->phase++) {
        p->stage = "windows";
        for (int i = 0; i < p->n_windows; i++)
            if (p->window[i].birth == p->phase)
                window_make(p, &p->window[i]);
        scratch_reset(p);
        phase_generate(p);
        if (options.print && world_rank == 0)
            print_phase(p);
        phase_execute(p);
        p->stage = "freeing windows";
        windows_end(p);
    }
    p->stage = "comparing orders";
    check_traces(p);
    comms_free(p);
    models_free(p);
}

int main(int argc, char **argv)
{
    long done = 0, wrong = 0;
    double begin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (options_parse(argc, argv) < 0 || world_size > MAX_RANKS) {
        if (world_rank == 0)
            fprintf(stderr, "random: wrong arguments, or more than %d ranks\n",
                    MAX_RANKS);
        MPI_Finalize();
        return 2;
    }
    nodes_find();
    signal(SIGALRM, stuck);
    begin = MPI_Wtime();
    while (done < options.programs && !wrong) {
        program_run(&program, options.first + done++);
        wrong += program.wrong > 0;
    }
    alarm(0);
    if (world_rank == 0)
        printf("%ld programs, %ld wrong, %.1f s\n", done, wrong,
               MPI_Wtime() - begin);
    MPI_Finalize();
    return wrong > 0;
}
