/* Writes sentences on what NCCL's RAS reports about a job. */
#include <inttypes.h>
#include <string.h>

#include "base/sorted.h"
#include "hang_words.h"
#include "moves.h"
#include "sentences.h"
#include "tables.h"

/* Adds "rank 2 (process 7 on 10.0.0.2, GPU 2)". If the global rank is unknown, writes the rank
 * within the communicator. */
static void add_who(tm_hang_words *t, const tm_cell *row) {
    if (row[HR_RANK].null)
        tm_hang_add(t, "rank %" PRId64 " of communicator %s", row[HR_MEMBER].value.i,
                    row[HR_HASH].value.text);
    else
        tm_hang_add(t, "rank %" PRId64, row[HR_RANK].value.i);
    if (row[HR_PID].null)
        return;
    tm_hang_add(t, " (process %" PRId64 " on %s", row[HR_PID].value.i, row[HR_HOST].value.text);
    if (!row[HR_GPU].null)
        tm_hang_add(t, ", GPU %" PRId64, row[HR_GPU].value.i);
    tm_hang_add(t, ")");
}

static bool is_same_process(const tm_cell *a, const tm_cell *b) {
    return !a[HR_PID].null && !b[HR_PID].null && a[HR_PID].value.i == b[HR_PID].value.i &&
           !a[HR_GPU].null && !b[HR_GPU].null && a[HR_GPU].value.i == b[HR_GPU].value.i &&
           strcmp(a[HR_HOST].value.text, b[HR_HOST].value.text) == 0;
}

/* Adds @p what and the first few processes that are in @p state. No process is listed twice. */
static void add_state(tm_hang_words *t, const tm_table *rows, tm_ras_state state,
                      const char *what) {
    enum { SHOWN = 4 };
    const tm_cell *shown[SHOWN];
    size_t n = 0;
    bool more = false;
    for (size_t i = 0; i < rows->n_rows && !more; i++) {
        const tm_cell *row = tm_table_row(rows, i);
        size_t k = 0;
        if (!tm_hang_ras_is(row, state))
            continue;
        while (k < n && !is_same_process(shown[k], row))
            k++;
        more = k == SHOWN;
        if (k < n || more)
            continue;
        shown[n++] = row;
        tm_hang_add(t, "%s", n > 1 ? ", " : t->n > 0 ? ". " : "");
        if (n == 1)
            tm_hang_add(t, "%s: ", what);
        add_who(t, row);
    }
    tm_hang_add(t, more ? ", and more (hang.ras)" : "");
}

static bool is_lag(const tm_cell *row) {
    return !row[HR_LAUNCHED].null;
}

static bool is_like(const tm_cell *a, const tm_cell *b) {
    return is_lag(a) && is_lag(b) && a[HR_COMM].value.i == b[HR_COMM].value.i &&
           a[HR_RANK].null == b[HR_RANK].null &&
           strcmp(a[HR_STATE].value.text, b[HR_STATE].value.text) == 0;
}

/* Adds all ranks with the communicator and state of row @p first. Returns false if out of
 * memory. */
static bool add_lagging(tm_hang_words *t, const tm_table *rows, const tm_cell *first) {
    const int column = first[HR_RANK].null ? HR_MEMBER : HR_RANK;
    tm_vec ranks = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < rows->n_rows && ok; i++) {
        const tm_cell *row = tm_table_row(rows, i);
        ok = !is_like(first, row) || tm_vec_append(&ranks, &row[column].value.i, 1) != NULL;
    }
    if (ranks.n > 1)
        tm_sort(ranks.data, ranks.n, sizeof(int64_t), tm_compare_i64);
    tm_hang_add(t, "%sIn communicator %s of %" PRId64 " ranks, %s", t->n > 0 ? ". " : "",
                first[HR_HASH].value.text, first[HR_SIZE].value.i,
                first[HR_RANK].null ? "its " : "");
    tm_hang_add_ranks(t, &ranks);
    if (strcmp(first[HR_STATE].value.text, "behind") == 0)
        tm_hang_add(t, ranks.n == 1 ? " is behind: " : " are behind: ");
    else
        tm_hang_add(t, " launched different collectives than the others: ");
    if (ranks.n == 1)
        tm_hang_add(t, "it");
    else
        tm_hang_add(t, "%s %" PRId64, first[HR_RANK].null ? "its rank" : "rank",
                    first[column].value.i);
    tm_hang_add(t, " has launched %" PRId64 " %s, another rank has launched %" PRId64,
                first[HR_LAUNCHED].value.i, first[HR_OPERATION].value.text, first[HR_MOST].value.i);
    tm_vec_free(&ranks);
    return ok;
}

/* Adds the first few communicators in which ranks are behind or have different counts. */
static bool add_lags(tm_hang_words *t, const tm_table *rows) {
    enum { SHOWN = 3 };
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < rows->n_rows && ok; i++) {
        const tm_cell *row = tm_table_row(rows, i);
        bool reported = !is_lag(row);
        for (size_t k = i; k-- > 0 && !reported &&
                           tm_table_row(rows, k)[HR_COMM].value.i == row[HR_COMM].value.i;)
            reported = is_like(tm_table_row(rows, k), row);
        if (reported || n++ >= SHOWN)
            continue;
        ok = add_lagging(t, rows, row);
    }
    if (n > SHOWN)
        tm_hang_add(t, ". More communicators are in hang.ras");
    return ok;
}

/* Lists the ranks that launched collectives between two answers, or those that launched none. Sets
 * *n to the number of their GPUs, including GPUs of unknown rank. Returns false if out of
 * memory. */
static bool list_moved(const tm_table *moves, bool moved, tm_vec *ranks, size_t *n) {
    bool ok = true;
    *n = 0;
    for (size_t i = 0; i < moves->n_rows && ok; i++) {
        const tm_cell *row = tm_table_row(moves, i);
        if ((row[HM_ADVANCED].value.i > 0) != moved)
            continue;
        ++*n;
        ok = row[HM_RANK].null || tm_vec_append(ranks, &row[HM_RANK].value.i, 1) != NULL;
    }
    return ok;
}

/* Adds a list of ranks, such as "ranks 0-2". If a rank is unknown, adds the number of GPUs instead,
 * such as "3 GPUs". */
static void add_gpus(tm_hang_words *t, const tm_vec *ranks, size_t n) {
    if (ranks->n == n)
        tm_hang_add_ranks(t, ranks);
    else
        tm_hang_add(t, "%zu GPU%s", n, n == 1 ? "" : "s");
}

/* Adds which ranks (or how many GPUs) launched collectives between the two answers, and which did
 * not. Returns false if out of memory. */
static bool add_compared(const tm_hang_ras *r, tm_hang_words *t) {
    tm_vec moved = TM_VEC(int64_t), still = TM_VEC(int64_t);
    size_t n_moved, n_still;
    const tm_cell *apart = &tm_table_row(r->answer, 0)[HA_APART];
    const bool ok = list_moved(r->moves, true, &moved, &n_moved) &&
                    list_moved(r->moves, false, &still, &n_still);
    if (apart->null || apart->value.i == 0)
        tm_hang_add(t, ". Between the two answers, ");
    else
        tm_hang_add(t, ". In the %" PRId64 " s between the two answers, ", apart->value.i);
    if (ok && n_moved > 0) {
        add_gpus(t, &moved, n_moved);
        tm_hang_add(t, " launched collectives%s", n_still == 0 ? ": the job was running" : ", ");
    }
    if (ok && n_still > 0) {
        add_gpus(t, &still, n_still);
        tm_hang_add(t, n_moved > 0 ? " launched none"
                                   : " launched no collective: the job hangs, or its steps take "
                                     "longer");
    }
    tm_vec_free(&moved);
    tm_vec_free(&still);
    return ok;
}

/* If there are two answers, adds how they differ, or why they were not compared. Returns false if
 * out of memory. */
static bool add_moves(const tm_hang_ras *r, tm_hang_words *t) {
    const int64_t compared = tm_table_row(r->answer, 0)[HA_COMPARED].value.i;
    if (compared == TM_HANG_COMPARED)
        return add_compared(r, t);
    if (compared == TM_HANG_STRANGERS)
        tm_hang_add(t, ". The two answers are not compared: they have no rank in common");
    else if (compared == TM_HANG_SHRUNK)
        tm_hang_add(t, ". The two answers are not compared: a count is lower in the later one");
    return true;
}

static bool add_finding(const tm_hang_ras *r, tm_hang_words *t) {
    const tm_table *rows = r->rows;
    static const struct {
        tm_ras_state state;
        const char *what;
    } parts[] = {{TM_RAS_DEAD, "Dead"},
                 {TM_RAS_UNREACHABLE, "Without an answer"},
                 {TM_RAS_FAILED, "Failed"},
                 {TM_RAS_ABORTED, "Aborted"},
                 {TM_RAS_GONE, "Alive, but without its communicator"},
                 {TM_RAS_ENDING, "Ending its communicator"},
                 {TM_RAS_STARTING, "Still starting its communicator"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_state(t, rows, parts[i].state, parts[i].what);
    const bool ok = add_lags(t, rows);
    if (tm_table_row(r->answer, 0)[HA_PROCESSES].value.i == 0 && t->n == 0)
        tm_hang_add(t, "The answer lists no process of the job");
    else if (t->n == 0)
        tm_hang_add(t, "Every process answers, and no rank of a communicator is behind");
    return ok && add_moves(r, t);
}

static bool has_lags(const tm_table *rows) {
    bool has = false;
    for (size_t i = 0; i < rows->n_rows && !has; i++)
        has = is_lag(tm_table_row(rows, i));
    return has;
}

/* Adds the basis of the finding: NCCL's version, and the part of the job that the answer covers. */
static void add_answer(const tm_hang_ras *r, tm_hang_words *t) {
    const tm_cell *row = tm_table_row(r->answer, 0);
    const int64_t comms = row[HA_COMMS].value.i, processes = row[HA_PROCESSES].value.i;
    const char *version = row[HA_VERSION].value.text;
    tm_hang_add(t, "NCCL%s%s's RAS reports %" PRId64 " communicator%s and %" PRId64 " process%s",
                *version ? " " : "", version, comms, comms == 1 ? "" : "s", processes,
                processes == 1 ? "" : "es");
    if (*row[HA_TIME].value.text)
        tm_hang_add(t, " at %s, local time", row[HA_TIME].value.text);
    if (row[HA_RANKS].value.i == 0)
        tm_hang_add(t, ". No communicator has all processes, so global ranks are not known");
    if (row[HA_COMMAS].value.i > 0)
        tm_hang_add(t, ". Its JSON lacks %" PRId64 " comma%s, as NCCL 2.28 writes it",
                    row[HA_COMMAS].value.i, row[HA_COMMAS].value.i == 1 ? "" : "s");
    if (row[HA_LEFT_OUT].value.i > 0)
        tm_hang_add(t,
                    ". Left out: %" PRId64
                    " entries whose rank does not exist in their communicator, or occurs twice",
                    row[HA_LEFT_OUT].value.i);
}

/* Adds sentences on the limits of the counts. */
static void add_caveat(const tm_hang_ras *r, tm_hang_words *t) {
    const bool compared = r->moves->n_rows > 0;
    if (has_lags(r->rows) && !compared)
        tm_hang_add(t, ". In a running job, a rank may be behind for a moment. To see whether it "
                       "stays behind, give a second answer, taken a minute later");
    if (has_lags(r->rows) || compared)
        tm_hang_add(t, ". NCCL does not count sends, receives and CUDA graphs");
}

/* Adds RAS's report on processes that left no dump. Returns false if out of memory. */
static bool add_lost(const tm_hang_world *w, tm_hang_words *t) {
    static const char *const are[] = {
        [TM_HANG_ALIVE] = "alive", [TM_HANG_UNREACHABLE] = "unreachable", [TM_HANG_DEAD] = "dead"};
    tm_vec ranks = TM_VEC(int64_t);
    bool ok = true, any = false;
    for (int state = TM_HANG_DEAD; state >= TM_HANG_ALIVE && ok; state--) {
        ranks.n = 0;
        for (int64_t r = 0; r < w->n_ranks && ok; r++)
            ok = w->dump_of[r] != TM_HANG_NO_ROW || (int)w->processes[r] != state ||
                 tm_vec_append(&ranks, &r, 1);
        if (ranks.n == 0)
            continue;
        tm_hang_add(t, any ? ", " : ". Of the ranks without a dump, ");
        tm_hang_add_ranks(t, &ranks);
        tm_hang_add(t, " %s %s", ranks.n == 1 ? "is" : "are", are[state]);
        any = true;
    }
    tm_vec_free(&ranks);
    return ok;
}

bool tm_hang_say_ras(const tm_hang_world *w, bool alone, tm_hang_words *finding,
                     tm_hang_words *answer) {
    if (w->ras.answer->n_rows == 0)
        return true;
    add_answer(&w->ras, answer);
    bool ok = add_finding(&w->ras, finding);
    if (!alone && !w->processes && w->ras.n_ranks > 0)
        tm_hang_add(answer, ". Its %" PRId64 " ranks are not those of the dumps", w->ras.n_ranks);
    if (!alone)
        tm_hang_add(answer, ". %s", finding->text);
    ok = ok && (alone || !w->processes || add_lost(w, answer));
    add_caveat(&w->ras, answer);
    return ok;
}
