/* Where a server listens, and the token without which nobody is answered. */
#ifndef TMERGE_SERVE_LISTEN_H
#define TMERGE_SERVE_LISTEN_H

#include "serve/request.h"
#include "tmerge/status.h"

enum { TM_LISTEN_URL_MAX = 160 };

typedef struct tm_listen {
    int fd;
    int port;
    tm_serve_door door;
    char url[TM_LISTEN_URL_MAX]; /* with the token */
} tm_listen;

/**
 * Listens to one address of this machine.
 *
 * @param address  an IPv4 address as numbers
 * @param port     0: one that is free
 * @param out      its fd is the caller's; set only on TM_OK
 * @return         TM_OK; TM_ERR_USAGE: no such address; TM_ERR_OUTPUT: it cannot be listened to;
 *                 TM_ERR_FAULT
 */
tm_status tm_listen_open(const char *address, int port, tm_listen *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
