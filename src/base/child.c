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

extern char **environ; /* POSIX defines this variable, but no header declares it */

typedef struct tail {
    int fd; /* owned; -1 after the end of the output */
    size_t n;
    char bytes[TAIL_MAX];
} tail;

/* Reads the available output. Stops without waiting for end of file, because a process that
 * outlives the child may keep the pipe open. */
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

/* Writes the last lines of the output, joined by " | ". */
static void tell(const tail *t, char out[TM_CHILD_SAID_MAX]) {
    static const char joint[] = {' ', '|', ' '};
    char line[sizeof joint * TAIL_MAX];
    size_t n = 0, most = TM_CHILD_SAID_MAX - 1;
    bool begins = true; /* the next character starts a line */
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
        cut++; /* do not cut inside a UTF-8 character */
    memcpy(out, line + cut, n - cut);
    out[n - cut] = '\0';
}

/* Where a process runs. `in` and `out` are descriptors. If `in` is -1, the process has no input. If
 * `out` is -1, its output is discarded. If `group` is 0, the process gets a new process group. */
typedef struct place {
    int in, out;
    pid_t group;
} place;

static int set_up(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                  const place *at) {
    const int from[] = {at->in, at->out, at->out};
    int failed = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO && !failed; stream++)
        failed = from[stream] < 0
                     ? posix_spawn_file_actions_addopen(actions, stream, "/dev/null", O_RDWR, 0)
                     : posix_spawn_file_actions_adddup2(actions, from[stream], stream);
    return failed ? failed : posix_spawnattr_setpgroup(attributes, at->group);
}

static int spawn(const char *program, const char *const *arguments, const place *at, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        failed = set_up(&actions, &attributes, at);
        /* POSIX says that posix_spawn does not change the strings, which are not const by type. */
        char *const *kept = (char *const *)(const void *)arguments;
        if (!failed)
            failed = posix_spawn(child, program, &actions, &attributes, kept, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Starts a shell that kills the child's process group as soon as this process ends, for whatever
 * reason: the shell waits for the end of the pipe `alive`, which comes with the end of this
 * process. Returns 0 if the shell cannot be started; that is not an error. */
static pid_t watch_over(pid_t child, int alive) {
    static const char *const arguments[] = {"sh", "-c", "read -r x; kill -9 0", NULL};
    pid_t watcher = 0;
    return spawn("/bin/sh", arguments, &(place){alive, -1, child}, &watcher) == 0 ? watcher : 0;
}

static int start(const char *program, const char *const *arguments, const tm_guard *guard,
                 int write_end, pid_t *child) {
    if (guard)
        guard->hold();
    int failed = spawn(program, arguments, &(place){-1, write_end, 0}, child);
    if (guard && !failed)
        guard->child(*child);
    if (guard)
        guard->release();
    return failed;
}

/* Waits until the child has ended, without reaping it, so that its process id is not reused. */
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

static int reap(pid_t child, int *status) {
    while (waitpid(child, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static int collect(pid_t child, pid_t watcher, const tm_guard *guard, tm_child_end *out) {
    int status, watched;
    /* Ends the watcher, and any processes that the child left running. */
    (void)kill(-child, SIGKILL);
    if (guard)
        guard->child(0);
    int failed = watcher ? reap(watcher, &watched) : 0;
    failed = reap(child, &status) || failed;
    if (failed)
        return errno;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return 0;
}

static bool open_pipe(int ends[2]) {
    if (pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return true;
}

static int close_both(const int ends[2], int failed) {
    close(ends[0]);
    close(ends[1]);
    return failed;
}

int tm_child_run(const char *program, const char *const *arguments, const tm_child_watch *watch,
                 tm_child_end *out) {
    /* Pipes. `ends`: output of the child. `alive`: input of the watcher; it is closed when this
     * process ends. */
    int ends[2], alive[2];
    pid_t child = 0, watcher = 0;
    tm_child_end end;
    if (!open_pipe(ends))
        return errno;
    if (!open_pipe(alive))
        return close_both(ends, errno);
    tail said = {.fd = ends[0]};
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int failed = start(program, arguments, watch->guard, ends[1], &child);
    watcher = failed ? 0 : watch_over(child, alive[0]);
    close(ends[1]);
    close(alive[0]);
    if (!failed)
        failed = await(child, watch, &said);
    if (!failed)
        failed = collect(child, watcher, watch->guard, &end);
    close(alive[1]);
    take(&said);
    if (said.fd >= 0)
        close(said.fd);
    if (failed)
        return failed;
    tell(&said, end.said);
    *out = end;
    return 0;
}
