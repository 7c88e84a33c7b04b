#include "scenario_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "replay/whatif/result.h"
#include "waits/stages.h"

/* Maximum length [bytes] of the text that lists existing values. */
enum { THERE_MAX = 200 };

static int64_t last_stage(const tm_vec *stages) {
    int64_t last = -1;
    for (size_t i = 0; i < stages->n; i++) {
        int64_t stage = ((const tm_stage *)stages->data)[i].stage;
        last = stage > last ? stage : last;
    }
    return last;
}

/* Appends the values that this process's ranks have for a condition, such as their hosts. */
static bool add_values(const tm_replay_ranks *r, int condition, tm_vec *values) {
    bool ok = true;
    for (size_t i = 0; i < r->n && ok; i++) {
        const tm_timeline *t = &r->timelines[i];
        const tm_graph_step *steps = r->graphs[i].steps.data;
        int64_t stage = tm_stage_of(&r->collectives->stages, t->rank);
        const int64_t host = tm_timeline_host(t);
        if (condition == TM_CONDITION_RANK && r->graphs[i].n_nodes > 0)
            ok = tm_vec_append(values, &t->rank, 1);
        else if (condition == TM_CONDITION_HOST && host != TM_NO_NAME)
            ok = tm_vec_append(values, &host, 1);
        else if (condition == TM_CONDITION_STAGE && stage >= 0)
            ok = tm_vec_append(values, &stage, 1);
        for (size_t k = 0; k < r->graphs[i].steps.n && condition == TM_CONDITION_STEP && ok; k++)
            ok = tm_vec_append(values, &steps[k].number, 1);
        int64_t kinds = condition == TM_CONDITION_KIND ? tm_scenario_kinds(&r->graphs[i]) : 0;
        for (int64_t k = 0; k < TM_N_FIX_KINDS && ok; k++)
            ok = !(kinds >> k & 1) || tm_vec_append(values, &k, 1);
    }
    return ok;
}

/* Writes the names of hosts, or the words of kinds. */
static void write_words(const tm_replay_ranks *r, int condition, const tm_vec *values, char *out) {
    const int64_t *v = values->data;
    size_t used = 0;
    for (size_t i = 0; i < values->n && used < THERE_MAX; i++)
        if (i == 0 || v[i] != v[i - 1])
            used += (size_t)snprintf(out + used, THERE_MAX - used, "%s%s", used > 0 ? ", " : "",
                                     condition == TM_CONDITION_HOST
                                         ? tm_names_text(r->names, (uint32_t)v[i]).bytes
                                         : tm_fix_kinds[v[i]].word);
}

/* Writes the values that the job has for a condition; "" if it has none. */
static tm_status what_there_is(const tm_replay_ranks *r, int condition, char *out, tm_error *err) {
    tm_vec own = TM_VEC(int64_t), all = TM_VEC(int64_t);
    tm_status status = add_values(r, condition, &own) ? TM_OK : tm_fail_memory(err);
    status = tm_mpi_agree(r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(r->comm, &own, &all, err);
    tm_vec_sort(&all, tm_compare_i64);
    out[0] = '\0';
    if (condition == TM_CONDITION_HOST || condition == TM_CONDITION_KIND)
        write_words(r, condition, &all, out);
    else
        tm_list_write(all.data, all.n, out, THERE_MAX);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}

/* Writes the part's conditions as the user typed them. */
static void write_part(const tm_scenario_part *part, char *out, size_t size) {
    size_t used = 0;
    for (int c = 0; c < TM_N_CONDITIONS && used < size; c++)
        if (part->texts[c])
            used += (size_t)snprintf(out + used, size - used, "%s%s=%s", used > 0 ? "+" : "",
                                     tm_condition_words[c], part->texts[c]);
}

/* Reports that a part of the scenario selects nothing. Names the first condition that matches
 * nothing, and the values that the job has instead. */
static tm_status refuse(const tm_replay_ranks *r, const tm_scenario_part *part,
                        const tm_scenario_found *found, tm_error *err) {
    static const char *const have[TM_N_CONDITIONS] = {[TM_CONDITION_RANK] = "the job has ranks",
                                                      [TM_CONDITION_HOST] = "the job has hosts",
                                                      [TM_CONDITION_STAGE] = "the job has stages",
                                                      [TM_CONDITION_STEP] = "the job has steps",
                                                      [TM_CONDITION_KIND] = "the kinds are"};
    static const char *const none[TM_N_CONDITIONS] = {
        [TM_CONDITION_RANK] = "no rank has GPU events, which a replay needs",
        [TM_CONDITION_HOST] = "no host of the job is known by name",
        [TM_CONDITION_STAGE] = "the traces show no pipeline",
        [TM_CONDITION_STEP] = "the job has no step",
        [TM_CONDITION_KIND] = "no such work was recorded",
        [TM_CONDITION_KERNEL] =
            "no GPU event has such a name; tmerge show STORE kernels lists the names",
        [TM_CONDITION_OPERATOR] =
            "no such operator launched anything; tmerge show STORE operators lists the names"};
    char there[THERE_MAX], text[THERE_MAX] = "";
    int c = 0;
    while (c < TM_N_CONDITIONS && !(part->texts[c] && found->alone[c] == 0))
        c++;
    if (c == TM_N_CONDITIONS) {
        write_part(part, text, sizeof text);
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "%s: no recorded work matches all of these conditions", text);
    }
    TM_TRY(what_there_is(r, c, there, err));
    int64_t n = (int64_t)r->n;
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_SUM, r->comm);
    bool without = c == TM_CONDITION_RANK && n > r->n_ranks;
    return there[0] ? tm_fail(err, TM_ERR_USAGE, NULL, -1, "%s=%s: %s %s", tm_condition_words[c],
                              part->texts[c],
                              without ? "only ranks with GPU events are replayed: ranks" : have[c],
                              there)
                    : tm_fail(err, TM_ERR_USAGE, NULL, -1, "%s=%s: %s", tm_condition_words[c],
                              part->texts[c], none[c]);
}

static tm_status mark_ranks(const tm_replay_ranks *r, tm_scenario *scenario,
                            tm_scenario_found *found, tm_error *err) {
    TM_TRY(tm_scenario_bind(scenario, r->names, last_stage(&r->collectives->stages), err));
    for (size_t i = 0; i < r->n; i++) {
        int64_t before = 0, after = 0;
        for (size_t p = 0; p < scenario->parts.n; p++)
            before += found[p].edges;
        if (r->graphs[i].n_nodes > 0)
            TM_TRY(tm_scenario_mark(scenario, &r->timelines[i],
                                    tm_stage_of(&r->collectives->stages, r->timelines[i].rank),
                                    &r->graphs[i], found, err));
        for (size_t p = 0; p < scenario->parts.n; p++)
            after += found[p].edges;
        scenario->n_ranks += after > before;
    }
    return TM_OK;
}

tm_status tm_mpi_scenario(const tm_replay_ranks *ranks, tm_scenario *scenario, tm_error *err) {
    enum { NUMBERS = sizeof(tm_scenario_found) / sizeof(int64_t) };
    const size_t n = scenario->parts.n;
    tm_scenario_found *found = calloc(n + 1, sizeof *found);
    tm_status status = found ? mark_ranks(ranks, scenario, found, err) : tm_fail_memory(err);
    status = tm_mpi_agree(ranks->comm, status, err);
    if (status == TM_OK) {
        MPI_Allreduce(MPI_IN_PLACE, found, (int)(n * NUMBERS), MPI_INT64_T, MPI_SUM, ranks->comm);
        MPI_Allreduce(MPI_IN_PLACE, &scenario->n_ranks, 1, MPI_INT64_T, MPI_SUM, ranks->comm);
    }
    for (size_t p = 0; p < n && status == TM_OK; p++)
        if (found[p].edges == 0)
            status =
                refuse(ranks, (const tm_scenario_part *)scenario->parts.data + p, &found[p], err);
    free(found);
    return status;
}
