#include "no_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "no_devices.h"

/* Returns a count of clock.check; 0 if the table has no row. */
static int64_t count_of(const tm_table *check, const char *column) {
    return check->n_rows > 0 ? tm_table_cell(check, 0, column)->value.i : 0;
}

/* Writes how many operations are incomplete, and why. Omits counts of 0. */
static void incomplete_text(const tm_table *check, char out[TM_SENTENCE_MAX]) {
    const struct {
        int64_t n;
        const char *one, *several;
    } parts[] = {
        {count_of(check, "incomplete"), "lacks ranks", "lack ranks"},
        {count_of(check, "suspect"), "contradicts itself", "contradict themselves"},
        {count_of(check, "unmatched"), "communication kernel could not be matched",
         "communication kernels could not be matched"},
    };
    const char *before = ": ";
    snprintf(out, TM_SENTENCE_MAX, "No collective is complete");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t used = strlen(out);
        if (parts[i].n == 0)
            continue;
        snprintf(out + used, TM_SENTENCE_MAX - used, "%s%" PRId64 " %s", before, parts[i].n,
                 parts[i].n == 1 ? parts[i].one : parts[i].several);
        before = ", ";
    }
}

/* Returns whether the clocks of all hosts are unknown. */
static bool no_clocks(const tm_tables *tables) {
    const tm_table *clocks = tm_tables_find(tables, "clock.rank");
    size_t alone = 0;
    for (size_t i = 0; i < clocks->n_rows; i++)
        alone += tm_table_cell(clocks, i, "offset_ns")->null;
    return alone > 1 && alone == clocks->n_rows;
}

void tm_no_waits_text(const tm_tables *tables, const tm_verdict_topic *e,
                      char out[TM_SENTENCE_MAX]) {
    const tm_table *check = tm_tables_find(tables, "clock.check");
    if (tm_no_devices_text(tables, NULL, out))
        return;
    if (count_of(check, "collectives") == 0 && count_of(check, "unmatched") == 0)
        snprintf(out, TM_SENTENCE_MAX, "The traces hold no communication kernels");
    else if (tm_tables_find(tables, "job.rank")->n_rows == 1 && !e->sized)
        snprintf(out, TM_SENTENCE_MAX,
                 "Only the trace of one rank was given: if the job had more ranks, give all their "
                 "traces");
    else if (!e->aligned)
        snprintf(out, TM_SENTENCE_MAX,
                 "Clocks are not compared (--align=none): merge again without it");
    else if (no_clocks(tables))
        snprintf(out, TM_SENTENCE_MAX,
                 "No rank's clock can be compared with another's, so waits are unknown");
    else if (count_of(check, "transfers_alone") > 0)
        snprintf(out, TM_SENTENCE_MAX,
                 "The traces record only the transfer of communication, after the last rank "
                 "arrived: they do not show who waited for whom");
    else if (count_of(check, "matched") > 0)
        snprintf(out, TM_SENTENCE_MAX,
                 "Every complete operation has only one rank, or does not make all ranks wait for "
                 "one another (sends and receives, most broadcasts)");
    else
        incomplete_text(check, out);
}
