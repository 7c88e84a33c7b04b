#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 100, TAIL_MAX = 4096 };

extern char **environ; /* which no header of POSIX declares */

/* The last bytes that were printed. */
typedef struct tail {
    int fd; /* owned, -1 at its end */
    size_t n;
    char bytes[TAIL_MAX];
} tail;

/* Takes in what is there; nothing more is taken where a process that outlived the child still holds
 * the other end. */
static void take(tail *t) {
    char piece[TAIL_MAX / 2];
    ssize_t got;
    while (t->fd >= 0 && (got = read(t->fd, piece, sizeof piece)) != 0) {
        if (got < 0 && errno != EINTR)
            return;
        size_t n = got > 0 ? (size_t)got : 0, room = sizeof t->bytes - t->n;
        size_t drop = n > room ? n - room : 0;
        memmove(t->bytes, t->bytes + drop, t->n - drop);
        t->n -= drop;
        memcpy(t->bytes + t->n, piece, n);
        t->n += n;
    }
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

/* The end of the text, its lines in one. */
static void tell(const tail *t, char out[TM_CHILD_SAID_MAX]) {
    static const char joint[] = {' ', '|', ' '};
    char line[sizeof joint * TAIL_MAX];
    size_t n = 0, most = TM_CHILD_SAID_MAX - 1;
    bool begins = true; /* a line */
    for (size_t i = 0; i < t->n; i++) {
        char c = t->bytes[i];
        bool blank = (c >= 0 && c <= ' ') || c == 0x7F;
        if (begins && blank)
            continue;
        if (begins && n > 0) {
            memcpy(line + n, joint, sizeof joint);
            n += sizeof joint;
        }
        begins = c == '\n' || c == '\r';
        if (!begins)
            line[n++] = blank ? ' ' : c;
    }
    size_t cut = n > most ? n - most : 0;
    while (cut > 0 && cut < n && ((unsigned char)line[cut] & 0xC0) == 0x80)
        cut++; /* not inside a character of UTF-8 */
    memcpy(out, line + cut, n - cut);
    out[n - cut] = '\0';
}

/* Both streams go into the pipe; a background group could not read from the terminal anyway. */
static int set_up(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                  const int pipe_ends[2]) {
    int failed = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO && !failed; stream++)
        failed = posix_spawn_file_actions_adddup2(actions, pipe_ends[1], stream);
    if (!failed)
        failed = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP);
    return failed ? failed : posix_spawnattr_setpgroup(attributes, 0);
}

static int start(const char *program, const char *const *arguments, const tm_guard *guard,
                 const int pipe_ends[2], pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        failed = set_up(&actions, &attributes, pipe_ends);
        if (guard)
            guard->hold();
        /* Arguments are not const for historical reasons alone: POSIX says that they are kept. */
        char *const *kept = (char *const *)(const void *)arguments;
        if (!failed)
            failed = posix_spawn(child, program, &actions, &attributes, kept, environ);
        if (guard && !failed)
            guard->child(*child);
        if (guard)
            guard->release();
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Until it has ended; it is not collected yet, so that its number stays its own. */
static int await(pid_t child, const tm_child_watch *watch, tail *t) {
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        int failed = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
        if (failed && errno != EINTR)
            return errno;
        if (!failed && info.si_pid == child)
            return 0;
        take(t);
        if (watch->tick)
            watch->tick(watch->context);
        struct pollfd said = {.fd = t->fd, .events = POLLIN};
        (void)poll(&said, 1, TICK_MS);
    }
}

static int collect(pid_t child, const tm_guard *guard, tm_child_end *out) {
    int status;
    (void)kill(-child, SIGKILL); /* what the child has left running */
    if (guard)
        guard->child(0);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return 0;
}

int tm_child_run(const char *program, const char *const *arguments, const tm_child_watch *watch,
                 tm_child_end *out) {
    int ends[2];
    pid_t child = 0;
    tm_child_end end;
    if (pipe(ends) != 0)
        return errno;
    tail said = {.fd = ends[0]};
    for (int i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int failed = start(program, arguments, watch->guard, ends, &child);
    close(ends[1]);
    if (!failed)
        failed = await(child, watch, &said);
    if (!failed)
        failed = collect(child, watch->guard, &end);
    take(&said);
    if (said.fd >= 0)
        close(said.fd);
    if (failed)
        return failed;
    tell(&said, end.said);
    *out = end;
    return 0;
}
