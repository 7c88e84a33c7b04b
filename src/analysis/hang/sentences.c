#include "sentences.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "last_events.h"
#include "sentence_parts.h"
#include "tables.h"

enum {
    J_RANKS,
    J_KNOWN,
    J_DUMPS,
    J_MISSING,
    J_CUT,
    J_STATE,
    J_REASON,
    J_CONFIDENCE,
    J_CULPRITS,
    J_GROUP,
    J_OPERATION,
    J_NUMBER,
    J_VERDICT,
    J_EVIDENCE,
    J_CHAIN,
    J_RAS
};

static const tm_column job_columns[] = {
    [J_RANKS] =
        {"ranks", TM_INT, "",
         "Number of ranks of the job, from dumps, NCCL's RAS or --world-size; null if unknown."},
    [J_KNOWN] = {"ranks_known", TM_BOOL, "",
                 "Whether a dump, NCCL's RAS or --world-size states the number of ranks. If not, "
                 "there may be more ranks than the dumps show."},
    [J_DUMPS] = {"dumps", TM_INT, "", "Number of ranks with a readable dump."},
    [J_MISSING] = {"no_dump", TM_TEXT, "",
                   "Ranks that left no dump; null if all ranks left a dump."},
    [J_CUT] = {"cut_short", TM_INT, "",
               "Number of dumps that are cut short; their readable part is used."},
    [J_STATE] =
        {"state", TM_TEXT, "",
         "hangs: a rank waits for a rank that does not come. unknown: an operation does not end "
         "although all ranks reached it, or the dumps do not show which rank is missing, or there "
         "are no dumps. running: no rank has waited for a second or more. clear: no rank waits."},
    [J_REASON] =
        {"reason", TM_TEXT, "",
         "Why the job hangs. mismatch: ranks issued different operations, sizes or types (ranks "
         "may be missing as well). not issued: ranks wait for the named ranks, which did not issue "
         "the operation and wait for nobody. no dump: ranks wait for ranks that left no dump. "
         "circle: ranks wait for one another. Null if no rank is named."},
    [J_CONFIDENCE] = {"confidence", TM_TEXT, "",
                      "How certain the cause is. one: only the named ranks can explain the hang. "
                      "several: any of the named ranks may be the cause, and the dumps do not show "
                      "which. unknown: no rank is named."},
    [J_CULPRITS] = {"culprits", TM_TEXT, "",
                    "Ranks that are named as the cause of the hang; null if no rank is named."},
    [J_GROUP] = {"group", TM_TEXT, "", "Process group of the operation at which the hang began."},
    [J_OPERATION] = {"operation", TM_TEXT, "", "Name of the operation at which the hang began."},
    [J_NUMBER] = {"number", TM_INT, "",
                  "Number of the operation at which the hang began, in its group."},
    [J_VERDICT] = {"verdict", TM_TEXT, "", "Sentence: what is wrong."},
    [J_EVIDENCE] = {"evidence", TM_TEXT, "", "Sentences: the evidence for the verdict."},
    [J_CHAIN] = {"chain", TM_TEXT, "", "Sentence: which other ranks wait as a consequence."},
    [J_RAS] = {"ras", TM_TEXT, "",
               "What NCCL's RAS reports about processes and communicators. Without dumps, this is "
               "the verdict. Null if no answer of RAS was read."},
};

const tm_table_def tm_hang_job_def = {
    .name = "hang.job",
    .doc = "One row: the ranks that a stuck job waits for. Only if tmerge hang read dumps of "
           "flight recorders or an answer of NCCL's RAS.",
    TM_ARRAY(columns, job_columns),
    .n_keys = 0,
    .top = -1,
    .n_prose = 4,
};

enum {
    C_PLACE,
    C_GROUP,
    C_OPERATION,
    C_NUMBER,
    C_PROBLEM,
    C_CAUSE,
    C_CAME,
    C_WAITING,
    C_ABSENT,
    C_NO_DUMP,
    C_PERHAPS,
    C_SINCE,
    C_INPUTS,
    C_OUTPUTS,
    C_TEXT
};

static const tm_column collective_columns[] = {
    [C_PLACE] = {"place", TM_INT, "",
                 "Place of the operation in the order of first arrivals (begin_ns), from 1."},
    [C_GROUP] = {"group", TM_TEXT, "",
                 "Process group of the operation: the program's description of the group, or else "
                 "its name."},
    [C_OPERATION] = {"operation", TM_TEXT, "",
                     "Name of the operation, on the first rank that issued it."},
    [C_NUMBER] = {"number", TM_INT, "",
                  "Number of the operation in its group (collective_seq_id, p2p_seq_id)."},
    [C_PROBLEM] =
        {"problem", TM_TEXT, "",
         "What is wrong with the operation. other times: the dumps are from different times. The "
         "operation needs all ranks and has ended on some ranks, but the dumps of other ranks do "
         "not contain it. mismatch: ranks issued different calls. missing: some ranks have not "
         "come. perhaps missing: it is unknown whether some ranks came, or whether they are "
         "members of the group. no dump: all ranks with a dump came, but some ranks left no dump. "
         "all came: all ranks came, but the operation does not end."},
    [C_CAUSE] = {"cause", TM_BOOL, "",
                 "Whether the hang began at this operation. False if ranks wait here only as a "
                 "consequence."},
    [C_CAME] = {"came", TM_TEXT, "", "Ranks that issued the operation."},
    [C_WAITING] = {"waiting", TM_TEXT, "",
                   "Ranks that issued the operation and on which it has not ended."},
    [C_ABSENT] = {"absent", TM_TEXT, "", "Ranks that left a dump and did not issue the operation."},
    [C_NO_DUMP] = {"no_dump", TM_TEXT, "", "Ranks of the group that left no dump."},
    [C_PERHAPS] =
        {"perhaps", TM_TEXT, "",
         "Ranks that may be members of the group, or whose records of the operation are lost."},
    [C_SINCE] = {"begin_ns", TM_INT, tm_epoch_ns, "Time of the first arrival, since the epoch."},
    [C_INPUTS] = {"inputs", TM_TEXT, "",
                  "Sizes and types of the operation's inputs on the first rank."},
    [C_OUTPUTS] = {"outputs", TM_TEXT, "",
                   "Sizes and types of the operation's outputs on the first rank."},
    [C_TEXT] = {"detail", TM_TEXT, "",
                "Which ranks issued which call, if ranks issued different calls."},
};

const tm_table_def tm_hang_collective_def = {
    .name = "hang.collective",
    .doc = "A row for each group in which ranks wait: the first operation in which they wait.",
    TM_ARRAY(columns, collective_columns),
    .n_keys = 1,
    .top = -1,
    .n_prose = 1,
};

enum {
    R_RANK,
    R_ROLE,
    R_GROUP,
    R_OPERATION,
    R_NUMBER,
    R_SINCE,
    R_LAST_GROUP,
    R_LAST_OPERATION,
    R_LAST_NUMBER,
    R_LAST_NS,
    R_ENTRIES,
    R_CUT,
    R_DUMP,
    R_PROCESS,
    R_ADVANCED,
    R_TRACE_END,
    R_STEP,
    R_STEP_BEGIN,
    R_CALL_BEGIN,
    R_OPEN,
    R_CALL,
    R_FRAMES
};

static const tm_column rank_columns[] = {
    [R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [R_ROLE] =
        {"role", TM_TEXT, "",
         "Role of the rank in the hang. culprit: named as a cause in hang.job. waits: waits in the "
         "operation of this row. fine: neither waits nor is missing. no dump: left no dump."},
    [R_GROUP] = {"group", TM_TEXT, "", "Process group of the operation in which the rank waits."},
    [R_OPERATION] = {"operation", TM_TEXT, "", "Name of the operation in which the rank waits."},
    [R_NUMBER] = {"number", TM_INT, "",
                  "Number of the operation in which the rank waits, in its group."},
    [R_SINCE] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "Time at which the rank started to wait, since the epoch; null if not recorded."},
    [R_LAST_GROUP] = {"last_group", TM_TEXT, "",
                      "Process group of the last operation in the rank's dump."},
    [R_LAST_OPERATION] = {"last_operation", TM_TEXT, "",
                          "Name of the last operation in the rank's dump."},
    [R_LAST_NUMBER] = {"last_number", TM_INT, "",
                       "Number of the last operation in the rank's dump, in its group."},
    [R_LAST_NS] = {"time_ns", TM_INT, tm_epoch_ns,
                   "Time at which the rank issued that last operation, since the epoch."},
    [R_ENTRIES] = {"entries", TM_INT, "", "Number of entries in the rank's dump."},
    [R_CUT] = {"cut_short", TM_BOOL, "", "Whether the rank's dump is cut short."},
    [R_DUMP] = {"dump", TM_TEXT, "", "Path of the rank's dump; null if it left no dump."},
    [R_PROCESS] =
        {"process", TM_TEXT, "",
         "State of the rank's process as NCCL's RAS reports it. alive; unreachable: did not "
         "answer; dead: has not answered for a minute. Null if RAS does not report it."},
    [R_ADVANCED] = {"advanced", TM_INT, "",
                    "Number of collectives that the rank launched between the two answers of "
                    "NCCL's RAS; null if unknown."},
    [R_TRACE_END] = {"trace_end_ns", TM_INT, tm_epoch_ns,
                     "End of the rank's trace, since the epoch; null if the rank has no trace that "
                     "records the time of day. All times in this table are on the job's clock; "
                     "times of ranks without a trace are as recorded."},
    [R_STEP] = {"step", TM_INT, "", "Number of the last step in the rank's trace."},
    [R_STEP_BEGIN] = {"step_begin_ns", TM_INT, tm_epoch_ns,
                      "Start of the last step of the rank's trace, since the epoch."},
    [R_CALL_BEGIN] = {"call_begin_ns", TM_INT, tm_epoch_ns,
                      "Start of the main thread's call (column call), since the epoch."},
    [R_OPEN] =
        {"call_open", TM_BOOL, "",
         "Whether the main thread's call (column call) had not returned when the trace ended."},
    [R_CALL] = {"call", TM_TEXT, "",
                "Call that the main thread was in when the rank's trace ended, with the functions "
                "of the user's program around the call, innermost first. If all calls had "
                "returned: the last recorded call."},
    [R_FRAMES] =
        {"frames", TM_TEXT, "",
         "Stack frames of the user's program at the rank's last operation, innermost first."},
};

const tm_table_def tm_hang_rank_def = {
    .name = "hang.rank",
    .doc = "A row for each rank of a job whose flight recorder dumps were read.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = -1,
    .n_prose = 2,
};

static tm_status set_ranks(tm_table *t, tm_cell *cell, const tm_vec *ranks, tm_error *err) {
    enum { DIGITS = 24 };
    if (ranks->n == 0)
        return TM_OK;
    char *list = malloc(ranks->n * DIGITS);
    if (!list)
        return tm_fail_memory(err);
    tm_list_write(ranks->data, ranks->n, list, ranks->n * DIGITS);
    const tm_status status = tm_table_set_text(t, cell, list, err);
    free(list);
    return status;
}

/* Returns whether a rank is in `culprits` or in `besides`. */
static bool is_named(const tm_hang_causes *c, int64_t rank) {
    return tm_hang_has(&c->culprits, rank) || tm_hang_has(&c->besides, rank);
}

static tm_status set_named(const tm_hang_world *w, const tm_hang_causes *c, tm_table *t,
                           tm_cell *cell, tm_error *err) {
    tm_vec all = TM_VEC(int64_t);
    bool ok = true;
    for (int64_t r = 0; r < w->n_ranks && ok; r++)
        ok = !is_named(c, r) || tm_vec_append(&all, &r, 1);
    const tm_status status = ok ? set_ranks(t, cell, &all, err) : tm_fail_memory(err);
    tm_vec_free(&all);
    return status;
}

/* Sets the column with RAS's report. Without dumps, RAS's finding is also the verdict. */
static tm_status set_ras(const tm_hang_world *w, tm_table *t, tm_cell *row, bool alone,
                         tm_error *err) {
    tm_hang_words finding = {.n = 0}, answer = {.n = 0};
    if (!tm_hang_say_ras(w, alone, &finding, &answer))
        return tm_fail_memory(err);
    if (finding.n > 0 && alone)
        TM_TRY(tm_table_set_text(t, &row[J_VERDICT], finding.text, err));
    return tm_table_set_text(t, &row[J_RAS], tm_hang_or_null(answer.text), err);
}

static tm_status add_job(const tm_hang_world *w, const tm_hang_causes *c, tm_table *t,
                         tm_error *err) {
    static const char *const reasons[] = {
        [TM_HANG_DIFFERS] = "mismatch", [TM_HANG_NOT_ISSUED] = "not issued",
        [TM_HANG_LOST] = "no dump",     [TM_HANG_CIRCLE] = "circle",
        [TM_HANG_RUNNING] = NULL,
    };
    const tm_hang_front *f = tm_hang_front_at(w, c->front);
    tm_hang_words verdict = {.n = 0}, evidence = {.n = 0}, chain = {.n = 0};
    tm_vec lost = TM_VEC(int64_t);
    tm_cell *row = tm_table_add_row(t);
    int64_t cut = 0, n_dumps = 0;
    bool ok = row != NULL;
    for (size_t i = 0; i < w->dumps->n_rows; i++)
        cut += tm_hang_int(w->dumps, i, HD_CUT, 0);
    for (int64_t r = 0; r < w->n_ranks && ok; r++) {
        n_dumps += w->dump_of[r] != TM_HANG_NO_ROW;
        ok = w->dump_of[r] != TM_HANG_NO_ROW || tm_vec_append(&lost, &r, 1);
    }
    ok = ok && tm_hang_say_verdict(&verdict, w, c) && tm_hang_say_evidence(&evidence, w, c) &&
         tm_hang_say_chain(&chain, w, c);
    tm_status status = ok ? set_ranks(t, &row[J_MISSING], &lost, err) : tm_fail_memory(err);
    tm_vec_free(&lost);
    TM_TRY(status);
    if (w->n_ranks > 0)
        tm_cell_set_int(&row[J_RANKS], w->n_ranks);
    tm_cell_set_bool(&row[J_KNOWN], w->reported);
    tm_cell_set_int(&row[J_DUMPS], n_dumps);
    tm_cell_set_int(&row[J_CUT], cut);
    const bool named = c->culprits.n > 0;
    TM_TRY(tm_table_set_text(t, &row[J_STATE],
                             named                          ? "hangs"
                             : n_dumps == 0                 ? "unknown"
                             : c->reason == TM_HANG_NOTHING ? "clear"
                             : c->reason == TM_HANG_RUNNING ? "running"
                                                            : "unknown",
                             err));
    TM_TRY(tm_table_set_text(t, &row[J_REASON], reasons[c->reason], err));
    TM_TRY(tm_table_set_text(t, &row[J_CONFIDENCE],
                             !named    ? "unknown"
                             : c->sure ? "one"
                                       : "several",
                             err));
    TM_TRY(set_named(w, c, t, &row[J_CULPRITS], err));
    if (c->front < w->fronts.n) {
        tm_cell_set_int(&row[J_NUMBER], f->seq);
        TM_TRY(tm_table_set_text(t, &row[J_GROUP], tm_hang_group_name(w, f->group), err));
        TM_TRY(tm_table_set_text(t, &row[J_OPERATION], tm_hang_op_of(w, f), err));
    }
    TM_TRY(tm_table_set_text(t, &row[J_VERDICT], verdict.text, err));
    TM_TRY(tm_table_set_text(t, &row[J_EVIDENCE], tm_hang_or_null(evidence.text), err));
    TM_TRY(tm_table_set_text(t, &row[J_CHAIN], tm_hang_or_null(chain.text), err));
    return set_ras(w, t, row, n_dumps == 0, err);
}

static tm_status add_collective(const tm_hang_world *w, size_t i, tm_table *t, tm_error *err) {
    static const char *const problems[] = {"other times",     "mismatch", "missing",
                                           "perhaps missing", "no dump",  "all came"};
    const tm_hang_front *f = tm_hang_front_at(w, i);
    tm_hang_words text = {.n = 0};
    tm_cell *row = tm_table_add_row(t);
    if (!row || !tm_hang_add_forms(&text, w, f))
        return tm_fail_memory(err);
    tm_cell_set_int(&row[C_PLACE], (int64_t)i + 1);
    tm_cell_set_int(&row[C_NUMBER], f->seq);
    tm_cell_set_bool(&row[C_CAUSE], f->cause);
    if (f->first_ns > 0)
        tm_cell_set_int(&row[C_SINCE], f->first_ns);
    TM_TRY(tm_table_set_text(t, &row[C_GROUP], tm_hang_group_name(w, f->group), err));
    TM_TRY(tm_table_set_text(t, &row[C_OPERATION], tm_hang_op_of(w, f), err));
    TM_TRY(tm_table_set_text(t, &row[C_PROBLEM], problems[f->problem], err));
    TM_TRY(set_ranks(t, &row[C_CAME], &f->came, err));
    TM_TRY(set_ranks(t, &row[C_WAITING], &f->waiting, err));
    TM_TRY(set_ranks(t, &row[C_ABSENT], &f->absent, err));
    TM_TRY(set_ranks(t, &row[C_NO_DUMP], &f->no_dump, err));
    TM_TRY(set_ranks(t, &row[C_PERHAPS], &f->perhaps, err));
    if (f->call != TM_HANG_NO_ROW) {
        TM_TRY(tm_table_set_text(t, &row[C_INPUTS],
                                 tm_hang_or_null(tm_hang_text(w->calls, f->call, HC_INPUTS)), err));
        TM_TRY(tm_table_set_text(
            t, &row[C_OUTPUTS], tm_hang_or_null(tm_hang_text(w->calls, f->call, HC_OUTPUTS)), err));
    }
    return tm_table_set_text(t, &row[C_TEXT], tm_hang_or_null(text.text), err);
}

/* Finds the first front at which each rank waits. The result is fronts.n for a rank that waits
 * nowhere. */
static bool first_fronts(const tm_hang_world *w, tm_vec *out) {
    const tm_hang_front *f = w->fronts.data;
    size_t *v = tm_vec_append(out, NULL, (size_t)w->n_ranks);
    for (int64_t r = 0; v && r < w->n_ranks; r++)
        v[r] = w->fronts.n;
    for (size_t i = w->fronts.n; v && i-- > 0;)
        for (size_t k = 0; k < f[i].waiting.n; k++)
            v[((const int64_t *)f[i].waiting.data)[k]] = i;
    return v != NULL || w->n_ranks == 0;
}

static tm_status add_last_of(const tm_hang_world *w, size_t d, tm_table *t, tm_cell *row,
                             tm_error *err) {
    const size_t group = tm_hang_group_of(w, tm_hang_int(w->dumps, d, HD_LAST_GROUP, 0));
    tm_cell_set_int(&row[R_ENTRIES], tm_hang_int(w->dumps, d, HD_CALLS, 0));
    tm_cell_set_bool(&row[R_CUT], tm_hang_int(w->dumps, d, HD_CUT, 0) != 0);
    TM_TRY(tm_table_set_text(t, &row[R_DUMP], tm_hang_text(w->dumps, d, HD_PATH), err));
    if (!*tm_hang_text(w->dumps, d, HD_LAST_OP))
        return TM_OK;
    tm_cell_set_int(&row[R_LAST_NUMBER], tm_hang_int(w->dumps, d, HD_LAST_SEQ, 0));
    if (tm_hang_int(w->dumps, d, HD_LAST_NS, 0) > 0)
        tm_cell_set_int(&row[R_LAST_NS], tm_hang_int(w->dumps, d, HD_LAST_NS, 0));
    if (group != TM_HANG_NO_ROW)
        TM_TRY(tm_table_set_text(t, &row[R_LAST_GROUP], tm_hang_group_name(w, group), err));
    TM_TRY(
        tm_table_set_text(t, &row[R_LAST_OPERATION], tm_hang_text(w->dumps, d, HD_LAST_OP), err));
    return tm_table_set_text(t, &row[R_FRAMES],
                             tm_hang_or_null(tm_hang_text(w->dumps, d, HD_FRAMES)), err);
}

static tm_status set_seen(const tm_hang_world *w, int64_t rank, tm_table *t, tm_cell *row,
                          tm_error *err) {
    static const int columns[][2] = {{R_TRACE_END, HS_END},
                                     {R_STEP, HS_STEP},
                                     {R_STEP_BEGIN, HS_STEP_BEGIN},
                                     {R_CALL_BEGIN, HS_CALL_BEGIN},
                                     {R_OPEN, HS_OPEN}};
    const tm_cell *seen = tm_hang_seen_of(w->seen, rank);
    for (size_t i = 0; seen && i < sizeof columns / sizeof *columns; i++)
        row[columns[i][0]] = seen[columns[i][1]];
    return seen && !seen[HS_CALL].null
               ? tm_table_set_text(t, &row[R_CALL], seen[HS_CALL].value.text, err)
               : TM_OK;
}

static tm_status add_rank(const tm_hang_world *w, const tm_hang_causes *c, int64_t rank,
                          size_t front, tm_table *t, tm_error *err) {
    static const char *const processes[] = {
        [TM_HANG_ALIVE] = "alive", [TM_HANG_UNREACHABLE] = "unreachable", [TM_HANG_DEAD] = "dead"};
    const size_t d = w->dump_of[rank];
    tm_cell *row = tm_table_add_row(t);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[R_RANK], rank);
    TM_TRY(tm_table_set_text(t, &row[R_ROLE],
                             is_named(c, rank)     ? "culprit"
                             : d == TM_HANG_NO_ROW ? "no dump"
                             : front < w->fronts.n ? "waits"
                                                   : "fine",
                             err));
    if (front < w->fronts.n) {
        const tm_hang_front *f = tm_hang_front_at(w, front);
        const size_t call = tm_hang_call_of(w, f, rank);
        tm_cell_set_int(&row[R_NUMBER], f->seq);
        TM_TRY(tm_table_set_text(t, &row[R_GROUP], tm_hang_group_name(w, f->group), err));
        if (call != TM_HANG_NO_ROW) {
            const int64_t ns = tm_hang_int(w->calls, call, HC_CREATED, 0);
            if (ns > 0)
                tm_cell_set_int(&row[R_SINCE], ns);
            TM_TRY(
                tm_table_set_text(t, &row[R_OPERATION], tm_hang_text(w->calls, call, HC_OP), err));
        }
    }
    TM_TRY(set_seen(w, rank, t, row, err));
    if (w->processes) {
        tm_hang_ras_advanced(&w->ras, rank, &row[R_ADVANCED]);
        TM_TRY(tm_table_set_text(t, &row[R_PROCESS], processes[w->processes[rank]], err));
    }
    return d == TM_HANG_NO_ROW ? TM_OK : add_last_of(w, d, t, row, err);
}

tm_status tm_hang_say(const tm_hang_world *w, const tm_hang_causes *c, tm_tables *out,
                      tm_error *err) {
    tm_table *collectives = tm_tables_find(out, tm_hang_collective_def.name);
    tm_table *ranks = tm_tables_find(out, tm_hang_rank_def.name);
    tm_vec fronts = TM_VEC(size_t);
    TM_TRY(add_job(w, c, tm_tables_find(out, tm_hang_job_def.name), err));
    tm_status status = first_fronts(w, &fronts) ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < w->fronts.n && status == TM_OK; i++)
        status = add_collective(w, i, collectives, err);
    for (int64_t r = 0; r < w->n_ranks && status == TM_OK; r++)
        status = add_rank(w, c, r, ((const size_t *)fronts.data)[r], ranks, err);
    tm_vec_free(&fronts);
    return status;
}
