#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static tm_status make_token(char token[TM_SERVE_TOKEN + 1], tm_error *err) {
    unsigned char bits[TM_SERVE_TOKEN / 2];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, bits, sizeof bits) : -1;
    if (fd >= 0)
        close(fd);
    if (n != (ssize_t)sizeof bits)
        return tm_fail(err, TM_ERR_FAULT, "/dev/urandom", -1, "cannot be read: %s",
                       strerror(errno));
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(token + 2 * i, 3, "%02x", bits[i]);
    return TM_OK;
}

static tm_status parse(const char *address, int port, struct sockaddr_in *out, tm_error *err) {
    *out = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &out->sin_addr) != 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--address takes an IPv4 address of this machine, such as 127.0.0.1, not "
                       "'%s'",
                       address);
    if (out->sin_addr.s_addr == htonl(INADDR_ANY))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--address takes one address of this machine, not all of them");
    return TM_OK;
}

static tm_status bind_to(int fd, const struct sockaddr_in *wanted, tm_listen *out, tm_error *err) {
    enum { WAITING_MAX = 32 };
    const int yes = 1;
    union {
        struct sockaddr any;
        struct sockaddr_in ip;
    } at = {.ip = *wanted};
    socklen_t size = sizeof at.ip;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, &at.any, size) == 0 && listen(fd, WAITING_MAX) == 0 &&
        getsockname(fd, &at.any, &size) == 0) {
        out->port = ntohs(at.ip.sin_port);
        return TM_OK;
    }
    if (errno == EADDRINUSE)
        return tm_fail(err, TM_ERR_OUTPUT, NULL, -1,
                       "port %d is in use; without --port a free one is used",
                       ntohs(wanted->sin_port));
    return tm_fail(err, TM_ERR_OUTPUT, NULL, -1, "cannot listen on address %s, port %d: %s",
                   out->access.address, ntohs(wanted->sin_port), strerror(errno));
}

tm_status tm_listen_open(const char *address, int port, tm_listen *out, tm_error *err) {
    struct sockaddr_in wanted;
    tm_listen made = {.fd = -1};
    TM_TRY(parse(address, port, &wanted, err));
    TM_TRY(make_token(made.access.token, err));
    inet_ntop(AF_INET, &wanted.sin_addr, made.access.address, sizeof made.access.address);
    made.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (made.fd < 0)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "no socket: %s", strerror(errno));
    (void)fcntl(made.fd, F_SETFD, FD_CLOEXEC);
    tm_status status = bind_to(made.fd, &wanted, &made, err);
    if (status != TM_OK) {
        close(made.fd);
        return status;
    }
    snprintf(made.url, sizeof made.url, "http://%s:%d/%s/", made.access.address, made.port,
             made.access.token);
    *out = made;
    return TM_OK;
}
