/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of libfabric's side of runtime/net, with the libfabric that is
 * installed and its tcp provider: what MPI would open is opened here. What is
 * kept of it is a process's, so the tests stand on each other. */
#include "config.h"

#include "device.h"
#include "kind.h"

#include "runtime/mpi/plt_patch.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <cmocka.h>

enum { TRIES = 5000, LATER_MS = 1000, TAG = 7 };

typedef int fabric_f(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
                     void *context);

/* An endpoint with a queue of its own. */
struct end {
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    fi_addr_t other;
};

static fabric_f *opens; /* in place of fi_fabric() */
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct end ends[2];
static aspx_net_poll_f *behind;
static unsigned seen;

/* Stands for what leads MPI's references. */
bool aspx_plt_patch_lead(const char *name, void *to, void *before_p)
{
    fabric_f *real = fi_fabric;

    if (strcmp(name, "fi_fabric") != 0)
        return false;
    memcpy(&opens, &to, sizeof(to));
    memcpy(before_p, &real, sizeof(real));
    return true;
}

void *aspx_plt_patch_find(const char *name)
{
    (void) name;
    return NULL;
}

bool aspx_plt_patch_replace(const char *name, void *to)
{
    (void) name;
    (void) to;
    return false;
}

static void find(const char *provider)
{
    struct fi_info *hints = fi_allocinfo();

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED | FI_MSG;
    hints->mode = FI_CONTEXT;
    hints->fabric_attr->prov_name = strdup(provider);
    assert_int_equal(
        fi_getinfo(FI_VERSION(1, 9), "127.0.0.1", NULL, 0, hints, &info), 0);
    fi_freeinfo(hints);
}

static void open_end(struct end *end)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_TABLE};

    assert_int_equal(fi_endpoint(domain, info, &end->ep, NULL), 0);
    assert_int_equal(fi_cq_open(domain, &cq, &end->cq, NULL), 0);
    assert_int_equal(fi_av_open(domain, &av, &end->av, NULL), 0);
    assert_int_equal(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV),
                     0);
    assert_int_equal(fi_ep_bind(end->ep, &end->av->fid, 0), 0);
    assert_int_equal(fi_enable(end->ep), 0);
}

static void introduce(struct end *end, const struct end *other)
{
    char name[256];
    size_t length = sizeof(name);

    assert_int_equal(fi_getname(&other->ep->fid, name, &length), 0);
    assert_int_equal(fi_av_insert(end->av, name, 1, &end->other, 0, NULL), 1);
}

static unsigned count(void *queue)
{
    unsigned events = behind(queue);

    seen += events;
    return events;
}

/* Returns the entries that were read. */
static ssize_t poll_end(struct end *end)
{
    struct fi_cq_tagged_entry entry;

    return fi_cq_read(end->cq, &entry, 1);
}

/* Both make progress until the one has an event. */
static void poll_until(struct end *end)
{
    struct end *other = end == &ends[0] ? &ends[1] : &ends[0];

    for (int i = 0; i < TRIES; i++) {
        if (poll_end(end) == 1)
            return;
        (void) poll_end(other);
        (void) poll(NULL, 0, i > 100);
    }
    fail_msg("no event after %d polls", TRIES);
}

static void send_to(struct end *from, long *value)
{
    static struct fi_context context;
    ssize_t rc = 0;

    for (int i = 0; i < TRIES; i++) { /* both connect */
        rc = fi_tsend(from->ep, value, sizeof(*value), NULL, from->other, TAG,
                      &context);
        if (rc != -FI_EAGAIN)
            break;
        (void) poll_end(&ends[0]);
        (void) poll_end(&ends[1]);
        (void) poll(NULL, 0, i > 100);
    }
    assert_int_equal(rc, 0);
}

static void receive(struct end *end, long *value)
{
    static struct fi_context context;

    assert_int_equal(fi_trecv(end->ep, value, sizeof(*value), NULL,
                              FI_ADDR_UNSPEC, TAG, 0, &context),
                     0);
}

static void test_polls_are_seen(void **state)
{
    long sent = 41, received = 0;

    (void) state;
    assert_false(aspx_net_ofi.is_open());
    assert_int_equal(aspx_net_ofi.deaf(), ASPX_NET_NO_DEVICE);
    aspx_net_ofi.enter(ASPX_NET_WAITED);
    find("tcp");
    assert_int_equal(opens(info->fabric_attr, &fabric, NULL), 0);
    assert_true(aspx_net_ofi.is_open());
    assert_string_equal(aspx_net_provider(), info->fabric_attr->prov_name);
    assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
    for (int i = 0; i < 2; i++)
        open_end(&ends[i]);
    introduce(&ends[0], &ends[1]);
    introduce(&ends[1], &ends[0]);
    assert_true(aspx_net_ofi.lead_polls(count, &behind));

    receive(&ends[1], &received);
    send_to(&ends[0], &sent);
    poll_until(&ends[1]);
    assert_int_equal(received, 41);
    assert_true(seen >= 1);
}

/* Arm, as who sleeps does: what has come is polled. */
static void arm(void)
{
    for (int i = 0; i < TRIES; i++) {
        if (aspx_net_ofi.arm() == ASPX_NET_WOKEN)
            return;
        assert_int_equal(aspx_net_ofi.arm() == ASPX_NET_CANNOT, false);
        (void) poll_end(&ends[0]);
        (void) poll_end(&ends[1]);
    }
    fail_msg("busy after %d polls", TRIES);
}

static int wait_ms(int ms)
{
    int fds[ASPX_NET_QUEUES_MAX];
    struct pollfd polled[ASPX_NET_QUEUES_MAX];
    size_t n = aspx_net_ofi.descriptors(fds);

    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        polled[i] = (struct pollfd){fds[i], POLLIN, 0};
    return poll(polled, n, ms);
}

static void test_what_comes_wakes(void **state)
{
    long sent = 42, received = 0;

    (void) state;
    assert_int_equal(aspx_net_ofi.deaf(), ASPX_NET_HEARS);
    for (int round = 0; round < 20; round++, sent++) {
        receive(&ends[1], &received);
        arm();
        assert_int_equal(wait_ms(0), 0);
        send_to(&ends[0], &sent);
        assert_true(wait_ms(LATER_MS) > 0);
        poll_until(&ends[1]);
        assert_int_equal(received, sent);
    }
}

static void test_more_queues_than_can_be_waited_for(void **state)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
    struct fid_cq *more[ASPX_NET_QUEUES_MAX - 1];
    size_t n = sizeof(more) / sizeof(more[0]);

    (void) state;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(fi_cq_open(domain, &attr, &more[i], NULL), 0);
    assert_int_equal(aspx_net_ofi.deaf(), ASPX_NET_SEVERAL);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(fi_close(&more[i]->fid), 0);
}

static void test_order_is_what_the_provider_promises(void **state)
{
    struct fid_domain *other;

    (void) state;
    assert_null(aspx_net_order_warning());
    info->tx_attr->msg_order &= ~(FI_ORDER_RAW | FI_ORDER_RMA_RAW);
    assert_int_equal(fi_domain(fabric, info, &other, NULL), 0);
    assert_non_null(strstr(aspx_net_order_warning(), "tcp"));
    assert_int_equal(fi_close(&other->fid), 0);
}

static void test_all_closes(void **state)
{
    (void) state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fi_close(&ends[i].ep->fid), 0);
        assert_int_equal(fi_close(&ends[i].cq->fid), 0);
        assert_int_equal(fi_close(&ends[i].av->fid), 0);
    }
    assert_int_equal(fi_close(&domain->fid), 0);
    assert_int_equal(fi_close(&fabric->fid), 0);
}

static void test_a_later_session_has_its_own(void **state)
{
    struct fid_fabric *other;

    (void) state;
    assert_non_null(aspx_net_order_warning());
    assert_int_equal(opens(info->fabric_attr, &other, NULL), 0);
    assert_null(aspx_net_order_warning());
    assert_int_equal(fi_close(&other->fid), 0);
    fi_freeinfo(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polls_are_seen),
        cmocka_unit_test(test_what_comes_wakes),
        cmocka_unit_test(test_more_queues_than_can_be_waited_for),
        cmocka_unit_test(test_order_is_what_the_provider_promises),
        cmocka_unit_test(test_all_closes),
        cmocka_unit_test(test_a_later_session_has_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
