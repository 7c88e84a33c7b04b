/* Rules on input of TensorFlow and JAX: infeed, and waits for the next batch. */
#include <stdio.h>
#include <string.h>

#include "advice_xla.h"
#include "table/shown.h"

/* Time that the devices of one host, or of all hosts, spend on input [ns]. */
typedef struct share {
    const char *host; /* NULL if unknown */
    int64_t input_ns, step_ns, n;
} share;

/* Sums the waits for input. Copies to the device do not count, because they may have other
 * purposes. The straggler does not count, because its own item explains its waits.
 * @param host  NULL: sums over all hosts */
static share share_of(const tm_facts *f, const char *host) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    share sum = {.host = host};
    for (size_t i = 0; i < ranks->n_rows; i++) {
        if (!tm_facts_is_pod_row(f, i, host) ||
            tm_table_cell(ranks, i, "rank")->value.i == f->straggler)
            continue;
        sum.input_ns += tm_facts_int(f, "pod.rank", i, "infeed_ns") +
                        tm_facts_int(f, "pod.rank", i, "input_wait_ns");
        sum.step_ns += tm_facts_int(f, "pod.rank", i, "step_ns");
        sum.n++;
    }
    return sum;
}

/* Returns the host whose devices wait longest for input. Devices of other hosts may in turn wait
 * for these devices. */
static share worst_host(const tm_facts *f) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    share worst = {0};
    const char *last = NULL;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        if (host->null || (last && strcmp(last, host->value.text) == 0))
            continue;
        last = host->value.text;
        share one = share_of(f, last);
        if (tm_facts_percent(one.input_ns, one.step_ns) >
            tm_facts_percent(worst.input_ns, worst.step_ns))
            worst = one;
    }
    return worst;
}

static void name_ranks(const tm_facts *f, const char *host, tm_advice *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    tm_rank_text text = tm_rank_text_begin(out->ranks);
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_facts_is_pod_row(f, i, host))
            tm_rank_text_add(&text, tm_table_cell(ranks, i, "rank")->value.i);
    tm_rank_text_end(&text, f->job->n_ranks);
}

/* Writes the stage that takes the most time in a host's input pipeline, if the stages are known: ";
 * 92 % of its input pipeline's own time is in "Iterator::Map"". */
static void name_stage(const tm_facts *f, const share *host, char *out, size_t size) {
    const tm_table *hosts = tm_tables_find(f->tables, "pipeline.host");
    *out = '\0';
    for (size_t i = 0; i < hosts->n_rows; i++) {
        const tm_cell *own = tm_table_cell(hosts, i, "host");
        if (!own->null && strcmp(own->value.text, host->host) == 0)
            snprintf(out, size, "; %s of its input pipeline's own time is in \"%.160s\"",
                     tm_shown_percent(tm_facts_real(f, "pipeline.host", i, "slowest_pct"), 0).text,
                     tm_table_cell(hosts, i, "slowest_stage")->value.text);
    }
}

/* Returns advice to make a host's input library read ahead; "" if the library is unknown. */
static const char *how_ahead(const tm_facts *f, const char *host) {
    const tm_table *hosts = tm_tables_find(f->tables, "pipeline.host");
    for (size_t i = 0; i < hosts->n_rows; i++) {
        const tm_cell *own = tm_table_cell(hosts, i, "host");
        const tm_cell *stage = tm_table_cell(hosts, i, "slowest_stage");
        if (own->null || stage->null || strcmp(own->value.text, host) != 0)
            continue;
        if (strncmp(stage->value.text, "Iterator::", 10) == 0)
            return " (tf.data: interleave, map with num_parallel_calls, prefetch)";
        if (strncmp(stage->value.text, "Input::", 7) == 0)
            return " (more workers and larger buffers of the loader)";
    }
    return "";
}

void tm_look_xla_input(const tm_facts *f, tm_advice *out) {
    share all = share_of(f, NULL), worst = worst_host(f);
    char others[64] = "", stage[256];
    if (!worst.host)
        return;
    out->measure = tm_facts_percent(worst.input_ns, worst.step_ns);
    double rest = tm_facts_percent(all.input_ns - worst.input_ns, all.step_ns - worst.step_ns);
    bool alone =
        /* Whether this host is the only slow one. If not, all hosts need faster input. */
        all.n == worst.n || 2 * rest < out->measure;
    const share *slow = alone ? &worst : &all;
    out->cost_ns = slow->input_ns;
    out->n_lost = slow->n < f->n_gpu ? slow->n : 0;
    out->look_at = "pod.rank, pod.step, pipeline.stage";
    if (all.n > worst.n)
        snprintf(others, sizeof others, ", %s on the other hosts", tm_shown_percent(rest, 1).text);
    name_ranks(f, slow->host, out);
    name_stage(f, &worst, stage, sizeof stage);
    snprintf(out->text, sizeof out->text,
             "Feed %s\"%.100s\"%s, because its steps are input-bound for %s of their time: read "
             "and preprocess in parallel and ahead%s, or use faster storage.",
             alone ? "host " : "all hosts faster, not only ", worst.host, alone ? " faster" : "",
             tm_shown_percent(out->measure, 1).text, how_ahead(f, worst.host));
    snprintf(out->evidence, sizeof out->evidence,
             "Steps are input-bound for %s of their time on host \"%.100s\"%s (XProf: moderately "
             "from 5 %% on, highly from 20 %%): its GPUs wait for data from the host, or idle "
             "while the host fetches the next batch%s.",
             tm_shown_percent(out->measure, 1).text, worst.host, others, stage);
}

/* Stages of the input pipeline, on the host whose devices spend the most time on input (including
 * copies). */
typedef struct stages {
    const char *host; /* NULL: no host has both known stages and enough input time */
    double input_pct, enqueue_pct;
} stages;

/* XProf looks at the stages only if input takes over 10 % of the steps. */
enum { INPUT_PCT = 10 };

static double input_of_host(const tm_facts *f, const char *host) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    int64_t input_ns = 0, step_ns = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_facts_is_pod_row(f, i, host)) {
            input_ns += tm_facts_int(f, "pod.rank", i, "input_ns");
            step_ns += tm_facts_int(f, "pod.rank", i, "step_ns");
        }
    return tm_facts_percent(input_ns, step_ns);
}

static stages worst_stages(const tm_facts *f) {
    const tm_table *hosts = tm_tables_find(f->tables, "pipeline.host");
    stages worst = {NULL, INPUT_PCT, 0.0};
    for (size_t i = 0; i < hosts->n_rows; i++) {
        const tm_cell *host = tm_table_cell(hosts, i, "host");
        int64_t self_ns = tm_facts_int(f, "pipeline.host", i, "self_ns");
        double input = host->null ? 0.0 : input_of_host(f, host->value.text);
        if (self_ns > 0 && input > worst.input_pct)
            worst = (stages){
                host->value.text, input,
                tm_facts_percent(tm_facts_int(f, "pipeline.host", i, "enqueue_ns"), self_ns)};
    }
    return worst;
}

/* Writes the evidence. Sets no cost, because the item of rule `input` has it. */
static void say_stages(const stages *s, int least, const char *what, tm_advice *out) {
    snprintf(out->evidence, sizeof out->evidence,
             "On host \"%.100s\", the input pipeline spends %s of its own time on reading and "
             "preprocessing and %s on handing data over; the host's GPUs spend %s of their time on "
             "input. XProf calls a job bound by %s if input takes more than 10 %% and this part is "
             "%d %% or more. XProf scales the stages to the time in which devices are fed; tmerge "
             "takes them as recorded.",
             s->host, tm_shown_percent(100.0 - s->enqueue_pct, 1).text,
             tm_shown_percent(s->enqueue_pct, 1).text, tm_shown_percent(s->input_pct, 1).text, what,
             least);
}

void tm_look_xla_input_host(const tm_facts *f, tm_advice *out) {
    const stages s = worst_stages(f);
    if (!s.host)
        return;
    out->measure = 100.0 - s.enqueue_pct;
    name_ranks(f, s.host, out);
    snprintf(out->text, sizeof out->text,
             "Let host \"%.100s\" do less for each batch: read and preprocess in parallel and "
             "ahead, cache, and do work that is the same in every epoch only once, before the run.",
             s.host);
    say_stages(&s, 50, "the host's processing", out);
}

void tm_look_xla_input_transfer(const tm_facts *f, tm_advice *out) {
    const stages s = worst_stages(f);
    if (!s.host)
        return;
    out->measure = s.enqueue_pct;
    name_ranks(f, s.host, out);
    snprintf(out->text, sizeof out->text,
             "Hand data over in fewer, larger pieces on host \"%.100s\", before the step that "
             "needs them. Send data in its narrow type (image bytes), and convert it on the GPU.",
             s.host);
    say_stages(&s, 30, "data transfer", out);
}
