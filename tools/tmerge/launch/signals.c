#include "signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"
#include "liveness/liveness.h"
#include "tmerge/status.h"

/* A file or folder that is removed when a signal ends the process. All files in the folder are
 * removed before it. */
typedef struct doomed {
    struct doomed *next;
    char path[];
} doomed;

/* Globals, because a signal handler gets no pointer from its caller. */
static doomed *volatile doomed_first; /* list, latest first; never freed */
static volatile sig_atomic_t child;   /* leader of the process group to end at a signal; 0: none */
static volatile sig_atomic_t is_held; /* a file or child is being registered, so signals wait */
static volatile sig_atomic_t postponed; /* signal that waits; 0: none */
static char on_host[80];                /* " on NAME" if there may be several hosts, else empty */
static pthread_t main_thread;
static volatile sig_atomic_t is_halted; /* set when another thread ends the process */

/* Ends the child and removes the registered files. The child ends first, because it could write the
 * files again. */
static void clean_up(void) {
    pid_t leader = child;
    if (leader > 0 && kill(-leader, SIGKILL) == 0)
        (void)waitpid(leader, NULL, 0);
    for (const doomed *d = doomed_first; d; d = d->next)
        if (unlink(d->path) != 0)
            (void)rmdir(d->path);
}

static void clean_up_and_leave(int number) {
    if (is_held) {
        postponed = number;
        return;
    }
    clean_up();
    tm_liveness_leave();
    _exit(128 + number);
}

/* Signal handlers call this, too. */
void tm_signals_let_first_speak(void) {
    int rank = tm_launch_place()->rank;
    if (rank > 0)
        sleep(rank < 4 ? 1 + (unsigned)rank : 5);
}

static void say(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* Reports a crash. Must not allocate, because the crash may be in malloc. Open MPI's handler
 * allocates to print a stack, and then hangs. */
static void tell_crash(int number) {
    (void)number;
    clean_up();
    tm_signals_let_first_speak();
    say("tmerge: crashed");
    say(on_host);
    say(": a bug in tmerge, MPI or HDF5, or too little memory\n");
    tm_liveness_leave();
    _exit(TM_ERR_FAULT);
}

/* Installs a handler for a crash. If there is already one, such as a sanitizer's, keeps it, because
 * it reports more. */
static void watch_crash(int number) {
    struct sigaction action = {.sa_handler = tell_crash}, old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

static void watch_end(int number) {
    struct sigaction action = {.sa_handler = clean_up_and_leave}, old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

/* If a descriptor is closed, opens /dev/null there: input for writing, and output for reading. Each
 * use of the descriptor then still fails, and the failure is reported. */
static void open_if_closed(int fd) {
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
        _exit(TM_ERR_FAULT);
}

void tm_signals_prepare(void) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    char name[64] = "";
    main_thread = pthread_self();
    if (tm_launch_has_hosts() && gethostname(name, sizeof name - 1) == 0)
        snprintf(on_host, sizeof on_host, " on %s", name);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        open_if_closed(fd);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGCHLD, &usual, NULL); /* while SIGCHLD is ignored, children cannot be waited for */
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        watch_crash(crashes[i]);
}

void tm_signals_remove(const char *path) {
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
    size_t size = strlen(path) + 1;
    doomed *d = malloc(sizeof *d + size);
    if (!d)
        return;
    d->next = doomed_first;
    memcpy(d->path, path, size);
    doomed_first = d; /* last, so that a signal at any time finds a complete list */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        watch_end(ends[i]);
}

static void clean_up_and_halt(int number) {
    if (is_held) {
        postponed = number;
        return;
    }
    clean_up();
    is_halted = 1;
    while (is_halted)
        pause();
}

/* Sends the main thread a signal whose handler is clean_up_and_halt. */
void tm_signals_halt(void) {
    enum { TRIES = 200 };
    const struct sigaction action = {.sa_handler = clean_up_and_halt, .sa_flags = SA_NODEFER};
    const struct timespec while_ns = {.tv_nsec = 10000000};
    sigaction(SIGALRM, &action, NULL);
    pthread_kill(main_thread, SIGALRM);
    for (int i = 0; i < TRIES && !is_halted; i++)
        nanosleep(&while_ns, NULL);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void hold(void) {
    is_held = 1;
}

static void release(void) {
    is_held = 0;
    if (postponed == SIGALRM)
        clean_up_and_halt(postponed);
    else if (postponed)
        clean_up_and_leave(postponed);
}

static void set_child(pid_t leader) {
    child = leader;
}

const tm_guard tm_signals_guard = {hold, release, tm_signals_remove, set_child};

/* MPI requires that its handlers take variable arguments. */
static void tell_mpi_failure(MPI_Comm *comm, int *code, ...) {
    char reason[MPI_MAX_ERROR_STRING] = "";
    int size = 0;
    (void)comm;
    clean_up();
    tm_signals_let_first_speak();
    MPI_Error_string(*code, reason, &size);
    fprintf(stderr, "tmerge: MPI failed%s: %s\n", on_host, reason);
    MPI_Abort(MPI_COMM_WORLD, TM_ERR_FAULT);
}

void tm_signals_watch_mpi(MPI_Comm comm) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(tell_mpi_failure, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}
