#include "extra_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/whatif/result.h"
#include "table/shown.h"

enum { X_RANK, X_STEP, X_KERNELS, X_EXTRA, X_HOST, X_NAME, X_NAME_KERNELS, X_NAME_NS, N_X };

static const tm_column columns[N_X] = {
    [X_RANK] = {"rank", TM_INT, "", "Global rank."},
    [X_STEP] = {"step", TM_INT, "", "Number of the step."},
    [X_KERNELS] = {"kernels", TM_INT, "",
                   "Number of extra kernels, copies and sets (on CPUs, operators). Events are "
                   "extra if most peers (other ranks of the role) do not run them between the same "
                   "two launches of communication. Events are compared by name."},
    [X_EXTRA] =
        {"extra_ns", TM_INT, "ns",
         "Time of the extra events, minus the peers' median time in events that not all ranks run. "
         "It is about 0 if the rank only runs other kernels for the same work. It is at most the "
         "time by which all of the rank's events together exceed the peers' median."},
    [X_HOST] = {"host_ns", TM_INT, "ns",
                "Host time of the extra work (its launch calls, and the host work before them), "
                "minus the peers' median time in such work. It is at most the excess of the host's "
                "work in the step over the peers' median."},
    [X_NAME] = {"name", TM_TEXT, "", "Name of the kernels that take most of extra_ns."},
    [X_NAME_KERNELS] = {"name_kernels", TM_INT, "", "Number of extra kernels with this name."},
    [X_NAME_NS] = {"name_ns", TM_INT, "ns", "Part of extra_ns in kernels with this name."},
};

const tm_table_def tm_extras_def = {
    .name = "stragglers.extra",
    .doc = "A row for each rank and step in which the rank runs work that its peers do not run. "
           "Peers are the other ranks of its pipeline stage; without a pipeline, of the job. If "
           "the numbers of steps differ by a multiple of 255, each of these steps has their mean.",
    TM_ARRAY(columns, columns),
    .n_keys = 2,
    .top = X_EXTRA,
};

tm_status tm_extras_fill(const tm_collectives *own, tm_tables *tables, tm_error *err) {
    const tm_replay_result *replay = own->replay;
    tm_table *table = tm_tables_find(tables, tm_extras_def.name);
    const tm_extra_row *v = replay ? replay->extras.data : NULL;
    for (size_t i = 0; replay && i < replay->extras.n; i++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[X_RANK], v[i].rank);
        tm_cell_set_int(&row[X_STEP], v[i].step);
        tm_cell_set_int(&row[X_KERNELS], v[i].n);
        tm_cell_set_int(&row[X_EXTRA], v[i].ns);
        tm_cell_set_int(&row[X_HOST], v[i].calls_ns);
        if (v[i].name < 0)
            continue;
        TM_TRY(tm_table_set_text(table, &row[X_NAME],
                                 tm_names_text(replay->names, (uint32_t)v[i].name).bytes, err));
        tm_cell_set_int(&row[X_NAME_KERNELS], v[i].name_n);
        tm_cell_set_int(&row[X_NAME_NS], v[i].name_ns);
    }
    return TM_OK;
}

/* Returns whether a number of kernels needs no decimals. */
static bool is_whole(double number) {
    return number >= 100.0 || number - (double)(int64_t)number == 0.0;
}

void tm_extras_text(const tm_late_cause *cause, const char *when, char *out, size_t size) {
    const double kernels = (double)cause->extra.kernels / (double)cause->extra.steps;
    const bool all = cause->extra.steps >= cause->extra.of_steps;
    char most[80] = "", in[64] = "";
    tm_shown_text times[2];
    tm_shown_durations((const int64_t[]){cause->extra.ns / cause->extra.steps,
                                         cause->extra.host_ns / cause->extra.steps},
                       2, times);
    if (!all)
        snprintf(in, sizeof in, "in %" PRId64 " of %" PRId64 " steps ", cause->extra.steps,
                 cause->extra.of_steps);
    if (cause->extra.name)
        snprintf(most, sizeof most, ", mostly in \"%.48s%s\",", cause->extra.name,
                 strlen(cause->extra.name) > 48 ? "..." : "");
    snprintf(
        out, size,
        "%s%sit runs %.*f kernel%s %sthat its peers do not run (%s%s and %s of host time up "
        "to their launches): look at what only this rank does (logging, evaluation, debugging, "
        "different kernels)",
        when, in, is_whole(kernels) ? 0 : 1, kernels, kernels == 1.0 ? "" : "s",
        all ? "a step " : "", times[0].text, most, times[1].text);
}
