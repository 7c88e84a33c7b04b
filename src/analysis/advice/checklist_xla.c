/* Values of the boxes with XProf's bounds, for jobs of TensorFlow and JAX. */
#include "checklist_xla.h"

#include <math.h>

/* Returns @p ns as a share of the duration of all steps [%]. */
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

double tm_box_xla_barrier(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "barrier_ns"));
}

double tm_box_xla_device_copies(const tm_facts *f) {
    return of_steps(f, tm_facts_sum_pod(f, "device_to_device_ns"));
}

double tm_box_xla_async(const tm_facts *f) {
    int64_t all, waits = tm_facts_sum_async(f, &all);
    return all > 0 ? tm_facts_percent(waits, all) : (double)NAN;
}

static double of_reported(const tm_facts *f, const char *column) {
    return tm_facts_pod_has(f, column) ? of_steps(f, tm_facts_sum_pod(f, column)) : (double)NAN;
}

double tm_box_xla_shuffle(const tm_facts *f) {
    return of_reported(f, "shuffle_ns");
}

double tm_box_xla_sparse(const tm_facts *f) {
    return of_reported(f, "sparse_core_ns");
}
