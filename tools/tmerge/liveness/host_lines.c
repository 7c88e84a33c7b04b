#include "host_lines.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SILENCE_S = 20, SILENCE_MAX_S = 3600, PROBES = 3, PATIENCE_MS = 2000, WAITING_MAX = 4096 };

/* Returns the interval of TCP's keep-alive probes. After one interval without traffic, TCP sends a
 * probe, and then another one in each interval. The connection fails one interval after the last of
 * PROBES probes that got no answer. */
static int probe_interval_s(void) {
    const char *text = getenv(TM_SILENCE_VARIABLE);
    long silence = text ? strtol(text, NULL, 10) : 0;
    return (int)(silence > PROBES && silence <= SILENCE_MAX_S ? silence : SILENCE_S) / (PROBES + 1);
}

static bool set_up(int fd) {
    int interval = probe_interval_s();
    const int settings[][3] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                               {IPPROTO_TCP, TCP_KEEPIDLE, interval},
                               {IPPROTO_TCP, TCP_KEEPINTVL, interval},
                               {IPPROTO_TCP, TCP_KEEPCNT, PROBES}};
    /* Child processes must not inherit connections. */
    bool ok = fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ok = ok && setsockopt(fd, settings[i][0], settings[i][1], &settings[i][2],
                              sizeof settings[i][2]) == 0;
    return ok;
}

static bool wait_for(int fd, short events, int wake) {
    struct pollfd both[] = {{.fd = fd, .events = events}, {.fd = wake, .events = POLLIN}};
    return poll(both, 2, PATIENCE_MS) > 0 && both[0].revents && !both[1].revents;
}

static bool read_name(int fd, int wake, uint64_t token, tm_line_name *out) {
    for (size_t got = 0; got < sizeof *out;) {
        ssize_t n = wait_for(fd, POLLIN, wake) ? read(fd, (char *)out + got, sizeof *out - got) : 0;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    out->host[sizeof out->host - 1] = '\0';
    return out->token == token;
}

static bool write_name(int fd, const tm_line_name *self, uint64_t token) {
    tm_line_name name = *self;
    name.token = token; /* it fits into the buffer of a new connection, so this does not block */
    return send(fd, &name, sizeof name, MSG_NOSIGNAL) == (ssize_t)sizeof name;
}

static void list_addresses(tm_invitation *out) {
    struct ifaddrs *first = NULL;
    /* the address for other processes on this host */
    out->addresses[out->n_addresses++] = htonl(INADDR_LOOPBACK);
    if (getifaddrs(&first) != 0)
        return;
    for (const struct ifaddrs *i = first; i; i = i->ifa_next) {
        struct sockaddr_in address;
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
            (i->ifa_flags & IFF_LOOPBACK) || out->n_addresses == TM_LINES_ADDRESSES_MAX)
            continue;
        memcpy(&address, i->ifa_addr, sizeof address);
        out->addresses[out->n_addresses++] = address.sin_addr.s_addr;
    }
    freeifaddrs(first);
}

static bool make_token(uint64_t *out) {
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && read(fd, out, sizeof *out) == (ssize_t)sizeof *out && *out != 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

int tm_lines_listen(tm_invitation *out) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t size = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(out, 0, sizeof *out);
    if (fd >= 0 && set_up(fd) && bind(fd, (struct sockaddr *)&any, sizeof any) == 0 &&
        listen(fd, WAITING_MAX) == 0 && getsockname(fd, (struct sockaddr *)&any, &size) == 0 &&
        make_token(&out->token)) {
        out->port = any.sin_port;
        list_addresses(out);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    out->token = 0;
    return -1;
}

bool tm_lines_accept(int listener, int wake, const tm_line_name *self, tm_line *out) {
    out->fd = accept(listener, NULL, NULL);
    if (out->fd < 0)
        return false;
    if (set_up(out->fd) && read_name(out->fd, wake, self->token, &out->other) &&
        write_name(out->fd, self, ~self->token))
        return true;
    close(out->fd);
    return false;
}

static int connect_to(uint32_t host, uint16_t port, int wake) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
    int fd = socket(AF_INET, SOCK_STREAM, 0), error = 0;
    socklen_t size = sizeof error;
    address.sin_addr.s_addr = host;
    if (fd < 0)
        return -1;
    if (set_up(fd) &&
        (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EINPROGRESS) &&
        wait_for(fd, POLLOUT, wake) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
        error == 0)
        return fd;
    close(fd);
    return -1;
}

bool tm_lines_join(const tm_invitation *invitation, int wake, const tm_line_name *self,
                   tm_line *out) {
    for (int i = 0; i < invitation->n_addresses; i++) {
        out->fd = connect_to(invitation->addresses[i], invitation->port, wake);
        if (out->fd < 0)
            continue;
        if (write_name(out->fd, self, invitation->token) &&
            read_name(out->fd, wake, ~invitation->token, &out->other))
            return true;
        close(out->fd);
    }
    return false;
}

tm_line_news tm_lines_read(const tm_line *line) {
    unsigned char byte;
    ssize_t n = recv(line->fd, &byte, 1, MSG_DONTWAIT);
    if (n == 1)
        return byte == TM_LINE_OVER ? TM_LINE_OVER : TM_LINE_REPORTED;
    if (n == 0 || errno == ECONNRESET || errno == EPIPE)
        return TM_LINE_GONE;
    return errno == EAGAIN || errno == EINTR ? TM_LINE_QUIET : TM_LINE_SILENT;
}

void tm_lines_write(const tm_line *line, tm_line_news news) {
    unsigned char byte = (unsigned char)news;
    ssize_t written = send(line->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)written;
}
