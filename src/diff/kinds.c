#include "kinds.h"

#include <string.h>

static void pair_names(tm_kind_pairs *out) {
    int at[2] = {0, 0};
    while (at[0] < out->sides[0].n || at[1] < out->sides[1].n) {
        const char *next[2];
        for (int side = 0; side < 2; side++)
            next[side] = at[side] < out->sides[side].n ? out->sides[side].names[at[side]] : NULL;
        int order = !next[0] ? 1 : !next[1] ? -1 : strcmp(next[0], next[1]);
        tm_kind_pair *pair = &out->pairs[out->n++];
        pair->name = order <= 0 ? next[0] : next[1];
        pair->of[0] = order <= 0 ? at[0]++ : -1;
        pair->of[1] = order >= 0 ? at[1]++ : -1;
    }
}

/* Returns whether the two jobs ran different phases, such as prefills and decodes. Each job must
 * have a single kind of steps, and an inference engine must have marked the phases. In other
 * programs, two different names may mean the same kind. */
static bool of_other_phases(const tm_step_kinds sides[2]) {
    const tm_cell *phases[2];
    for (int side = 0; side < 2; side++) {
        if (sides[side].n != 1)
            return false;
        phases[side] = tm_table_cell(sides[side].marks, 0, "phase");
    }
    return !phases[0]->null && !phases[1]->null &&
           strcmp(phases[0]->value.text, phases[1]->value.text) != 0;
}

tm_status tm_kinds_pair(const tm_tables *const sides[2], tm_kind_pairs *out, tm_error *err) {
    *out = (tm_kind_pairs){.n = 0};
    for (int side = 0; side < 2; side++)
        out->sides[side] = tm_step_kinds_find(sides[side]);
    if (out->sides[0].n < 2 && out->sides[1].n < 2 && !of_other_phases(out->sides))
        out->pairs[out->n++] = (tm_kind_pair){.name = NULL};
    else
        pair_names(out);
    for (int k = 0; k < out->n; k++)
        for (int side = 0; side < 2; side++) {
            tm_sample s;
            TM_TRY(tm_sample_take(sides[side], "overview.step", "step_ns",
                                  tm_kinds_steps(out, k, side), &s, err));
            out->pairs[k].steps[side] = (double)s.n;
            out->pairs[k].ns[side] = (double)s.n * s.middle;
        }
    return TM_OK;
}
