/* SPDX-License-Identifier: BSD-3-Clause */
/* Leads libuct's calls of sendto() through a look at the socket: see
 * ucx_signal_fix.h. A call more for each wake-up, which is rare and dear. */
#include "config.h"

#include "ucx_signal_fix.h"

#include "fixes.h"
#include "image.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int socket_option(int fd, int name)
{
    int value;
    socklen_t length = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

/* Can it be UCX's own still? A datagram socket of the program does as well:
 * nothing that it has to say is changed. */
static bool is_datagram_socket(int fd)
{
    return socket_option(fd, SO_DOMAIN) == AF_UNIX &&
           socket_option(fd, SO_TYPE) == SOCK_DGRAM;
}

static ssize_t send_signal(int fd, const void *data, size_t bytes, int flags,
                           const struct sockaddr *to, socklen_t length)
{
    int own;
    ssize_t sent;

    if (!to || to->sa_family != AF_UNIX || is_datagram_socket(fd))
        return sendto(fd, data, bytes, flags, to, length);
    own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sent = sendto(own, data, bytes, flags, to, length);
    if (own >= 0)
        close(own);
    /* What UCX would say of a failure is not for the user of such a program;
     * the doorbell has woken the ghost. */
    return sent < 0 ? (ssize_t) bytes : sent;
}

static void lead(const struct aspx_image *image,
                 const struct aspx_reference *reference, void *unused)
{
    union {
        ssize_t (*function)(int, const void *, size_t, int,
                            const struct sockaddr *, socklen_t);
        void *pointer;
    } ours = {.function = send_signal};

    (void) unused;
    if (!reference->defined && strcmp(reference->name, "sendto") == 0)
        (void) aspx_image_store(image, reference->slot, ours.pointer);
}

void aspx_ucx_signal_fix(void)
{
    void *uct = dlopen("libuct.so.0", RTLD_LAZY | RTLD_NOLOAD);
    struct aspx_image image;

    aspx_fix_note(ASPX_FIX_SIGNAL, uct);
    if (!uct)
        return;
    if (aspx_image_of_handle(uct, &image))
        aspx_image_each(&image, lead, NULL);
    dlclose(uct);
}
