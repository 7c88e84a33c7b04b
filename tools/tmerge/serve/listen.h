/* Opens the server's socket and makes its token. */
#ifndef TMERGE_SERVE_LISTEN_H
#define TMERGE_SERVE_LISTEN_H

#include "serve/access.h"
#include "tmerge/status.h"

enum { TM_LISTEN_URL_MAX = 160 };

typedef struct tm_listen {
    int fd;
    int port;
    tm_serve_access access;
    char url[TM_LISTEN_URL_MAX]; /* includes the token */
} tm_listen;

/** Listens on one address of this machine.
 *
 * @param address  a numeric IPv4 address
 * @param port 0: any free port
 * @param out set only on TM_OK; the caller owns its fd
 * @return         TM_OK; TM_ERR_USAGE: invalid address; TM_ERR_OUTPUT: cannot listen on it;
 * TM_ERR_FAULT */
tm_status tm_listen_open(const char *address, int port, tm_listen *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
