/* TCP connections between processes of a run on which nothing is said while all is well: the
 * kernels of both ends ask each other whether they are there, also where a process stands still. */
#ifndef TMERGE_LIFELINE_LINES_H
#define TMERGE_LIFELINE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/status.h"

enum { TM_LINES_ADDRESSES_MAX = 24 };

/** Environment variable: the seconds, from 4 to 3600, after which a host that does not answer
 * counts as gone; 20 where it is unset or no such number. Rounded down to a multiple of 4. */
#define TM_SILENCE_VARIABLE "TMERGE_SILENCE"

/** Where a process waits for others to connect. IPv4, as Open MPI's own TCP. */
typedef struct tm_invitation {
    uint64_t token; /* who does not know it is sent away; 0: nobody waits */
    uint32_t addresses[TM_LINES_ADDRESSES_MAX];
    uint16_t n_addresses, port;
} tm_invitation;

/** An end of a process, as it calls itself; what is sent first. */
typedef struct tm_line_name {
    uint64_t token;
    int32_t process;
    char host[TM_HOST_MAX];
} tm_line_name;

typedef struct tm_line {
    int fd;
    tm_line_name other;
} tm_line;

/** What there is to read on a line. */
typedef enum tm_line_news {
    TM_LINE_QUIET,
    TM_LINE_OVER,   /* the other leaves in order */
    TM_LINE_TOLD,   /* it leaves because of a failure, of which nothing more has to be said */
    TM_LINE_GONE,   /* its kernel says that it is no more */
    TM_LINE_SILENT, /* its kernel does not answer */
} tm_line_news;

/** @return  a socket that listens; -1 where there can be none, or no token: out is all 0 then */
int tm_lines_listen(tm_invitation *out);

/**
 * Takes who waits at a listening socket.
 * @param wake  a descriptor; nobody is waited for any longer once there is something to read on it
 * @return      false: it was none of ours, or it did not say who it is
 */
bool tm_lines_accept(int listener, int wake, const tm_line_name *self, tm_line *out);

/** Connects to the first address of an invitation that leads to who wrote it; false: none does. */
bool tm_lines_join(const tm_invitation *invitation, int wake, const tm_line_name *self,
                   tm_line *out);

tm_line_news tm_lines_read(const tm_line *line);

/** @param news  OVER or TOLD */
void tm_lines_write(const tm_line *line, tm_line_news news);

#endif
