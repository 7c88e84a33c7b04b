#include "ops_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "ops_order.h"
#include "timeline/metadata.h"

void tm_ops_input_free(tm_ops_input *input) {
    TM_VECS_FREE(&input->parts, &input->edges, &input->ends);
}

/* Returns the number after a key in the metadata; -1 if the key is absent. */
static int64_t number_of(const char *metadata, const char *key) {
    const char *found = strstr(metadata, key);
    int64_t number = -1;
    if (!found)
        return -1;
    for (found += strlen(key); *found >= '0' && *found <= '9' && number < 1000000000; found++)
        number = (number < 0 ? 0 : number * 10) + (*found - '0');
    return number;
}

bool tm_ops_place_read(const char *metadata, tm_ops_place *out) {
    *out = (tm_ops_place){.data = number_of(metadata, "\"data_rank\":"),
                          .stage = number_of(metadata, "\"stage\":"),
                          .tensor = number_of(metadata, "\"tensor_rank\":"),
                          .stages = number_of(metadata, "\"stages\":"),
                          .chunks = number_of(metadata, "\"chunks\":")};
    return out->data >= 0 && out->stage >= 0 && out->tensor >= 0 && out->stages > out->stage &&
           out->chunks > 0;
}

/* Parses the name of an operation, such as "forward-compute, chunk 1", into its type and its model
 * part. */
static uint8_t type_of(tm_text name, int32_t *chunk) {
    static const char *const words[TM_N_OPS_TYPES] = {
#define WORD(id, word) word,
        TM_OPS_TYPE_LIST(WORD)
#undef WORD
    };
    const char *comma = strchr(name.bytes, ',');
    size_t size = comma ? (size_t)(comma - name.bytes) : name.size;
    int64_t number = comma ? number_of(comma, ", chunk ") : 0;
    *chunk = number > 0 && number <= INT32_MAX ? (int32_t)number : 0;
    for (size_t type = 0; type < TM_N_OPS_TYPES; type++)
        if (strlen(words[type]) == size && memcmp(words[type], name.bytes, size) == 0)
            return (uint8_t)type;
    return TM_N_OPS_TYPES;
}

static bool add_row(tm_ops_input *d, const tm_names *names, uint32_t row, const tm_timebase *base) {
    const tm_timeline *t = d->timeline;
    int64_t begin = t->begin_ns[row];
    size_t step = TM_FIRST_AFTER(tm_step, begin_ns, t->steps, t->n_steps, begin);
    int32_t chunk;
    uint8_t type = type_of(tm_names_text(names, t->name[row]), &chunk);
    /* An event without duration between two steps belongs to the earlier step. */
    step -= step > 1 && t->duration_ns[row] == 0 && begin == t->steps[step - 1].begin_ns;
    if (type == TM_N_OPS_TYPES || step == 0 || begin > t->steps[step - 1].end_ns)
        return true;
    begin = tm_timebase_of(base, tm_rank_clock_true(&t->clock, begin));
    const tm_ops_part part = {.begin_ns = begin,
                              .end_ns = begin + t->duration_ns[row],
                              .row = row,
                              .step = (uint32_t)step - 1,
                              .chunk = chunk,
                              .type = type};
    return tm_vec_append(&d->parts, &part, 1) != NULL;
}

/* Orders by step, type and time. Occurrence indices are assigned in this order. */
TM_ORDER_BY(by_number, tm_ops_part, step, type, begin_ns, row);

static void number_parts(tm_ops_input *d) {
    tm_ops_part *v = d->parts.data;
    tm_vec_sort(&d->parts, by_number);
    for (size_t i = 1; i < d->parts.n; i++)
        if (v[i].step == v[i - 1].step && v[i].type == v[i - 1].type)
            v[i].nth = v[i - 1].nth + 1;
}

/* Adds the end of each step: the time when the last of its operations ends. */
static bool add_ends(tm_ops_input *d) {
    const tm_ops_part *v = d->parts.data;
    for (uint32_t i = 0; i < d->parts.n; i++) {
        if (i == 0 || v[i].step != v[i - 1].step) {
            const tm_ops_end end = {.end_ns = v[i].end_ns, .step = v[i].step, .first = i};
            if (!tm_vec_append(&d->ends, &end, 1))
                return false;
        }
        tm_ops_end *end = (tm_ops_end *)d->ends.data + d->ends.n - 1;
        end->end_ns = v[i].end_ns > end->end_ns ? v[i].end_ns : end->end_ns;
    }
    return true;
}

tm_status tm_ops_input_make(const tm_timeline *timeline, const tm_names *names,
                            const tm_timebase *base, tm_ops_input *out, tm_error *err) {
    *out = (tm_ops_input){.timeline = timeline,
                          .parts = TM_VEC(tm_ops_part),
                          .edges = TM_VEC(tm_ops_edge),
                          .ends = TM_VEC(tm_ops_end)};
    bool ok = true;
    if (!tm_ops_place_read(tm_timeline_metadata(timeline).bytes, &out->place))
        return TM_OK;
    for (uint32_t row = 0; row < timeline->n_events && ok; row++)
        ok = timeline->kind[row] != TM_DURATION || add_row(out, names, row, base);
    number_parts(out);
    ok = ok && add_ends(out);
    return ok && tm_ops_order(out) ? TM_OK : tm_fail_memory(err);
}
