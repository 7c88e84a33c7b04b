#include "progress_line.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mpi/exchange/progress.h"
#include "output/console.h"

/* Times [s]. On a terminal, the line is redrawn every `redrawn` seconds. In other output, the first
 * line about a phase comes after `patience` seconds, and further lines every `repeated` seconds. */
static const double redrawn = 0.5, repeated = 10.0, patience = 2.0;

/* What the drawing thread shares with other threads, guarded by `lock`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool begun, ends;
    bool redraws;
    const char *phase; /* NULL: none */
    double began;      /* start of the phase [s] */
    double printed;    /* age of the phase or bar when it was last printed [s]; 0: not yet */
    bool has_bar;      /* a bar is shown, which tm_line_bar draws instead of the thread */
    int drawn;         /* characters on the line */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Overwrites the line with blanks, because a terminal may not support escape sequences. */
static void clear(void) {
    if (line.drawn > 0)
        fprintf(stderr, "\r%*s\r", line.drawn, "");
    line.drawn = 0;
}

/* Prints a text up to the last column but one, because a wrapped line cannot be overwritten. */
static void put(const char *text) {
    if (line.redraws) {
        clear();
        line.drawn = fprintf(stderr, "%.*s", tm_console_width() - 1, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
    fflush(stderr);
}

/* Returns whether it is time to print a line about the current phase or bar, and notes that it was
 * printed. @p seconds is the time since the start of the phase or bar, @p every the time between
 * two lines. */
static bool is_due(double seconds, double every) {
    double first = line.printed > 0.0 ? every : patience;
    if (seconds - line.printed < first)
        return false;
    line.printed = seconds;
    return true;
}

static void show_phase(void) {
    char text[128];
    double seconds = now(CLOCK_MONOTONIC) - line.began;
    if (!line.phase || line.has_bar || (!line.redraws && !is_due(seconds, repeated)))
        return;
    if (seconds < 1.0)
        snprintf(text, sizeof text, "%s ...", line.phase);
    else
        snprintf(text, sizeof text, "%s ... %.0f s", line.phase, seconds);
    put(text);
}

static void *tick(void *unused) {
    (void)unused;
    pthread_mutex_lock(&line.lock);
    while (!line.ends) {
        double until = now(CLOCK_REALTIME) + redrawn;
        struct timespec time = {(time_t)until, (long)(1e9 * (until - (double)(time_t)until))};
        pthread_cond_timedwait(&line.changed, &line.lock, &time);
        if (!line.ends)
            show_phase();
    }
    pthread_mutex_unlock(&line.lock);
    return NULL;
}

/* Blocks signals in the new thread, so that the main thread gets them. */
void tm_line_begin(bool redraws) {
    sigset_t all, before;
    line.redraws = redraws;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    line.begun = pthread_create(&line.thread, NULL, tick, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tm_line_phase(const char *what) {
    pthread_mutex_lock(&line.lock);
    if (line.redraws)
        clear();
    line.phase = what;
    line.began = now(CLOCK_MONOTONIC);
    line.printed = 0.0;
    show_phase();
    fflush(stderr);
    pthread_mutex_unlock(&line.lock);
}

/* Writes "1.2 GB", "12 k events" or "12": two or three digits and a unit. */
static void print_scaled(double value, const char *unit, char *out, size_t size) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    int p = 0;
    while (p < 4 && value >= 999.5) {
        value /= 1000.0;
        p++;
    }
    bool word = strlen(unit) > 1;
    snprintf(out, size, "%.*f%s%s%s%s", value < 9.95 && p > 0, value, p > 0 || *unit ? " " : "",
             prefixes[p], p > 0 && word ? " " : "", unit);
}

/* Writes the remaining time, estimated from the time so far and the share done. */
static void print_left(double seconds, double share, char *out, size_t size) {
    double left = seconds * (1.0 - share) / share;
    if (left < 99.5)
        snprintf(out, size, ", %.0f s left", left);
    else if (left < 5970.0)
        snprintf(out, size, ", %.0f min left", left / 60.0);
    else
        snprintf(out, size, ", %.1f h left", left / 3600.0);
}

/* Writes "25 %, 289 MB of 1.2 GB, 525 k events, 210 MB/s, 4 s left". */
static void print_state(const tm_progress_state *state, double share, char *out, size_t size) {
    char done[24], total[24], events[24], rate[24], left[32] = "";
    bool is_bytes = strcmp(state->unit, "B") == 0, has_total = state->total > 0;
    double seconds = state->seconds > 0.0 ? state->seconds : 1e-9;
    print_scaled((double)state->done, is_bytes || !has_total ? state->unit : "", done, sizeof done);
    print_scaled((double)state->total, state->unit, total, sizeof total);
    print_scaled((double)state->events, "events", events, sizeof events);
    print_scaled((double)state->done / seconds, state->unit, rate, sizeof rate);
    if (share > 0.0 && share < 1.0 &&
        seconds >= 1.0) /* in the first second, the estimate would be only a guess */
        print_left(seconds, share, left, sizeof left);
    snprintf(out, size, "%3.0f %%, %s%s%s%s%s, %s/s%s", 100.0 * share, done,
             has_total ? " of " : "", has_total ? total : "", state->events > 0 ? ", " : "",
             state->events > 0 ? events : "", rate, left);
}

/* Shows the phase, a bar that fills the line, and the state of the work. The bar leaves room for
 * the remaining time even if that is not known yet. */
static void show_state(const tm_progress_state *state) {
    enum { CELLS_MIN = 4, CELLS_MAX = 20, LEFT = 13, PUNCTUATION = 5 };
    char words[160], bar[CELLS_MAX + 1] = "", text[256];
    double share = state->total > 0 ? (double)state->done / (double)state->total : 0.0;
    share = share > 1.0 ? 1.0 : share;
    print_state(state, share, words, sizeof words);
    int used = (int)(strlen(state->phase) + strlen(words)) + (strstr(words, "left") ? 0 : LEFT);
    int cells = tm_console_width() - PUNCTUATION - used;
    cells = cells > CELLS_MAX || !line.redraws ? CELLS_MAX : cells;
    cells = cells < CELLS_MIN ? CELLS_MIN : cells;
    for (int i = 0; i < cells; i++)
        bar[i] = i < (int)(share * cells) ? '=' : ' ';
    snprintf(text, sizeof text, "%s [%.*s] %s", state->phase, cells, bar, words);
    put(text);
}

void tm_line_bar(void *context, const tm_progress_state *state) {
    (void)context;
    pthread_mutex_lock(&line.lock);
    if (!line.has_bar)
        line.printed = 0.0;
    line.has_bar = !state->ended;
    if (line.redraws && state->ended)
        clear();
    else if (line.redraws || state->ended || is_due(state->seconds, patience))
        show_state(state);
    if (state->ended)
        line.printed = 0.0;
    fflush(stderr);
    pthread_mutex_unlock(&line.lock);
}

void tm_line_end(void) {
    if (!line.begun)
        return;
    tm_line_phase(NULL);
    pthread_mutex_lock(&line.lock);
    line.ends = true;
    pthread_cond_signal(&line.changed);
    pthread_mutex_unlock(&line.lock);
    pthread_join(line.thread, NULL);
    line.begun = false;
}

void tm_line_make_room(void) {
    pthread_mutex_lock(&line.lock);
    clear();
}

void tm_line_give_back(void) {
    pthread_mutex_unlock(&line.lock);
}
