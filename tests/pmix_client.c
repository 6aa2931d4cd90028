/* SPDX-License-Identifier: BSD-3-Clause */
/* A PMIx client of its own, as a tool or another runtime would be: reads what
 * Aspen publishes for the step it runs in, with nothing of Aspen linked.
 *
 *   pmix_client          print everything
 *   pmix_client wait     after PMIx_Init print "connected", wait for a line
 *                        on stdin, then go on
 *   pmix_client rank N   print only what rank N has put as aspen.layout
 *   pmix_client put N KB put N values of that size, one after the other
 *   pmix_client all N    ranks 0 to N-1 at once, each a process: print how many
 *                        of them are served
 *
 * Exit status 0 when layout, role, version and both process sets were there. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

static void failed(const char *what, pmix_status_t status)
{
    printf("missing %s: %s\n", what, PMIx_Error_string(status));
    failures++;
}

static void get_string(const char *nspace, pmix_rank_t rank, const char *key,
                       const char *label)
{
    pmix_value_t *value = NULL;
    pmix_status_t status;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, nspace, rank);
    status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        failed(label, status);
        return;
    }
    if (value->type == PMIX_STRING)
        printf("%s %s\n", label, value->data.string);
    else
        failed(label, PMIX_ERR_TYPE_MISMATCH);
    PMIX_VALUE_RELEASE(value);
}

static void get_size(const char *nspace)
{
    pmix_value_t *value = NULL;
    pmix_status_t status;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, nspace, PMIX_RANK_WILDCARD);
    status = PMIx_Get(&proc, PMIX_JOB_SIZE, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        failed("job size", status);
        return;
    }
    printf("size %u\n", (unsigned) value->data.uint32);
    PMIX_VALUE_RELEASE(value);
}

/* Roles of the ranks on this node, by the standard key that lists them. */
static void get_peers(const char *nspace)
{
    pmix_proc_t *procs = NULL;
    char label[32];
    size_t n = 0;
    pmix_status_t status = PMIx_Resolve_peers(getenv("PMIX_HOSTNAME"), nspace,
                                              &procs, &n);

    if (status != PMIX_SUCCESS) {
        failed("peers", status);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        snprintf(label, sizeof(label), "peer %u", (unsigned) procs[i].rank);
        get_string(nspace, procs[i].rank, "aspen.role", label);
    }
    PMIX_PROC_FREE(procs, n);
}

static void print_sets(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_QUERY_PSET_NAMES))
            printf("psets %s\n", info[i].value.data.string);
        else if (PMIX_CHECK_KEY(&info[i], PMIX_QUERY_NUM_PSETS))
            printf("psets number %zu\n", info[i].value.data.size);
        else
            printf("psets and %s\n", info[i].key);
}

/* Number and names in one question, with a key that nobody knows. */
static void query_sets(void)
{
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    pmix_status_t status;
    pmix_query_t query;

    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(status, query.keys, PMIX_QUERY_NUM_PSETS);
    PMIX_ARGV_APPEND(status, query.keys, "aspen.unknown");
    PMIX_ARGV_APPEND(status, query.keys, PMIX_QUERY_PSET_NAMES);
    status = PMIx_Query_info(&query, 1, &info, &ninfo);
    if (status == PMIX_SUCCESS)
        print_sets(info, ninfo);
    else
        failed("process set names", status);
    PMIX_INFO_FREE(info, ninfo);
    PMIX_QUERY_DESTRUCT(&query);
}

static void print_members(const char *name, const pmix_data_array_t *array)
{
    const pmix_proc_t *members = array->array;

    printf("pset %s", name);
    for (size_t i = 0; i < array->size; i++)
        printf("%c%u", i == 0 ? ' ' : ',', (unsigned) members[i].rank);
    printf("\n");
}

static void query_members(const char *name)
{
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    pmix_status_t status;
    pmix_query_t query;

    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(status, query.keys, PMIX_QUERY_PSET_MEMBERSHIP);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_PSET_NAME, name, PMIX_STRING);
    status = PMIx_Query_info(&query, 1, &info, &ninfo);
    if (status != PMIX_SUCCESS || ninfo != 1 ||
        info[0].value.type != PMIX_DATA_ARRAY)
        failed(name, status);
    else
        print_members(name, info[0].value.data.darray);
    PMIX_INFO_FREE(info, ninfo);
    PMIX_QUERY_DESTRUCT(&query);
}

/* Prints "put N", the number that the library took: the server may have left
 * long before. */
static void put_values(int n, size_t bytes)
{
    char *text = malloc(bytes + 1);
    pmix_value_t value;
    char key[32];
    int put = 0;

    memset(text, 'x', bytes);
    text[bytes] = '\0';
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_STRING;
    value.data.string = text;
    for (; put < n; put++) {
        snprintf(key, sizeof(key), "test.%d.%d", (int) getpid(), put);
        if (PMIx_Put(PMIX_GLOBAL, key, &value) != PMIX_SUCCESS ||
            PMIx_Commit() != PMIX_SUCCESS)
            break;
    }
    printf("put %d\n", put);
    free(text);
}

/* Returns the exit status. */
static int be_rank(int rank)
{
    char text[16];
    pmix_proc_t me;

    snprintf(text, sizeof(text), "%d", rank);
    setenv("PMIX_RANK", text, 1);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    PMIx_Finalize(NULL, 0);
    return 0;
}

/* They begin together, when the pipe closes. */
static void start_all(int n)
{
    int served = 0;
    int gate[2];
    int status;
    char end;

    if (pipe(gate) < 0)
        return;
    for (int i = 0; i < n; i++) {
        if (fork() != 0)
            continue;
        close(gate[1]);
        _exit(read(gate[0], &end, 1) == 0 ? be_rank(i) : 1);
    }
    close(gate[1]);
    while (wait(&status) > 0)
        served += status == 0;
    printf("served %d\n", served);
}

int main(int argc, char **argv)
{
    pmix_status_t status;
    char line[16];
    pmix_proc_t me;

    if (argc > 2 && strcmp(argv[1], "all") == 0) {
        start_all(atoi(argv[2]));
        return 0;
    }
    status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        failed("server", status);
        return 1;
    }
    printf("client %s.%u\n", me.nspace, (unsigned) me.rank);
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        puts("connected");
        fflush(stdout);
        if (fgets(line, sizeof(line), stdin) == NULL)
            return 2;
    }
    if (argc > 3 && strcmp(argv[1], "put") == 0) {
        put_values(atoi(argv[2]), (size_t) atoi(argv[3]) * 1024);
        PMIx_Finalize(NULL, 0);
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "rank") == 0) {
        get_string(me.nspace, (pmix_rank_t) atoi(argv[2]), "aspen.layout",
                   "put");
        PMIx_Finalize(NULL, 0);
        return failures == 0 ? 0 : 1;
    }
    get_size(me.nspace);
    get_string(me.nspace, PMIX_RANK_WILDCARD, "aspen.version", "version");
    get_string(me.nspace, PMIX_RANK_WILDCARD, "aspen.layout", "layout");
    get_string(me.nspace, me.rank, "aspen.role", "role");
    get_peers(me.nspace);
    query_sets();
    query_members("aspen://users");
    query_members("aspen://ghosts");
    PMIx_Finalize(NULL, 0);
    return failures == 0 ? 0 : 1;
}
