/* Call stacks of all ranks for flame graph tools: one line per stack, and speedscope's JSON
 * (speedscope.app, file format). */
#include "export.h"

#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "tmerge/table.h"

/* The table calls.tree. Its rows are in preorder: the children of a node follow the node. */
typedef struct stacks {
    const tm_table *table;
    int depth, name;
    /* [depth] Owned. For each depth, the open node: its row or, for speedscope, the number of its
     * name. */
    uint32_t *path;
    /* [rows] Owned. Number of each row's name. NULL until the names have been numbered. */
    uint32_t *frame;
} stacks;

static const char *name_of(const stacks *s, size_t row) {
    const tm_cell *cell = &tm_table_row(s->table, row)[s->name];
    return cell->null ? "" : cell->value.text;
}

/* Returns a row's own time, or 0 if the row has none. For example, work without a recorded launch
 * has no host time. */
static int64_t own_time(const stacks *s, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(s->table, row, column);
    return cell->null ? 0 : cell->value.i;
}

static tm_status begin(tm_export *x, tm_error *err) {
    stacks *s = x->state;
    const tm_table *table = x->job->stacks;
    *s = (stacks){.table = table,
                  .depth = tm_table_column(table->def, "depth"),
                  .name = tm_table_column(table->def, "name"),
                  .path = calloc(table->n_rows + 1, sizeof *s->path)};
    if (!s->path)
        return tm_fail_memory(err);
    return table->n_rows > 0
               ? TM_OK
               : tm_fail(err, TM_ERR_INPUT, NULL, -1,
                         "no rank has call stacks; PyTorch's profiler records them with "
                         "with_stack=True");
}

static tm_status no_rank(tm_export *x, const tm_timeline *timeline, tm_error *err) {
    (void)x;
    (void)timeline;
    (void)err;
    return TM_OK;
}

static void destroy(tm_export *x) {
    stacks *s = x->state;
    free(s->path);
    free(s->frame);
}

/* Returns a row's depth, at most @p deepest: a damaged table may skip levels. */
static size_t depth_of(const stacks *s, size_t row, size_t deepest) {
    int64_t depth = tm_table_row(s->table, row)[s->depth].value.i;
    return depth < 0 ? 0 : (uint64_t)depth > deepest ? deepest : (size_t)depth;
}

static void put_folded_name(tm_out *out, const char *name) {
    for (; *name; name++)
        tm_out_char(out, *name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name);
}

static tm_status end_folded(tm_export *x, tm_error *err) {
    stacks *s = x->state;
    const char *column = x->job->of_devices ? "device_self_ns" : "host_self_ns";
    for (size_t i = 0, depth = 0; i < s->table->n_rows; i++) {
        int64_t own = own_time(s, i, column);
        depth = depth_of(s, i, i > 0 ? depth + 1 : 0);
        s->path[depth] = (uint32_t)i;
        for (size_t d = 0; d <= depth && own > 0; d++) {
            put_folded_name(&x->out, name_of(s, s->path[d]));
            tm_out_char(&x->out, d < depth ? ';' : ' ');
        }
        if (own <= 0)
            continue;
        tm_json_put_int(&x->out, own);
        tm_out_char(&x->out, '\n');
        x->n_events++;
        TM_TRY(tm_export_spill(x, err));
    }
    return TM_OK;
}

typedef struct named {
    const char *name;
    uint32_t row;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Numbers the functions by name, so that a function in several stacks gets one number. */
static tm_status put_frames(tm_export *x, stacks *s, tm_error *err) {
    size_t n = s->table->n_rows;
    named *names = calloc(n, sizeof *names);
    s->frame = calloc(n, sizeof *s->frame);
    bool ok = names && s->frame;
    for (uint32_t i = 0; ok && i < n; i++)
        names[i] = (named){name_of(s, i), i};
    if (ok)
        qsort(names, n, sizeof *names, by_name);
    uint32_t number = 0;
    for (size_t i = 0; ok && i < n; i++) {
        bool again = i > 0 && strcmp(names[i].name, names[i - 1].name) == 0;
        number += i > 0 && !again;
        s->frame[names[i].row] = number;
        if (again)
            continue;
        tm_out_string(&x->out, i > 0 ? ",\n{\"name\":" : "{\"name\":");
        tm_json_put_text(&x->out, (tm_text){names[i].name, strlen(names[i].name)});
        tm_out_char(&x->out, '}');
    }
    free(names);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Writes the stacks of all rows with own time or, if @p weights is set, their own times. Returns
 * the sum of the own times. */
static int64_t put_samples(tm_export *x, stacks *s, const char *column, bool weights) {
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0, depth = 0; i < s->table->n_rows; i++) {
        int64_t own = own_time(s, i, column);
        depth = depth_of(s, i, i > 0 ? depth + 1 : 0);
        s->path[depth] = s->frame[i];
        if (own <= 0)
            continue;
        sum += own;
        tm_out_string(&x->out, any ? "," : "");
        any = true;
        if (weights) {
            tm_json_put_int(&x->out, own);
            continue;
        }
        for (size_t d = 0; d <= depth; d++) {
            tm_out_char(&x->out, d > 0 ? ',' : '[');
            tm_json_put_int(&x->out, s->path[d]);
        }
        tm_out_string(&x->out, "]\n");
    }
    return sum;
}

static void put_profile(tm_export *x, stacks *s, const char *name, const char *column) {
    tm_out_string(&x->out, "{\"type\":\"sampled\",\"name\":\"");
    tm_out_string(&x->out, name);
    tm_out_string(&x->out, "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":[");
    put_samples(x, s, column, false);
    tm_out_string(&x->out, "],\"weights\":[");
    int64_t sum = put_samples(x, s, column, true);
    tm_out_string(&x->out, "],\"endValue\":");
    tm_json_put_int(&x->out, sum);
    tm_out_char(&x->out, '}');
}

#define BEGINS "{\"exporter\":\"tmerge "

static tm_status end_speedscope(tm_export *x, tm_error *err) {
    stacks *s = x->state;
    tm_out_string(&x->out, BEGINS);
    tm_out_string(&x->out, x->job->tool_version);
    tm_out_string(&x->out, "\",\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                           "\"name\":\"call stacks of all ranks\",\"activeProfileIndex\":");
    tm_out_char(&x->out, x->job->of_devices ? '1' : '0');
    tm_out_string(&x->out, ",\"shared\":{\"frames\":[");
    TM_TRY(put_frames(x, s, err));
    tm_out_string(&x->out, "]},\"profiles\":[\n");
    for (size_t i = 0; i < s->table->n_rows; i++)
        x->n_events += own_time(s, i, "host_self_ns") > 0 || own_time(s, i, "device_self_ns") > 0;
    put_profile(x, s, "host time", "host_self_ns");
    tm_out_string(&x->out, ",\n");
    put_profile(x, s, "device time", "device_self_ns");
    tm_out_string(&x->out, "]}\n");
    return TM_OK;
}

const tm_export_format tm_export_folded = {
    .name = "folded",
    .summary = "call stacks, one per line, for flame graph tools",
    .of_stacks = true,
    .state_size = sizeof(stacks),
    .begin = begin,
    .rank = no_rank,
    .end = end_folded,
    .destroy = destroy,
};

const tm_export_format tm_export_speedscope = {
    .name = "speedscope",
    .ending = ".speedscope.json",
    .summary = "call stacks for speedscope.app",
    .begins = BEGINS,
    .begins_size = sizeof BEGINS - 1,
    .of_stacks = true,
    .state_size = sizeof(stacks),
    .begin = begin,
    .rank = no_rank,
    .end = end_speedscope,
    .destroy = destroy,
};
