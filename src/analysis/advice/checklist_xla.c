/* The figures for which XProf has bounds, of jobs whose profiles are XProf's. */
#include "checklist_xla.h"

#include <math.h>
#include <string.h>

/* Of the time of steps. */
static double of_steps(const tm_facts *f, int64_t ns) {
    int64_t step_ns = tm_facts_sum_pod(f, "step_ns");
    return step_ns > 0 ? tm_facts_percent(ns, step_ns) : (double)NAN;
}

double tm_box_xla_input(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "input_ns"));
}

double tm_box_xla_output(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "output_ns"));
}

double tm_box_xla_launch(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "launch_ns"));
}

double tm_box_xla_collectives(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "collectives_ns"));
}

double tm_box_xla_other(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "other_ns"));
}

/* Where most of the computing tells its type. */
double tm_box_xla_bits(const tm_facts *f) {
    int64_t low = tm_facts_sum_pod(f, "compute_16_ns");
    int64_t known = low + tm_facts_sum_pod(f, "compute_32_ns");
    bool told = known > 0 && known >= tm_facts_sum_pod(f, "compute_untyped_ns");
    return told ? tm_facts_percent(low, known) : (double)NAN;
}

double tm_box_xla_async(const tm_facts *f) {
    const tm_table *table = tm_tables_find(f->tables, "hlo.category");
    int64_t waits = 0, all = 0;
    bool told = false;
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *category = tm_table_cell(table, i, "category");
        int64_t ns = tm_facts_int(f, "hlo.category", i, "self_ns");
        size_t size = category->null ? 0 : strlen(category->value.text);
        told |= !category->null;
        waits += size > 5 && strcmp(category->value.text + size - 5, "-done") == 0 ? ns : 0;
        all += ns;
    }
    return told && all > 0 ? tm_facts_percent(waits, all) : (double)NAN;
}

bool tm_facts_is_xla(const tm_facts *f) {
    const tm_table *formats = tm_tables_find(f->tables, "job.format");
    const tm_cell *format = formats->n_rows == 1 ? tm_table_cell(formats, 0, "format") : NULL;
    return format && !format->null && strcmp(format->value.text, "xplane") == 0;
}
