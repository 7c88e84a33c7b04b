/* tmerge serve: shows the report of a store in a browser, with more detail than a file can hold. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments/command.h"
#include "launch/launch.h"
#include "output/console.h"
#include "output/store_page.h"
#include "serve/handler.h"
#include "serve/listen.h"

static const char loopback[] = "127.0.0.1";

static const tm_option options[] = {
    {"port", 0, "N", "the port; without --port or with 0, any free port"},
    {"address", 0, "ADDR",
     "an address of this machine other than 127.0.0.1, which other machines may reach: everybody "
     "with the URL can read the store, and nothing is encrypted"},
};

static tm_status run(const char *store, const tm_listen *at, tm_error *err) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    tm_handler *handler;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "Reading %s ...\n", store);
    tm_status status = tm_handler_open(store, &handler, err);
    if (status != TM_OK)
        return status;
    sigaction(SIGPIPE, &ignore,
              NULL); /* without this, the server would end when a client disconnects */
    printf("Serving %s at\n  %s\n", store, at->url);
    if (strcmp(at->access.address, loopback) == 0)
        printf("Only this machine can open it, and only with this URL. Ctrl-C ends it.\n");
    else
        printf("Whoever reaches %s and has this URL can open it. Nothing is encrypted. Ctrl-C ends "
               "it.\n",
               at->access.address);
    if (!tm_handler_has_levels(handler))
        tm_console_warn(
            "%s is from an older tmerge and has no timeline levels: where there are too many "
            "events to draw, the timeline stays coarse; tmerge analyze %s adds the levels",
            store, store);
    const tm_http_plan plan = {&at->access, at->fd, tm_handler_answer, handler};
    status = fflush(stdout) == 0 ? tm_http_run(&plan, err) : TM_OK; /* main reports the failure */
    tm_handler_close(handler);
    return status;
}

static tm_status serve_run(const tm_arguments *arguments, tm_error *err) {
    enum { PORT_MAX = 65535 };
    const char *address = tm_argument(arguments, "address");
    int64_t port;
    tm_listen at;
    if (arguments->n_operands != 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge serve needs one store; see --help");
    if (!tm_launcher_env_is_alone(tm_launch_place()))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge serve is one process, without mpirun");
    TM_TRY(tm_count_parse(tm_argument(arguments, "port"), "port", &port, err));
    if (port > PORT_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--port takes a number up to %d", PORT_MAX);
    TM_TRY(tm_page_built(err));
    TM_TRY(tm_listen_open(address ? address : loopback, port < 0 ? 0 : (int)port, &at, err));
    tm_status status = run(arguments->operands[0], &at, err);
    close(at.fd);
    return status;
}

const tm_command tm_command_serve = {
    .name = "serve",
    .usage = "STORE [--port N]",
    .summary =
        "Serves the report of a store of any size to a browser on this machine, in full detail",
    TM_ARRAY(options, options),
    .run = serve_run,
};
