/* Helpers of the rules of `advice`: sums over tables, and lists of ranks as text. */
#include "advice_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/kinds_of_steps.h"
#include "base/sorted.h"
#include "table/levels.h"
#include "table/shown.h"

/* If a larger share of communication is unmatched, a replay without transfers is unreliable. */
static const double UNMATCHED_PCT = 5.0;

/* Returns the sum of a column over all ranks except one; -1 excludes no rank. */
static int64_t sum_but(const tm_facts *facts, const char *name, const char *column, int64_t rank) {
    const tm_table *table = tm_tables_find(facts->tables, name);
    int64_t sum = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(table, i, column);
        if (!cell->null && (rank < 0 || tm_table_cell(table, i, "rank")->value.i != rank))
            sum += cell->value.i;
    }
    return sum;
}

int64_t tm_facts_sum(const tm_facts *facts, const char *table, const char *column) {
    return sum_but(facts, table, column, -1);
}

int64_t tm_facts_sum_others(const tm_facts *facts, const char *table, const char *column) {
    return sum_but(facts, table, column, facts->straggler);
}

int64_t tm_facts_of_class(const tm_facts *facts, const char *work, const char *column) {
    const tm_table *classes = tm_tables_find(facts->tables, "classes.work");
    size_t end;
    int64_t sum = 0;
    for (size_t i = tm_table_level(classes, "class", &end); i < end; i++) {
        const tm_cell *cell = tm_table_cell(classes, i, "class");
        if (!work || (!cell->null && strcmp(cell->value.text, work) == 0))
            sum += tm_facts_int(facts, "classes.work", i, column);
    }
    return sum;
}

tm_facts_kernels tm_facts_sum_kernels(const tm_facts *facts) {
    const tm_table *kernels = tm_tables_find(facts->tables, "kernels.kernel");
    tm_facts_kernels sums = {0};
    for (size_t i = 0; i < kernels->n_rows; i++) { /* a null cell holds 0 */
        if (tm_table_cell(kernels, i, "communication")->value.i)
            continue;
        sums.calls += tm_table_cell(kernels, i, "calls")->value.i;
        sums.under_100_us += tm_table_cell(kernels, i, "short_calls")->value.i;
        sums.total_ns += tm_table_cell(kernels, i, "total_ns")->value.i;
    }
    return sums;
}

int64_t tm_facts_int(const tm_facts *facts, const char *table, size_t row, const char *column) {
    const tm_table *found = tm_tables_find(facts->tables, table);
    if (row >= found->n_rows || tm_table_cell(found, row, column)->null)
        return 0;
    return tm_table_cell(found, row, column)->value.i;
}

double tm_facts_real(const tm_facts *facts, const char *table, size_t row, const char *column) {
    const tm_table *found = tm_tables_find(facts->tables, table);
    if (row >= found->n_rows || tm_table_cell(found, row, column)->null)
        return -1.0;
    return tm_table_cell(found, row, column)->value.r;
}

double tm_facts_percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

bool tm_facts_has_steps(const tm_facts *facts, int64_t rank) {
    const tm_table *unmarked = tm_tables_find(facts->tables, "overlap.unmarked");
    return tm_facts_int(facts, "job.job", 0, "steps") == 0 ||
           tm_table_find_row(unmarked, &rank, 1) == unmarked->n_rows;
}

bool tm_facts_is_whole(const tm_facts *facts, int64_t step) {
    size_t at = tm_lower_bound(facts->partial_steps, facts->n_partial, step);
    return at == facts->n_partial || facts->partial_steps[at] != step;
}

/* A null saving counts as 0: the replay was skipped because the fix could not save much. */
static tm_facts_saving saving_of(const tm_cell *time, const tm_cell *share) {
    tm_facts_saving found = {*time, *share};
    if (found.time.null) {
        tm_cell_set_int(&found.time, 0);
        tm_cell_set_real(&found.share, 0.0);
    }
    return found;
}

/* Returns the saving of a row of whatif.item. A row on a kind of work ("limit") has two savings;
 * the larger one, an upper bound, is returned. */
static tm_facts_saving saving_at(const tm_facts *facts, const tm_table *items, size_t row) {
    tm_facts_saving found =
        saving_of(tm_table_cell(items, row, "saved_ns"), tm_table_cell(items, row, "saved_pct"));
    const tm_cell *most = tm_table_cell(items, row, "saved_most_ns");
    if (strcmp(tm_table_cell(items, row, "what")->value.text, "limit") == 0 && !most->null &&
        most->value.i > found.time.value.i) {
        found.time = *most;
        tm_cell_set_real(
            &found.share,
            tm_facts_percent(most->value.i, tm_facts_int(facts, "whatif.job", 0, "step_ns")));
    }
    return found;
}

tm_facts_saving tm_facts_saved(const tm_facts *facts, const char *what, const char *name) {
    static const tm_cell none = {.null = true};
    const tm_table *items = tm_tables_find(facts->tables, "whatif.item");
    const tm_table *job = tm_tables_find(facts->tables, "whatif.job");
    if (job->n_rows == 0 || tm_facts_int(facts, "whatif.job", 0, "sure") == 0)
        return (tm_facts_saving){none, none};
    /* If much communication is unmatched, the replay does not know how much of its time is
     * transfer. So it cannot show what faster transfers would save. */
    const tm_cell *unmatched = tm_table_cell(job, 0, "unmatched_pct");
    if (strcmp(name, "transfer") == 0 && !unmatched->null && unmatched->value.r > UNMATCHED_PCT)
        return (tm_facts_saving){none, none};
    if (strcmp(what, "named") == 0)
        return saving_of(tm_table_cell(job, 0, "fix_ns"), tm_table_cell(job, 0, "fix_pct"));
    /* whatif.item has no row for work off the critical path, because faster work there saves
     * nothing */
    tm_facts_saving found = saving_of(&none, &none);
    for (size_t i = 0; i < items->n_rows; i++)
        if (strcmp(tm_table_cell(items, i, "what")->value.text, what) == 0 &&
            (!*name || strcmp(tm_table_cell(items, i, "name")->value.text, name) == 0))
            found = saving_at(facts, items, i);
    return found;
}

bool tm_facts_marks_steps(const tm_facts *facts) {
    return tm_facts_int(facts, "job.job", 0, "steps") > 0;
}

const char *tm_facts_whole(const tm_facts *facts) {
    return tm_facts_marks_steps(facts) ? "steps" : "recording";
}

void tm_facts_by_rank(const tm_facts *facts, int64_t ns, char out[TM_ADVICE_TIME]) {
    bool several = facts->n_gpu > 1;
    char time[TM_ADVICE_TIME];
    tm_shown_duration(several ? ns / facts->n_gpu : ns, time, sizeof time);
    snprintf(out, TM_ADVICE_TIME, "%.20s%s", time, several ? " a rank" : "");
}

/* Returns whether a row's name contains one of the words. */
static bool any_named(const tm_facts *facts, const char *name, const char *const *words, size_t n) {
    const tm_table *table = tm_tables_find(facts->tables, name);
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *own = tm_table_cell(table, i, "name");
        for (size_t w = 0; w < n && !own->null; w++)
            if (strstr(own->value.text, words[w]))
                return true;
    }
    return false;
}

/* Returns whether a program has a name that JAX gives, such as jit_step or pmap_step. */
static bool any_of_jax(const tm_facts *facts) {
    const tm_table *ops = tm_tables_find(facts->tables, "hlo.work");
    bool any = false;
    for (size_t i = 0; i < ops->n_rows && !any; i++) {
        const tm_cell *program = tm_table_cell(ops, i, "program");
        any = !program->null && (strncmp(program->value.text, "jit_", 4) == 0 ||
                                 strncmp(program->value.text, "pmap_", 5) == 0);
    }
    return any;
}

void tm_facts_program(tm_facts *facts) {
    /* Parts of kernel names that occur only in training. dgrad is not listed, because transposed
     * convolutions also run it in inference. multi_tensor_apply is listed only with an optimizer's
     * functor, because it applies to any list of tensors. */
    static const char *const gradients[] = {"ackward",
                                            "_bwd",
                                            "wgrad",
                                            "adam",
                                            "Adam",
                                            "SgdMathFunctor",
                                            "SGDFunctor",
                                            "LAMBStage",
                                            "NovoGradFunctor",
                                            "AdagradFunctor",
                                            "AdagradMathFunctor"};
    static const char *const torch[] = {"aten::", "at::native"};
    facts->trains =
        tm_facts_sum(facts, "phases.step", "host_backward_ns") > 0 ||
        tm_facts_sum(facts, "phases.step", "host_optimizer_ns") > 0 ||
        any_named(facts, "kernels.kernel", gradients, sizeof gradients / sizeof *gradients);
    facts->torch = any_named(facts, "calls.call", torch, sizeof torch / sizeof *torch) ||
                   any_named(facts, "kernels.kernel", torch, sizeof torch / sizeof *torch);
    facts->jax = tm_facts_speaks_xla(facts) && any_of_jax(facts);
    const tm_table *kinds = tm_tables_find(facts->tables, "steps.kind");
    facts->captures = tm_steps_capture(facts->tables);
    for (size_t i = 0; i < kinds->n_rows; i++) {
        const tm_cell *phase = tm_table_cell(kinds, i, "phase");
        const char *word = phase->null ? "" : phase->value.text;
        facts->serves = facts->serves || (!facts->trains && (strcmp(word, "prefill") == 0 ||
                                                             strcmp(word, "decode") == 0 ||
                                                             strcmp(word, "mixed") == 0));
    }
}

tm_rank_text tm_rank_text_begin(char out[TM_ADVICE_RANKS]) {
    out[0] = '\0';
    return (tm_rank_text){.out = out, .first = 0, .last = -1};
}

static void write_run(tm_rank_text *text) {
    static const char more[] = ", ...";
    char run[48];
    if (text->last < text->first || text->full)
        return;
    int size = snprintf(run, sizeof run,
                        text->last > text->first ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64,
                        text->used ? ", " : "", text->first, text->last);
    /* leave room for ", ..." after each range */
    text->full = text->used + (size_t)size + sizeof more > TM_ADVICE_RANKS;
    memcpy(text->out + text->used, text->full ? more : run,
           text->full ? sizeof more : (size_t)size + 1);
    text->used += (size_t)size;
}

/* Writes a range when a later rank shows that it is complete. */
void tm_rank_text_add(tm_rank_text *text, int64_t rank) {
    text->n++;
    if (text->last >= text->first && rank == text->last + 1) {
        text->last = rank;
        return;
    }
    write_run(text);
    text->first = text->last = rank;
}

void tm_rank_text_end(tm_rank_text *text, size_t n_all) {
    write_run(text);
    text->last = text->first - 1;
    if (text->n == n_all)
        memcpy(text->out, "all", sizeof "all");
}
