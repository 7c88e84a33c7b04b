/* Rules on problems that no single rank causes, which the replay finds: stages with unequal work,
 * and hosts with slow transfers. */
#include <math.h>
#include <stdio.h>

#include "advice_rules.h"
#include "analysis/shared/fixes.h"
#include "analysis/shared/uneven.h"

/* Sets cost and measure to the saving in whatif.item, for a problem that no rank causes. Returns
 * whether the saving is large enough. */
static bool look_at_item(const tm_facts *f, const char *what, tm_advice *out) {
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    const size_t row = tm_fixes_find(items, what, NULL);
    if (row < items->n_rows)
        out->measure = tm_fixes_saved_pct(items, row);
    out->cost_ns = llround(out->measure / 100.0 * (double)f->window_ns);
    return out->measure >= TM_FIX_LEAST_PCT;
}

void tm_look_uneven_stages(const tm_facts *f, tm_advice *out) {
    char stages[TM_UNEVEN_MAX], why[TM_UNEVEN_MAX];
    if (!look_at_item(f, "split", out))
        return;
    tm_uneven_text(f->tables, stages);
    tm_uneven_why(f->tables, why);
    stages[0] = (char)(stages[0] - 'a' + 'A');
    snprintf(out->text, sizeof out->text,
             "Divide the work of the pipeline evenly between its stages.");
    snprintf(out->evidence, sizeof out->evidence, "%s.%s%s%s", stages, why[0] ? " " : "", why,
             why[0] ? "." : "");
}

/* Names the ranks of the hosts with a slow network, or the ranks with a slow link. */
static void name_network_ranks(const tm_facts *f, tm_advice *out) {
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    const tm_table *ranks = tm_tables_find(f->tables, "job.rank");
    tm_rank_text text = tm_rank_text_begin(out->ranks);
    const size_t network = tm_network_item(items);
    bool hosts = false;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        if (!host->null && tm_fixes_lists_name(items, network, host->value.text)) {
            tm_rank_text_add(&text, tm_table_cell(ranks, i, "rank")->value.i);
            hosts = true;
        }
    }
    tm_rank_text_end(&text, f->job->n_ranks);
    if (!hosts)
        snprintf(out->ranks, sizeof out->ranks, "%s",
                 tm_table_cell(items, network, "name")->value.text);
}

static void look_at_network(const tm_facts *f, const char *what, tm_advice *out) {
    char transfers[TM_NETWORK_TEXT_MAX], look[TM_NETWORK_TEXT_MAX];
    if (!look_at_item(f, what, out))
        return;
    tm_network_text(f->tables, transfers);
    tm_network_look(f->tables, look);
    name_network_ranks(f, out);
    snprintf(out->text, sizeof out->text, "%s.", look);
    snprintf(out->evidence, sizeof out->evidence, "%s.", transfers);
}

void tm_look_slow_network(const tm_facts *f, tm_advice *out) {
    look_at_network(f, "network", out);
}

void tm_look_slow_link(const tm_facts *f, tm_advice *out) {
    look_at_network(f, "link", out);
}
