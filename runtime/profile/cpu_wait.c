/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from /proc how long a process waited for a CPU (cpu_wait.h). */
#include "config.h"

#include "cpu_wait.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parts of the time that has passed: less outside MPI is not worth a look at
 * the state; more that is neither CPU nor queue may be a wait that goes on,
 * while less is how late the kernel adds up the time of one that runs. */
static const double OUTSIDE_PART = 0.1, UNKNOWN_PART = 0.4;

/* Of the time that has passed. Who gets no CPU for long is judged all the same,
 * ten times later at most. */
static const double LOST_MOST = 0.9;

/* /proc may be that of another namespace, too. */
uint64_t aspx_cpu_wait_namespace(void)
{
    char self[32] = "";
    struct stat status;

    if (readlink("/proc/self", self, sizeof(self) - 1) < 0 ||
        atoi(self) != (int) getpid() || stat("/proc/self/ns/pid", &status) != 0)
        return 0;
    return status.st_ino;
}

static int open_file(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int) pid, (int) pid,
             name);
    return pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

void aspx_cpu_wait_open(struct aspx_cpu_wait *wait, pid_t pid)
{
    struct stat file;
    int fd = open_file(pid, "schedstat");

    *wait = (struct aspx_cpu_wait){.pid = pid, .schedstat = fd};
    if (fd >= 0 && fstat(fd, &file) == 0) {
        wait->device = file.st_dev;
        wait->inode = file.st_ino;
    }
}

static bool is_ours(const struct aspx_cpu_wait *wait)
{
    struct stat file;

    return wait->schedstat >= 0 && fstat(wait->schedstat, &file) == 0 &&
           file.st_dev == wait->device && file.st_ino == wait->inode;
}

void aspx_cpu_wait_close(struct aspx_cpu_wait *wait)
{
    if (is_ours(wait))
        (void) close(wait->schedstat);
    *wait = ASPX_CPU_WAIT_NOBODY;
}

/* Files of /proc are made anew for who reads them from the start. */
static bool read_file(int fd, char *text, size_t size)
{
    ssize_t n = pread(fd, text, size - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Has it a CPU, or is it in the queue for one? "pid (name) state ...", and the
 * name may have anything in it. */
static bool wants_cpu(pid_t pid)
{
    int fd = open_file(pid, "stat");
    char text[256], *name_end = NULL;

    if (fd < 0)
        return false;
    if (read_file(fd, text, sizeof(text)))
        name_end = strrchr(text, ')');
    (void) close(fd);
    return name_end && strncmp(name_end, ") R", 3) == 0;
}

static bool read_sums(const struct aspx_cpu_wait *wait, double *ran_s,
                      double *waited_s)
{
    unsigned long long ran_ns, waited_ns;
    char text[128];

    if (!is_ours(wait) || !read_file(wait->schedstat, text, sizeof(text)) ||
        sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2 ||
        ran_ns == 0) /* a kernel that does not count */
        return false;
    *ran_s = 1e-9 * (double) ran_ns;
    *waited_s = 1e-9 * (double) waited_ns;
    return true;
}

static void store_look(struct aspx_cpu_wait *wait, double now_s,
                       double inside_s, double ran_s, double waited_s)
{
    wait->now_s = now_s;
    wait->inside_s = inside_s;
    wait->ran_s = ran_s;
    wait->waited_s = waited_s;
    wait->unclear = 0;
}

void aspx_cpu_wait_begin(struct aspx_cpu_wait *wait, double now_s,
                         double inside_s)
{
    double ran_s, waited_s;

    wait->begun = read_sums(wait, &ran_s, &waited_s);
    if (wait->begun)
        store_look(wait, now_s, inside_s, ran_s, waited_s);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* It waited inside MPI and outside alike, as far as can be known. Where that is
 * wrong, stays outside are shorter than a look; in longer ones there is no
 * inside. */
double aspx_cpu_wait_lost(const struct aspx_cpu_wait_look *look)
{
    double outside = least(look->outside_s, look->passed_s),
           part = least(look->waited_s / look->passed_s, 1);

    return outside > 0 && part > 0
               ? least(part * outside, LOST_MOST * look->passed_s)
               : 0;
}

bool aspx_cpu_wait_may_go_on(const struct aspx_cpu_wait_look *look)
{
    double unknown = look->passed_s - look->ran_s - look->waited_s;

    return look->outside_s > OUTSIDE_PART * look->passed_s &&
           unknown > UNKNOWN_PART * look->passed_s;
}

bool aspx_cpu_wait_look(struct aspx_cpu_wait *wait, double now_s,
                        double inside_s)
{
    double ran_s, waited_s;
    struct aspx_cpu_wait_look look;

    if (!wait->begun || now_s <= wait->now_s ||
        !read_sums(wait, &ran_s, &waited_s))
        return true;
    look = (struct aspx_cpu_wait_look){
        .passed_s = now_s - wait->now_s,
        .outside_s = now_s - wait->now_s - (inside_s - wait->inside_s),
        .ran_s = ran_s - wait->ran_s,
        .waited_s = waited_s - wait->waited_s,
    };
    if (wait->pid != getpid() && wait->unclear < ASPX_CPU_WAIT_UNCLEAR &&
        aspx_cpu_wait_may_go_on(&look) && wants_cpu(wait->pid)) {
        wait->unclear++;
        return false;
    }
    wait->lost_s += aspx_cpu_wait_lost(&look);
    store_look(wait, now_s, inside_s, ran_s, waited_s);
    return true;
}
