/* Writes three texts: the verdict, its evidence, and the chain of ranks that only wait as a
 * consequence. */
#include <inttypes.h>
#include <string.h>

#include "last_events.h"
#include "sentence_parts.h"
#include "tables.h"
#include "tmerge/flight.h"

/* Adds the place in the program that called the operation, such as " (step train.py:11)", if
 * recorded. */
static void add_frames(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f) {
    const char *frames =
        f->call == TM_HANG_NO_ROW ? "" : tm_hang_text(w->calls, f->call, HC_FRAMES);
    if (*frames)
        tm_hang_add(t, " (%s)", frames);
}

static void add_came(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f) {
    const tm_vec *who = f->waiting.n > 0 ? &f->waiting : &f->came;
    tm_hang_words at = {.n = 0};
    tm_hang_add_ranks(t, who);
    if (f->waiting.n > 0)
        tm_hang_add(t, " came and ha%s waited", who->n == 1 ? "s" : "ve");
    else
        tm_hang_add(t, " came, and the operation ended there, perhaps with an error");
    tm_hang_add_time(&at, f->since_ns);
    if (at.n > 0 && f->waiting.n > 0)
        tm_hang_add(t, " since %s", at.text);
    add_frames(t, w, f);
}

/* Adds a rank's last recorded operation. */
static void add_last(tm_hang_words *t, const tm_hang_world *w, int64_t rank) {
    const size_t d = w->dump_of[rank];
    const size_t group = tm_hang_group_of(w, tm_hang_int(w->dumps, d, HD_LAST_GROUP, 0));
    const char *op = tm_hang_text(w->dumps, d, HD_LAST_OP);
    const char *frames = tm_hang_text(w->dumps, d, HD_FRAMES);
    tm_hang_words at = {.n = 0};
    if (!*op) {
        tm_hang_add(t, "Rank %" PRId64 " recorded no operation at all", rank);
        return;
    }
    tm_hang_add_time(&at, tm_hang_int(w->dumps, d, HD_LAST_NS, 0));
    tm_hang_add(t,
                "The last operation that rank %" PRId64 "'s CPU issued is %s, number %" PRId64
                " of group %s",
                rank, op, tm_hang_int(w->dumps, d, HD_LAST_SEQ, 0),
                group == TM_HANG_NO_ROW ? "?" : tm_hang_group_name(w, group));
    if (at.n > 0)
        tm_hang_add(t, ", at %s", at.text);
    if (*frames)
        tm_hang_add(t, " (%s)", frames);
    const bool is_over = tm_hang_int(w->dumps, d, HD_LAST_STATE, 0) == TM_FLIGHT_COMPLETED;
    if (is_over && strcmp(tm_hang_text(w->dumps, d, HD_LAST_BACKEND), "gloo") == 0)
        tm_hang_add(t,
                    "; gloo does not record sends and receives, so the rank may be waiting in one");
}

/* Adds the end of the rank's trace, if the rank has a trace. */
static void add_seen(tm_hang_words *t, const tm_hang_world *w, int64_t rank) {
    const tm_cell *seen = tm_hang_seen_of(w->seen, rank);
    tm_hang_words end = {.n = 0}, at = {.n = 0};
    if (!seen || (seen[HS_CALL].null && seen[HS_STEP].null))
        return;
    tm_hang_add_time(&end, seen[HS_END].null ? 0 : seen[HS_END].value.i);
    tm_hang_add_time(&at, seen[HS_CALL_BEGIN].null ? 0 : seen[HS_CALL_BEGIN].value.i);
    tm_hang_add(t, ". The trace of rank %" PRId64 " ends%s%s", rank, end.n > 0 ? " at " : "",
                end.text);
    if (!seen[HS_STEP].null)
        tm_hang_add(t, ", in step %" PRId64, seen[HS_STEP].value.i);
    if (seen[HS_CALL].null)
        return;
    tm_hang_add(t,
                seen[HS_OPEN].value.i ? "; its CPU was then in %s" : "; the last call in it is %s",
                seen[HS_CALL].value.text);
    if (at.n > 0)
        tm_hang_add(t, seen[HS_OPEN].value.i ? ", since %s" : ", at %s", at.text);
}

/* Returns whether all ranks have a dump that is not cut short. */
static bool is_whole(const tm_hang_world *w) {
    bool whole = true;
    for (int64_t r = 0; r < w->n_ranks && whole; r++)
        whole =
            w->dump_of[r] != TM_HANG_NO_ROW && tm_hang_int(w->dumps, w->dump_of[r], HD_CUT, 0) == 0;
    return whole;
}

/* Returns whether the last recorded operation of any rank is an operation of gloo. */
static bool uses_gloo(const tm_hang_world *w) {
    bool found = false;
    for (size_t d = 0; d < w->dumps->n_rows && !found; d++)
        found = strcmp(tm_hang_text(w->dumps, d, HD_LAST_BACKEND), "gloo") == 0;
    return found;
}

/* Writes the verdict if no rank is named. */
static void say_nobody(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c) {
    const tm_hang_front *f = tm_hang_front_at(w, c->front);
    if (c->reason == TM_HANG_NOTHING) {
        tm_hang_add(t, is_whole(w)
                           ? "No rank is waiting: every operation in the dumps has finished"
                           : "No rank with a complete dump is waiting: every operation in the "
                             "dumps has finished");
        if (uses_gloo(w))
            tm_hang_add(t, "; gloo records no sends and receives, so ranks may be waiting in one");
    } else if (c->reason == TM_HANG_UNKNOWN) {
        tm_hang_add(
            t, "Some operations have not finished, but the dumps do not show whom they wait for; "
               "no rank is named");
    } else if (c->reason == TM_HANG_RUNNING) {
        tm_hang_add(
            t,
            "The job was running: when the dumps were written, no rank had waited longer than %.3g "
            "s; no rank is named",
            (double)c->longest_ns / 1e9);
    } else if (c->reason == TM_HANG_OPEN) {
        bool missed = false;
        for (size_t i = 0; i < w->fronts.n; i++)
            missed = missed || ((const tm_hang_front *)w->fronts.data)[i].absent.n > 0;
        tm_hang_add(t, missed ? "All came to " : "No rank is missing: all came to ");
        tm_hang_add_operation(t, w, f);
        tm_hang_add(
            t, ", which had not finished when the dumps were written. If it never does, look at "
               "the network or the GPUs; no rank is named");
    } else if (c->reason == TM_HANG_UNREPORTED) {
        tm_hang_add(t, "The dumps do not show who is missing from ");
        tm_hang_add_operation(t, w, f);
        tm_hang_add(t, "; no rank is named");
    } else {
        tm_hang_add(t, "The dumps are from different times or different runs: ");
        tm_hang_add_operation(t, w, f);
        tm_hang_add(t, ", has finished for ");
        tm_hang_add_ranks(t, &f->came);
        tm_hang_add(t, ". It needs ");
        tm_hang_add_ranks(t, &f->absent);
        tm_hang_add(t, ", whose dump%s not have it; no rank is named",
                    f->absent.n == 1 ? " does" : "s do");
    }
}

/* Collects the named ranks to report at a front. If ranks are named because they did not issue an
 * operation, only those that are missing at this front are collected. */
static bool missed_here(const tm_hang_front *f, const tm_hang_causes *c, tm_vec *out) {
    const int64_t *v = c->culprits.data;
    for (size_t i = 0; i < c->culprits.n; i++)
        if ((c->reason != TM_HANG_NOT_ISSUED || tm_hang_has(&f->absent, v[i])) &&
            !tm_vec_append(out, &v[i], 1))
            return false;
    return true;
}

bool tm_hang_say_verdict(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c) {
    const tm_hang_front *f = tm_hang_front_at(w, c->front);
    if (c->culprits.n == 0) {
        say_nobody(t, w, c);
        return true;
    }
    tm_vec here = TM_VEC(int64_t);
    const bool ok = missed_here(f, c, &here), one = here.n == 1;
    tm_hang_add(t, "The job hangs: ");
    tm_hang_add_ranks(t, &here);
    if (c->reason == TM_HANG_DIFFERS && f->is_p2p)
        tm_hang_add(t, " send and receive with sizes or types that do not match: ");
    else if (c->reason == TM_HANG_DIFFERS && 2 * here.n < f->came.n)
        tm_hang_add(t,
                    " came to number %" PRId64 " of group %s with a different call than the others",
                    f->seq, tm_hang_group_name(w, f->group));
    else if (c->reason == TM_HANG_DIFFERS)
        tm_hang_add(t, " came to number %" PRId64 " of group %s with calls that do not match",
                    f->seq, tm_hang_group_name(w, f->group));
    else if (c->reason == TM_HANG_LOST)
        tm_hang_add(t, " left no dump, and the others came to ");
    else if (c->reason == TM_HANG_CIRCLE && c->sure)
        tm_hang_add(t, " call%s groups in a different order than the others, and ha%s not come to ",
                    one ? "s" : "", one ? "s" : "ve");
    else if (c->reason == TM_HANG_CIRCLE)
        tm_hang_add(t, " wait for one another in several groups, first in ");
    else
        tm_hang_add(t, " ha%s not come to ", one ? "s" : "ve");
    if (c->reason != TM_HANG_DIFFERS || f->is_p2p)
        tm_hang_add_operation(t, w, f);
    tm_vec_free(&here);
    if (c->front_besides < w->fronts.n) {
        tm_hang_add(t, ". Also, ");
        tm_hang_add_ranks(t, &c->besides);
        tm_hang_add(t, " ha%s not come to ", c->besides.n == 1 ? "s" : "ve");
        tm_hang_add_operation(t, w, tm_hang_front_at(w, c->front_besides));
    }
    return ok;
}

/* If the operation has started on some ranks, adds the waiting ranks on which it has not. */
static void add_not_started(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f) {
    const int64_t *v = f->waiting.data;
    size_t n = 0;
    bool started = false;
    int64_t first = -1;
    for (size_t i = 0; i < f->waiting.n && !f->is_p2p; i++) {
        const size_t row = tm_hang_call_of(w, f, v[i]);
        const int64_t state = row == TM_HANG_NO_ROW ? -1 : tm_hang_int(w->calls, row, HC_STATE, -1);
        started = started || state == TM_FLIGHT_STARTED;
        n += state == TM_FLIGHT_SCHEDULED;
        first = state == TM_FLIGHT_SCHEDULED && first < 0 ? v[i] : first;
    }
    if (!started || n == 0)
        return;
    tm_hang_add(t, ". It has not started on the GPU of rank %" PRId64, first);
    if (n > 1)
        tm_hang_add(t, ", nor on those of %zu more", n - 1);
}

/* Adds the ranks that may or may not have reached the operation, and why this is unknown. */
static void add_unreported(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f) {
    bool cut = f->perhaps.n > 0;
    for (size_t i = 0; i < f->perhaps.n; i++)
        cut = cut &&
              tm_hang_int(w->dumps, w->dump_of[((const int64_t *)f->perhaps.data)[i]], HD_CUT, 0);
    if (f->perhaps.n > 0) {
        tm_hang_add(t, ". Whether ");
        tm_hang_add_ranks(t, &f->perhaps);
        tm_hang_add(t, cut         ? " came is not known: what is left of the dump ends before"
                       : f->is_p2p ? " should send is not known: the receive is from any rank"
                       : f->reported
                           ? " came is not known: the records of that time are lost"
                           : " should come is not known: no dump lists the group's ranks");
    }
}

static void add_besides(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c) {
    const tm_hang_front *f = tm_hang_front_at(w, c->front_besides);
    tm_hang_add(t, ". In group %s, ", tm_hang_group_name(w, f->group));
    add_came(t, w, f);
    for (size_t i = 0; i < c->besides.n && i < 2; i++) {
        tm_hang_add(t, ". ");
        add_last(t, w, ((const int64_t *)c->besides.data)[i]);
        add_seen(t, w, ((const int64_t *)c->besides.data)[i]);
    }
}

bool tm_hang_say_evidence(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c) {
    const tm_hang_front *f = tm_hang_front_at(w, c->front);
    if (c->front >= w->fronts.n || c->reason == TM_HANG_TIMES)
        return true;
    if (c->reason == TM_HANG_DIFFERS) {
        if (!tm_hang_add_forms(t, w, f))
            return false;
    } else if (f->came.n > 0) {
        add_came(t, w, f);
    }
    t->text[0] = t->text[0] == 'r' ? 'R' : t->text[0];
    /* In a circle, the ranks wait in their last operations, which tm_hang_say_chain reports. */
    const bool reported =
        c->reason != TM_HANG_LOST && c->reason != TM_HANG_DIFFERS && c->reason != TM_HANG_CIRCLE;
    tm_vec here = TM_VEC(int64_t);
    const bool ok = missed_here(f, c, &here);
    for (size_t i = 0; i < here.n && i < 2 && reported; i++) {
        tm_hang_add(t, ". ");
        add_last(t, w, ((const int64_t *)here.data)[i]);
    }
    for (size_t i = 0; i < here.n && i < 2; i++)
        add_seen(t, w, ((const int64_t *)here.data)[i]);
    tm_vec_free(&here);
    add_unreported(t, w, f);
    if (c->front_besides < w->fronts.n)
        add_besides(t, w, c);
    if (w->unreadable.n > 0) {
        tm_hang_add(t, ". The dump%s of ", w->unreadable.n == 1 ? "" : "s");
        tm_hang_add_ranks(t, &w->unreadable);
        tm_hang_add(t, " cannot be read");
    }
    if (c->reason == TM_HANG_OPEN && f->is_p2p && f->came.n > 1) {
        tm_hang_add(t, ". If these two belong together, their sizes or types do not match: ");
        if (!tm_hang_add_forms(t, w, f))
            return false;
    } else if (c->reason == TM_HANG_OPEN) {
        add_not_started(t, w, f);
    }
    if (c->reason == TM_HANG_LOST && !w->processes)
        tm_hang_add(t,
                    ". A rank that was killed, or whose process does not respond, leaves no dump");
    if (c->also.n > 0) {
        tm_hang_add(t, ". There is no dump of ");
        tm_hang_add_ranks(t, &c->also);
        tm_hang_add(t, ", which may be missing too");
    }
    return ok;
}

/* Adds the first few other fronts where ranks wait. */
bool tm_hang_say_chain(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c) {
    enum { SHOWN = 3 };
    const tm_hang_front *f = w->fronts.data;
    size_t n = 0;
    for (size_t i = 0;
         i < w->fronts.n && c->reason != TM_HANG_TIMES && c->reason != TM_HANG_RUNNING; i++) {
        if (i == c->front || i == c->front_besides ||
            (f[i].problem == TM_HANG_ALL_CAME && c->culprits.n > 0))
            continue;
        if (n++ >= SHOWN)
            continue;
        const tm_vec *who = f[i].waiting.n > 0 ? &f[i].waiting : &f[i].came;
        tm_hang_add(t, n == 1 ? "Then " : "; ");
        tm_hang_add_ranks(t, who);
        tm_hang_add(t, " wait%s in ", who->n == 1 ? "s" : "");
        tm_hang_add_operation(t, w, &f[i]);
        if (c->reason == TM_HANG_CIRCLE)
            add_frames(t, w, &f[i]);
        tm_hang_add(t, f[i].problem == TM_HANG_MISMATCH ? ", with calls that do not match" : "");
        if (f[i].absent.n > 0) {
            tm_hang_add(t, ", for ");
            tm_hang_add_ranks(t, &f[i].absent);
        }
    }
    if (n > SHOWN)
        tm_hang_add(t, "; hang.collective lists %zu more operations", n - SHOWN);
    return true;
}
