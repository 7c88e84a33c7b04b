#include "serve/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

enum {
    CONNECTIONS_MAX = 64,
    CONNECTION_BYTES = 16384, /* maximum size of a request's head with its path [B] */
    IDLE_S = 60,
    ASKING_S = 5, /* time limit for a request's head [s] */
    LOOK_MS = 500
};

/* A connection. */
typedef struct guest {
    struct MHD_Connection *connection; /* NULL: the slot is free */
    time_t since;  /* when the client connected or got its last answer; 0: a request has arrived */
    bool waits;    /* waits for the answer to a statement; the connection is suspended */
    bool answered; /* `answer` is complete, but not yet sent */
    tm_http_answer answer;
} guest;

typedef struct server {
    const tm_http_plan *plan;
    struct MHD_Daemon *daemon;
    guest guests[CONNECTIONS_MAX];
} server;

static time_t now(void) {
    struct timespec at = {0};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + 1;
}

static const char *look(const void *query, const char *key) {
    union {
        const void *in;
        struct MHD_Connection *out; /* not modified */
    } connection = {.in = query};
    return MHD_lookup_connection_value(connection.out, MHD_GET_ARGUMENT_KIND, key);
}

/* Adds the headers of an answer. The page itself contains a content security policy. The header
 * adds the rules that a page cannot contain. */
static bool add_headers(struct MHD_Response *response, const tm_http_answer *answer) {
    bool page = strncmp(answer->type, "text/html", 9) == 0;
    const char *const headers[][2] = {
        {"Content-Type", answer->type},
        {"Content-Security-Policy",
         page ? "frame-ancestors 'none'" : "default-src 'none'; frame-ancestors 'none'"},
        {"Cache-Control", "no-store"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
        {answer->status == MHD_HTTP_METHOD_NOT_ALLOWED ? "Allow" : NULL, "GET, HEAD"},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (headers[i][0])
            ok = MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES && ok;
    return ok;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection,
                                   const tm_http_answer *answer) {
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->size, answer->bytes, answer->kept ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response && !answer->kept)
        free(answer->bytes);
    if (!response)
        return MHD_NO;
    enum MHD_Result result =
        add_headers(response, answer)
            ? MHD_queue_response(connection, (unsigned)answer->status, response)
            : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status) {
    static char text[] = "refused\n";
    const tm_http_answer answer = {status, "text/plain; charset=utf-8", text, sizeof text - 1,
                                   true};
    return send_answer(connection, &answer);
}

static enum MHD_Result count_hosts(void *context, enum MHD_ValueKind kind, const char *key,
                                   const char *value) {
    size_t *n = context;
    (void)kind;
    (void)value;
    *n += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
    return MHD_YES;
}

static int check(const server *s, struct MHD_Connection *connection, const char *path,
                 const char *method, tm_serve_route *route) {
    const enum MHD_ValueKind head = MHD_HEADER_KIND;
    tm_serve_request request = {
        .method = method,
        .path = path,
        .host = MHD_lookup_connection_value(connection, head, MHD_HTTP_HEADER_HOST),
        .origin = MHD_lookup_connection_value(connection, head, MHD_HTTP_HEADER_ORIGIN),
    };
    MHD_get_connection_values(connection, head, count_hosts, &request.n_hosts);
    return tm_serve_check(s->plan->access, &request, route);
}

static guest *guest_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Answers a request, or lets a statement wait until answer_statements. */
static enum MHD_Result answer(const server *s, guest *g, tm_serve_route route,
                              struct MHD_Connection *connection) {
    tm_http_answer made = {.status = MHD_HTTP_OK};
    if (route == TM_SERVE_SQL && g && !g->answered) {
        g->waits = true;
        MHD_suspend_connection(connection);
        return MHD_YES;
    }
    if (g && g->answered)
        made = g->answer;
    else
        s->plan->answer(s->plan->context, route, look, connection, NULL, &made);
    if (g)
        g->answered = false;
    return send_answer(connection, &made);
}

/* Handles a request. libmicrohttpd calls it twice per request: after the head, and after the whole
 * request; and again after a suspended connection is resumed. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *body,
                              size_t *n_body, void **seen) {
    static const char head_seen;
    const server *s = context;
    tm_serve_route route = TM_SERVE_PAGE;
    union {
        const char *in;
        void *out; /* never written to */
    } mark = {.in = &head_seen};
    (void)version;
    (void)body;
    guest *g = guest_of(connection);
    if (g)
        g->since = 0;
    int status = check(s, connection, path, method, &route);
    if (status != MHD_HTTP_OK)
        return refuse(connection, status);
    if (!*seen) {
        *seen = mark.out;
        return MHD_YES;
    }
    if (*n_body > 0) /* a GET with a body is refused */
        return MHD_NO;
    return answer(s, g, route, connection);
}

/* Keeps escapes such as %41 as they are. No address that the server knows has any. */
static size_t keep_escaped(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

static void note_guest(void *context, struct MHD_Connection *connection, void **own,
                       enum MHD_ConnectionNotificationCode what) {
    server *s = context;
    guest *g = *own;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED && g) {
        if (g->answered && !g->answer.kept)
            free(g->answer.bytes);
        *g = (guest){0};
    }
    for (size_t i = 0; what == MHD_CONNECTION_NOTIFY_STARTED && i < CONNECTIONS_MAX; i++)
        if (!s->guests[i].connection) {
            s->guests[i] = (guest){.connection = connection, .since = now()};
            *own = &s->guests[i];
            return;
        }
}

static void note_answered(void *context, struct MHD_Connection *connection, void **seen,
                          enum MHD_RequestTerminationCode how) {
    guest *g = guest_of(connection);
    (void)context;
    (void)seen;
    (void)how;
    if (g)
        g->since = now();
}

/* Returns the socket of a connection; -1 if unknown. */
static int socket_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void send_slow_away(server *s) {
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        guest *g = &s->guests[i];
        if (!g->connection || g->since == 0 || now() - g->since <= ASKING_S)
            continue;
        (void)shutdown(socket_of(g->connection), SHUT_RDWR);
        g->since = 0;
    }
}

/* A statement that is being answered. */
typedef struct asked {
    const server *server;
    struct MHD_Connection *connection;
} asked;

/* libmicrohttpd does not watch a suspended connection. */
static bool serve_others(void *context) {
    const asked *a = context;
    char byte;
    (void)MHD_run_wait(a->server->daemon, 0);
    return recv(socket_of(a->connection), &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

/* Answers statements one after another, outside of libmicrohttpd's calls, so that it can answer
 * other requests meanwhile. */
static void answer_statements(server *s) {
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        guest *g = &s->guests[i];
        asked statement = {s, g->connection};
        const tm_http_others others = {serve_others, &statement};
        if (!g->waits)
            continue;
        g->answer = (tm_http_answer){.status = MHD_HTTP_OK};
        s->plan->answer(s->plan->context, TM_SERVE_SQL, look, g->connection, &others, &g->answer);
        g->waits = false;
        g->answered = true;
        MHD_resume_connection(g->connection);
    }
}

tm_status tm_http_run(const tm_http_plan *plan, tm_error *err) {
    server s = {.plan = plan};
    s.daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, &s,
        MHD_OPTION_LISTEN_SOCKET, plan->fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escaped, NULL, MHD_OPTION_NOTIFY_CONNECTION, note_guest, &s,
        MHD_OPTION_NOTIFY_COMPLETED, note_answered, NULL, MHD_OPTION_END);
    if (!s.daemon)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "the server cannot start: %s", strerror(errno));
    while (MHD_run_wait(s.daemon, LOOK_MS) == MHD_YES) {
        send_slow_away(&s);
        answer_statements(&s);
    }
    MHD_stop_daemon(s.daemon);
    return tm_fail(err, TM_ERR_FAULT, NULL, -1, "the server failed: %s", strerror(errno));
}
