/* TCP connections between the processes of a run. As long as all is well, the processes send
 * nothing. Instead, the kernels of both ends probe each other, even while a process is blocked. */
#ifndef TMERGE_LIVENESS_HOST_LINES_H
#define TMERGE_LIVENESS_HOST_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/status.h"

enum { TM_LINES_ADDRESSES_MAX = 24 };

/** Name of an environment variable. After this many seconds without an answer, a host counts as
 * lost. The value is from 4 to 3600, and is rounded down to a multiple of 4. If the variable is
 * unset or invalid, the time is 20 s. */
#define TM_SILENCE_VARIABLE "TMERGE_SILENCE"

/** Address of a process that accepts connections. IPv4, as Open MPI uses for TCP. */
typedef struct tm_invitation {
    uint64_t token; /* sent first on each connection; 0: no connections are accepted */
    uint32_t addresses[TM_LINES_ADDRESSES_MAX];
    uint16_t n_addresses, port;
} tm_invitation;

/** The first message on a connection: which process is at the other end. */
typedef struct tm_line_name {
    uint64_t token;
    int32_t process;
    char host[TM_HOST_MAX];
} tm_line_name;

typedef struct tm_line {
    int fd;
    tm_line_name other;
} tm_line;

/** State of a connection. */
typedef enum tm_line_news {
    TM_LINE_QUIET,
    TM_LINE_OVER,     /* the other end has left normally */
    TM_LINE_REPORTED, /* the other end has left after a failure that is reported */
    TM_LINE_GONE,     /* closed by the other end's kernel: the process is gone */
    TM_LINE_SILENT,   /* the other end's kernel does not answer */
} tm_line_news;

/** Opens a listening socket. @return the socket; -1 without a network or a random token: @p out is
 * then all 0 */
int tm_lines_listen(tm_invitation *out);

/** Accepts a connection on a listening socket.
 * @param wake a descriptor that ends the wait when it is readable
 * @return false if the other end is no process of this run, or did not send its tm_line_name */
bool tm_lines_accept(int listener, int wake, const tm_line_name *self, tm_line *out);

/** Connects to the process that sent an invitation. Tries the addresses in the invitation until one
 * works. Returns false if none works. */
bool tm_lines_join(const tm_invitation *invitation, int wake, const tm_line_name *self,
                   tm_line *out);

tm_line_news tm_lines_read(const tm_line *line);

/** Sends news to the other end. @param news  OVER or REPORTED */
void tm_lines_write(const tm_line *line, tm_line_news news);

#endif
