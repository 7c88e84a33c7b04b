#include "liveness.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host_lines.h"
#include "mpirun.h"

enum { GRACE_MS = 3000, LEAVE_MS = 200, LAUNCHER_S = 4 };

typedef struct liveness {
    bool runs, aborts;
    pthread_t thread;
    int own, theirs; /* ends of a socket pair. The main thread sends requests on `own`; the
                        monitoring thread answers on `theirs` */
    void (*halt)(void);
    tm_line_name self;
    bool speaks_for_first; /* this process reports a loss if process 0 is lost */
    tm_invitation upwards; /* address of the process to which this one connects; token 0: none */
    int listener;          /* -1: no more connections are expected */
    int expected;          /* number of processes that have not connected yet */
    tm_line *lines; /* owned; [n] connections; at most one of them leads to a process with a lower
                       number: the one made with `upwards` */
    int n;
    struct pollfd *polled; /* owned; [n + 2] */
    tm_line_name lost; /* the lost process that is reported at the deadline; only set if deadline_ms
                          is not 0 */
    tm_line_news how;
    int64_t deadline_ms; /* 0: none */
} liveness;

static liveness life = {.own = -1, .theirs = -1, .listener = -1};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void write_all(tm_line_news news) {
    for (int i = 0; i < life.n; i++)
        tm_lines_write(&life.lines[i], news);
}

/* Reports a loss. Only one process reports it: the process to which the lost one had connected or,
 * if process 0 is lost, the process with speaks_for_first. Uses no stdio, because the main thread
 * may have stopped inside it. */
static void tell_loss(void) {
    char text[4 * TM_HOST_MAX];
    int size;
    if (life.lost.process < life.self.process && !life.speaks_for_first)
        return;
    if (life.how == TM_LINE_SILENT)
        size = snprintf(text, sizeof text,
                        "tmerge: %s no longer responds: that host, or the network between %s and "
                        "it, has failed\n",
                        life.lost.host, life.self.host);
    else
        size = snprintf(text, sizeof text, "tmerge: process %d, on %s, was killed or has crashed\n",
                        (int)life.lost.process, life.lost.host);
    ssize_t written = write(STDERR_FILENO, text, (size_t)size);
    (void)written;
}

static void leave_for_loss(void) {
    life.halt();
    tell_loss();
    /* If only this process ended, mpirun would treat this as a failure and wait for all hosts, also
     * for the silent one. So mpirun is ended first. */
    if (life.how == TM_LINE_SILENT && tm_mpirun_end())
        sleep(LAUNCHER_S);
    write_all(TM_LINE_REPORTED);
    if (life.how == TM_LINE_SILENT && life.aborts) {
        alarm(LAUNCHER_S);
        MPI_Abort(MPI_COMM_WORLD, TM_ERR_FAULT);
    }
    _exit(TM_ERR_FAULT);
}

/* Records a loss. The loss is reported at the deadline, unless a launcher has ended the run with
 * its own message before. If a host is silent, process 0 reports at once, because launchers do not
 * notice silent hosts. */
static void take_loss(const tm_line *line, tm_line_news how) {
    bool first = life.self.process == 0;
    if (life.deadline_ms == 0)
        life.deadline_ms = now_ms() + (how == TM_LINE_SILENT && first ? 0 : GRACE_MS);
    life.lost = line->other;
    life.how = how;
}

/* Reads news from a connection. If the other end has left, closes the connection and returns false.
 */
static bool take_news(tm_line *line) {
    tm_line_news news = tm_lines_read(line);
    if (news == TM_LINE_QUIET)
        return true;
    if (news == TM_LINE_REPORTED) {
        life.halt();
        write_all(TM_LINE_REPORTED);
        _exit(TM_ERR_FAULT);
    }
    if (news != TM_LINE_OVER)
        take_loss(line, news);
    close(line->fd);
    return false;
}

static void stop_listening(void) {
    if (life.listener >= 0)
        close(life.listener);
    life.listener = -1;
}

static void take_guest(void) {
    if (tm_lines_accept(life.listener, life.theirs, &life.self, &life.lines[life.n])) {
        life.n++;
        life.expected--;
    }
    if (life.expected == 0)
        stop_listening();
}

/* Handles a request of the main thread. Returns false if the monitoring has to end. */
static bool take_request(void) {
    unsigned char news;
    if (read(life.theirs, &news, 1) == 1) {
        write_all((tm_line_news)news);
        ssize_t answered = write(life.theirs, &news, 1);
        (void)answered;
    }
    return false;
}

static bool watch_once(void) {
    int n = 0, left = 0;
    int64_t wait_ms = life.deadline_ms > 0 ? life.deadline_ms - now_ms() : -1;
    for (; n < life.n; n++)
        life.polled[n] = (struct pollfd){.fd = life.lines[n].fd, .events = POLLIN};
    life.polled[n] = (struct pollfd){.fd = life.theirs, .events = POLLIN};
    life.polled[n + 1] =
        (struct pollfd){.fd = life.listener, .events = POLLIN}; /* poll ignores -1 */
    if (life.deadline_ms > 0 && wait_ms <= 0)
        leave_for_loss();
    if (poll(life.polled, (nfds_t)n + 2, (int)wait_ms) <= 0)
        return true;
    if (life.polled[n].revents)
        return take_request();
    for (int i = 0; i < n; i++)
        if (!life.polled[i].revents || take_news(&life.lines[i]))
            life.lines[left++] = life.lines[i];
    life.n = left;
    if (life.polled[n + 1].revents)
        take_guest();
    return true;
}

static void *watch(void *unused) {
    if (life.upwards.token != 0 &&
        tm_lines_join(&life.upwards, life.theirs, &life.self, &life.lines[0]))
        life.n = 1;
    while (watch_once())
        ;
    return unused;
}

/* Exchanges addresses with the other processes. Afterwards this process knows to which process it
 * connects, and how many processes will connect to it. */
static void invite(MPI_Comm node) {
    MPI_Comm firsts;
    tm_invitation own = {0}, of_first;
    int local, n_local, process, host = -1, n_hosts = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_rank(node, &local);
    MPI_Comm_size(node, &n_local);
    MPI_Comm_split(MPI_COMM_WORLD, local == 0 ? 0 : MPI_UNDEFINED, 0, &firsts);
    if (local == 0) {
        MPI_Comm_rank(firsts, &host);
        MPI_Comm_size(firsts, &n_hosts);
        life.expected = n_local - 1 + (process == 0 ? n_hosts - 1 : 0);
        life.listener = life.expected > 0 ? tm_lines_listen(&own) : -1;
        of_first = own;
        MPI_Bcast(&of_first, (int)sizeof of_first, MPI_BYTE, 0, firsts);
        MPI_Comm_free(&firsts);
        life.upwards = process > 0 ? of_first : (tm_invitation){0};
    }
    life.self.token = own.token;
    life.self.process = process;
    (void)gethostname(life.self.host, sizeof life.self.host - 1);
    MPI_Bcast(&own, (int)sizeof own, MPI_BYTE, 0, node);
    MPI_Bcast(&n_hosts, 1, MPI_INT, 0, node);
    if (local > 0)
        life.upwards = own;
    life.speaks_for_first = host == 1 || (n_hosts == 1 && local == 1);
}

static bool start_thread(void) {
    sigset_t all, before;
    int pair[2];
    life.lines = calloc((size_t)life.expected + 1, sizeof *life.lines);
    life.polled = calloc((size_t)life.expected + 3, sizeof *life.polled);
    if (!life.lines || !life.polled || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return false;
    life.own = pair[0];
    life.theirs = pair[1];
    sigfillset(&all); /* signals go to the main thread, which may make them wait */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    life.runs = pthread_create(&life.thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return life.runs;
}

void tm_liveness_start(MPI_Comm node, bool aborts, void (*halt)(void)) {
    life.aborts = aborts;
    life.halt = halt;
    invite(node);
    if (!start_thread())
        stop_listening();
}

/* Makes the monitoring thread send news to the other processes. Waits until the thread has done
 * this, or until @p patience_ms has passed (-1: no limit). */
static void ask(tm_line_news news, int patience_ms) {
    unsigned char byte = (unsigned char)news;
    struct pollfd answer = {.fd = life.own, .events = POLLIN};
    if (write(life.own, &byte, 1) == 1)
        (void)poll(&answer, 1, patience_ms);
}

void tm_liveness_leave(void) {
    if (life.runs)
        ask(TM_LINE_REPORTED, LEAVE_MS);
}

void tm_liveness_end(void) {
    if (!life.runs)
        return;
    ask(TM_LINE_OVER, -1);
    (void)pthread_join(life.thread, NULL);
    life.runs = false;
    stop_listening();
    free(life.lines);
    free(life.polled);
}
