#include "measured.h"

#include <math.h>
#include <string.h>

#include "base/keys.h"

enum { NAME, GRID, BLOCK, SECTION, LINE, N_KEYS };
enum { S_UNIT = N_KEYS, S_VALUE, S_TEXT, S_LAUNCHES, N_SECTION_COLUMNS };
enum { R_TYPE = N_KEYS, R_SPEEDUP, R_SPEEDUP_TYPE, R_LAUNCHES, R_TEXT, N_RULE_COLUMNS };

#define KERNEL_COLUMNS                                                                             \
    [NAME] = {"name", TM_TEXT, "", "Name of the kernel, as in kernels.roofline."},                 \
    [GRID] = {"grid", TM_TEXT, "",                                                                 \
              "Number of thread blocks of the launch, x,y,z; null if the file does not have it."}, \
    [BLOCK] = {"block", TM_TEXT, "",                                                               \
               "Number of threads per block, x,y,z; null if the file does not have it."}

static const tm_column section_columns[N_SECTION_COLUMNS] = {
    KERNEL_COLUMNS,
    [SECTION] = {"section", TM_TEXT, "", "Section of Nsight Compute's details page."},
    [LINE] = {"metric", TM_TEXT, "", "Name of the metric: a line of the section."},
    [S_UNIT] = {"unit", TM_TEXT, "", "Unit of value; null if value has no unit."},
    [S_VALUE] = {"value", TM_REAL, "",
                 "Mean of the metric over the launches; null if it is not a number."},
    [S_TEXT] = {"text", TM_TEXT, "",
                "Text of the metric in the first launch; null if the metric is a number."},
    [S_LAUNCHES] = {"launches", TM_INT, "", "Number of launches that have the metric."},
};

const tm_table_def tm_section_table = {
    .name = "kernels.section",
    .doc = "A row for each measured kernel and metric, which is a line in a section of Nsight "
           "Compute's details page (tmerge analyze --ncu).",
    TM_ARRAY(columns, section_columns),
    .n_keys = N_KEYS,
    .top = -1,
};

static const tm_column rule_columns[N_RULE_COLUMNS] = {
    KERNEL_COLUMNS,
    [SECTION] = {"section", TM_TEXT, "",
                 "Short name of the section of Nsight Compute that has the rule."},
    [LINE] = {"rule", TM_TEXT, "", "Name of the rule of Nsight Compute."},
    [R_TYPE] = {"type", TM_TEXT, "",
                "Type of the message as Nsight Compute writes it: OPT, WRN, INF, ..."},
    [R_SPEEDUP] = {"speedup_pct", TM_REAL, "%",
                   "Nsight Compute's estimate of how much shorter the kernel, or a part of it, "
                   "could be: maximum over the launches. Null without an estimate."},
    [R_SPEEDUP_TYPE] = {"speedup_type", TM_TEXT, "",
                        "What speedup_pct refers to. global: the whole kernel. local: the part "
                        "that the rule covers."},
    [R_LAUNCHES] = {"launches", TM_INT, "", "Number of launches for which the rule has a message."},
    [R_TEXT] = {"text", TM_TEXT, "",
                "Nsight Compute's message for the launch with the largest estimated speedup; "
                "without estimates, for the first launch."},
};

const tm_table_def tm_rule_table = {
    .name = "kernels.rule",
    .doc = "A row for each measured kernel and rule of Nsight Compute with a message for the "
           "kernel (tmerge analyze --ncu), with the largest speedup_pct first.",
    TM_ARRAY(columns, rule_columns),
    .n_keys = N_KEYS,
    .top = R_SPEEDUP,
    .n_prose = 1,
};

/* Key of a kernel's metric in a section, or of a kernel's rule. Texts are interned: equal
 * texts have equal addresses. */
typedef struct line_key {
    const char *section, *name;
    uint64_t kernel;
} line_key;

typedef struct line {
    const tm_ncu_metric *metric; /* the metric in the first launch that has it */
    const tm_ncu_rule *rule; /* the message with the largest estimated speedup of all launches */
    double sum;
    int64_t numbers, launches;
} line;

static bool set(tm_table *table, tm_cell *cell, tm_text text, tm_error *err, tm_status *status) {
    if (*status == TM_OK && text.size > 0)
        *status = tm_table_set_bytes(table, cell, text.bytes, text.size, err);
    return *status == TM_OK;
}

static tm_status set_keys(const tm_measured_kernel *kernel, tm_text section, tm_text name,
                          tm_table *table, tm_cell *row, tm_error *err) {
    tm_status status = TM_OK;
    const tm_text grid = {kernel->grid, strlen(kernel->grid)},
                  block = {kernel->block, strlen(kernel->block)};
    (void)(set(table, &row[NAME], kernel->name, err, &status) &&
           set(table, &row[GRID], grid, err, &status) &&
           set(table, &row[BLOCK], block, err, &status) &&
           set(table, &row[SECTION], section, err, &status) &&
           set(table, &row[LINE], name, err, &status));
    return status;
}

/* Adds a value to its metric. Converts it to the unit of the first launch, because ncu chooses a
 * unit for each value. */
static bool add_metric(const tm_ncu_metric *m, uint32_t kernel, tm_keys *keys, tm_vec *lines) {
    const line_key key = {m->section.bytes, m->name.bytes, kernel};
    line *l = tm_keys_value(keys, lines, &key);
    if (!l)
        return false;
    l->metric = l->metric ? l->metric : m;
    l->launches++;
    if (!isnan(m->value)) {
        l->sum += m->value * tm_ncu_unit_scale(m->unit) / tm_ncu_unit_scale(l->metric->unit);
        l->numbers++;
    }
    return true;
}

static bool add_rule(const tm_ncu_rule *r, uint32_t kernel, tm_keys *keys, tm_vec *lines) {
    const line_key key = {r->section.bytes, r->name.bytes, kernel};
    line *l = tm_keys_value(keys, lines, &key);
    if (!l)
        return false;
    l->launches++;
    if (!l->rule || (!isnan(r->speedup_pct) && !(r->speedup_pct <= l->rule->speedup_pct)))
        l->rule = r;
    return true;
}

static tm_status add_section_row(const line *l, const tm_measured_kernel *kernel, tm_table *table,
                                 tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    tm_status status = TM_OK;
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[S_LAUNCHES], l->launches);
    tm_cell_set_real(&row[S_VALUE], l->sum / (double)l->numbers); /* 0 / 0 gives null */
    if (l->numbers == 0)
        (void)set(table, &row[S_TEXT], l->metric->text, err, &status);
    (void)set(table, &row[S_UNIT], l->metric->unit, err, &status);
    return status == TM_OK ? set_keys(kernel, l->metric->section, l->metric->name, table, row, err)
                           : status;
}

static tm_status add_rule_row(const line *l, const tm_measured_kernel *kernel, tm_table *table,
                              tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    tm_status status = TM_OK;
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[R_LAUNCHES], l->launches);
    tm_cell_set_real(&row[R_SPEEDUP], l->rule->speedup_pct);
    (void)(set(table, &row[R_TYPE], l->rule->type, err, &status) &&
           set(table, &row[R_SPEEDUP_TYPE], l->rule->speedup_type, err, &status) &&
           set(table, &row[R_TEXT], l->rule->text, err, &status));
    return status == TM_OK ? set_keys(kernel, l->rule->section, l->rule->name, table, row, err)
                           : status;
}

tm_status tm_measured_rows(const tm_ncu *ncu, const tm_measured_kernel *kernels,
                           const uint32_t *of_launch, tm_tables *tables, tm_error *err) {
    tm_table *sections = tm_tables_find(tables, tm_section_table.name);
    tm_table *said = tm_tables_find(tables, tm_rule_table.name);
    tm_keys keys[2] = {TM_KEYS(line_key), TM_KEYS(line_key)};
    tm_vec lines[2] = {TM_VEC(line), TM_VEC(line)};
    size_t n_metrics, n_rules;
    const tm_ncu_metric *metrics = tm_ncu_metrics(ncu, &n_metrics);
    const tm_ncu_rule *rules = tm_ncu_rules(ncu, &n_rules);
    bool ok = true;
    for (size_t i = 0; i < n_metrics && ok; i++)
        ok = add_metric(&metrics[i], of_launch[metrics[i].launch], &keys[0], &lines[0]);
    for (size_t i = 0; i < n_rules && ok; i++)
        ok = add_rule(&rules[i], of_launch[rules[i].launch], &keys[1], &lines[1]);
    tm_status status = ok ? TM_OK : tm_fail_memory(err);
    for (int k = 0; k < 2 && status == TM_OK; k++)
        for (size_t i = 0; i < lines[k].n && status == TM_OK; i++) {
            const line *l = (const line *)lines[k].data + i;
            const tm_measured_kernel *kernel =
                &kernels[((const line_key *)keys[k].keys.data)[i].kernel];
            status = k == 0 ? add_section_row(l, kernel, sections, err)
                            : add_rule_row(l, kernel, said, err);
        }
    for (int k = 0; k < 2; k++) {
        tm_keys_free(&keys[k]);
        tm_vec_free(&lines[k]);
    }
    tm_table_sort(sections);
    tm_table_sort(said);
    tm_table_top(said, SIZE_MAX); /* sorts the largest first */
    return status;
}
