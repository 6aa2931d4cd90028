/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of devices: which of them an MPI would use for RDMA, by its own
 * words and the variables of the process. */
#include "config.h"

#include "device.h"

#include "runtime/mpi/real.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define IB  "/sys/class/infiniband"
#define CXI "/sys/class/cxi"

static const char *built;

static int say_version(char *text, int *len)
{
    *len = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING,
                    "MPICH Version:\t4.0\nMPICH Device:\t%s\nMPICH x", built);
    return MPI_SUCCESS;
}

static void set(const char *name, const char *value)
{
    if (value)
        (void) setenv(name, value, 1);
    else
        (void) unsetenv(name);
}

static void test_rdma(void **state)
{
    static const struct {
        const char *device, *netmod, *tls, *provider, *sysfs;
    } cases[] = {
        {"ch4:ucx", NULL, NULL, NULL, IB},
        {"ch4:ucx", NULL, "", NULL, IB},
        {"ch4:ucx", NULL, "all", NULL, IB},
        {"ch4:ucx", NULL, "sm,rc_x,self", NULL, IB},
        {"ch4:ucx", NULL, "dc", NULL, IB},
        {"ch4:ucx", NULL, "tcp,sm", NULL, NULL},
        {"ch4:ucx", NULL, "rcache", NULL, NULL},
        {"ch4:ucx", NULL, "^tcp", NULL, IB},
        {"ch4:ucx", NULL, "^ib,tcp", NULL, NULL},
        {"ch4:ucx,ofi", NULL, NULL, "tcp", IB},
        {"ch4:ucx,ofi", "ofi", NULL, NULL, CXI},
        {"ch4:ucx ofi", "ofi", NULL, NULL, CXI},
        {"ch4:ucx ofi", NULL, NULL, "tcp", IB},
        {"ch4:ucx,ofi", "UCX", NULL, NULL, IB},
        {"ch4:ofi", "ucx", NULL, NULL, CXI}, /* there is no other */
        {"ch4:ucx", NULL, "ud", NULL, NULL},
        {"ch4:ofi", NULL, NULL, NULL, CXI},
        {"ch4:ofi", NULL, "tcp", "cxi", CXI},
        {"ch4:ofi", NULL, NULL, "tcp", NULL},
        {"ch4:ofi", NULL, NULL, "verbs;ofi_rxm", NULL},
        {"ch4:ofi", NULL, NULL, "^tcp", CXI},
        {"ch3:nemesis", NULL, NULL, NULL, NULL},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *sysfs;

        built = cases[i].device;
        set("MPIR_CVAR_CH4_NETMOD", cases[i].netmod);
        set("UCX_TLS", cases[i].tls);
        set("FI_PROVIDER", cases[i].provider);
        sysfs = aspx_net_rdma_sysfs();
        print_message("%s %s\n", built, sysfs ? sysfs : "none");
        if (cases[i].sysfs)
            assert_string_equal(sysfs, cases[i].sysfs);
        else
            assert_null(sysfs);
    }
}

static void test_devices(void **state)
{
    (void) state;
    built = "ch4:ucx";
    set("MPIR_CVAR_CH4_NETMOD", NULL);
    set("UCX_TLS", NULL);
    set("UCX_NET_DEVICES", "all");
    assert_string_equal(aspx_net_rdma_sysfs(), IB);
    set("UCX_NET_DEVICES", "lo,no_such_device:1");
    assert_null(aspx_net_rdma_sysfs());
    set("UCX_NET_DEVICES", NULL);
}

static void test_mpi_says_nothing(void **state)
{
    (void) state;
    built = "\n";
    set("MPIR_CVAR_CH4_NETMOD", NULL);
    assert_null(aspx_net_rdma_sysfs());
    assert_string_equal(aspx_net_device(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rdma),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_mpi_says_nothing),
    };

    aspx_real.MPI_Get_library_version = say_version;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
