/* SPDX-License-Identifier: BSD-3-Clause */
/* Another user of the node, who knows everything about a step's PMIx server:
 *
 *   pmix_neighbour ask UID GID
 *       connect as the client of PMIX_* would, but state that user and group;
 *       prints "layout TEXT" or "refused REASON"
 *   pmix_neighbour serve PORT NAMESPACE RANK UID GID LAYOUT
 *       be the server on the port of one that is gone, for that client; prints
 *       "ready" and serves until its standard input ends
 */
#include "config.h"

#include <pmix.h>
#include <pmix_server.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static uid_t stated_uid;
static gid_t stated_gid;

/* libpmix states what these say; the program's come before libc's. */
EXPORT uid_t geteuid(void)
{
    return stated_uid;
}

EXPORT gid_t getegid(void)
{
    return stated_gid;
}

static int ask(void)
{
    pmix_value_t *value = NULL;
    pmix_status_t status;
    pmix_proc_t job;
    pmix_proc_t me;

    status = PMIx_Init(&me, NULL, 0);
    if (status == PMIX_SUCCESS) {
        PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
        status = PMIx_Get(&job, "aspen.layout", NULL, 0, &value);
    }
    if (status == PMIX_SUCCESS && value->type == PMIX_STRING)
        printf("layout %s\n", value->data.string);
    else
        printf("refused %s\n", PMIx_Error_string(status));
    return 0;
}

static sem_t done;

static void on_done(pmix_status_t status, void *arg)
{
    (void) arg;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        printf("failed %s\n", PMIx_Error_string(status));
    sem_post(&done);
}

static int wait_done(const char *what, pmix_status_t status)
{
    if (status == PMIX_SUCCESS) {
        sem_wait(&done);
        return 0;
    }
    if (status == PMIX_OPERATION_SUCCEEDED)
        return 0;
    printf("failed %s: %s\n", what, PMIx_Error_string(status));
    return -1;
}

static int start_server(const char *port)
{
    static pmix_server_module_t module;
    int number = atoi(port);
    pmix_info_t info[1];
    pmix_status_t status;

    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_psec", "native", 1);
    PMIX_INFO_LOAD(&info[0], PMIX_TCP_IPV4_PORT, &number, PMIX_INT);
    status = PMIx_server_init(&module, info, 1);
    if (status != PMIX_SUCCESS)
        printf("failed server: %s\n", PMIx_Error_string(status));
    return status == PMIX_SUCCESS ? 0 : -1;
}

/* Job data of one rank, as little as a client of 4.2 is content with. */
static int add_step(const char *nspace, uint32_t rank, const char *layout)
{
    char peers[16];
    char *node_map = NULL;
    char *proc_map = NULL;
    uint32_t one = 1;
    uint32_t size = rank + 1;
    pmix_info_t info[7];

    snprintf(peers, sizeof(peers), "%u", (unsigned) rank);
    PMIx_generate_regex("n1", &node_map);
    PMIx_generate_ppn(peers, &proc_map);
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[4], PMIX_LOCAL_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[5], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    PMIX_INFO_LOAD(&info[6], "aspen.layout", layout, PMIX_STRING);
    return wait_done("namespace", PMIx_server_register_nspace(
                                      nspace, 1, info, 7, on_done, NULL));
}

static int serve(char **args)
{
    pmix_proc_t client;
    char line[16];

    sem_init(&done, 0, 0);
    PMIX_LOAD_PROCID(&client, args[1], (pmix_rank_t) atoi(args[2]));
    if (start_server(args[0]) < 0 ||
        add_step(args[1], client.rank, args[5]) < 0 ||
        wait_done("client",
                  PMIx_server_register_client(&client, (uid_t) atoi(args[3]),
                                              (gid_t) atoi(args[4]), NULL,
                                              on_done, NULL)) < 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL)
        ;
    PMIx_server_finalize();
    return 0;
}

int main(int argc, char **argv)
{
    stated_uid = getuid();
    stated_gid = getgid();
    if (argc == 4 && strcmp(argv[1], "ask") == 0) {
        stated_uid = (uid_t) atoi(argv[2]);
        stated_gid = (gid_t) atoi(argv[3]);
        return ask();
    }
    if (argc == 8 && strcmp(argv[1], "serve") == 0)
        return serve(argv + 2);
    fputs("usage: pmix_neighbour ask UID GID | serve PORT NAMESPACE RANK UID "
          "GID LAYOUT\n",
          stderr);
    return 2;
}
