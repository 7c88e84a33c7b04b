#include "ops_job.h"

#include <stdlib.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "readers/number.h"
#include "tmerge/timeline.h"

void tm_ops_job_init(tm_ops_job *job) {
    *job = (tm_ops_job){.ranks = TM_VEC(tm_ops_rank), .steps = TM_VEC(tm_ops_step)};
    job->last_stage = -1;
}

void tm_ops_job_free(tm_ops_job *job) {
    tm_vec_free(&job->ranks);
    tm_vec_free(&job->steps);
}

/* Finds the rank of an event, or adds it if it is new. The events of a rank are adjacent, so the
 * rank that was added last is tried first. */
static tm_ops_rank *rank_of(tm_ops_job *job, const tm_ops_event *e) {
    tm_ops_rank *ranks = job->ranks.data;
    int64_t rank = e->tid / TM_OPS_THREADS;
    for (size_t i = job->ranks.n; i-- > 0;)
        if (ranks[i].rank == rank)
            return &ranks[i];
    tm_ops_rank *added = tm_vec_push(&job->ranks);
    if (added)
        *added = (tm_ops_rank){rank, e->pid, -1, -1, 0};
    return added;
}

/* Parses the number after a word of a thread's name; -1 if there is none. */
static int64_t number_after(const char *text, const char *word) {
    const char *found = strstr(text, word), *digits = found ? found + strlen(word) : "";
    size_t n = strspn(digits, "0123456789");
    int64_t number;
    return n > 0 && n < 10 && tm_number_int(digits, n, &number) ? number : -1;
}

/* Reads the rank's place in the parallelism from a thread's name: "PP rank 1, TP rank 0,
 * compute". */
static void read_place(tm_ops_rank *rank, const tm_json_text *label) {
    char text[64];
    if (label->size == 0 || label->size >= sizeof text)
        return;
    memcpy(text, label->bytes, label->size);
    text[label->size] = '\0';
    int64_t stage = number_after(text, "PP rank "), tensor = number_after(text, "TP rank ");
    if (stage >= 0 && tensor >= 0) {
        rank->stage = stage;
        rank->tensor = tensor;
    }
}

static bool add_to_step(tm_ops_job *job, const tm_ops_event *e) {
    tm_ops_step *steps = job->steps.data;
    int64_t begin = e->begin_ns, end = begin + e->duration_ns;
    begin = end < begin ? end : begin;
    for (size_t i = job->steps.n; i-- > 0;) {
        tm_ops_step *s = &steps[i];
        if (s->number != e->step)
            continue;
        s->begin_ns = begin < s->begin_ns ? begin : s->begin_ns;
        s->end_ns = end > s->end_ns ? end : s->end_ns;
        return true;
    }
    return tm_vec_append(&job->steps, &(tm_ops_step){e->step, begin, end, 0}, 1);
}

bool tm_ops_job_add(tm_ops_job *job, const tm_ops_event *event) {
    bool thread = event->phase == 'M' && tm_json_is(&event->name, "thread_name");
    if (event->pid < 0 || event->tid < 0 || event->tid / TM_OPS_THREADS > TM_RANK_MAX ||
        (!thread && !tm_ops_is_operation(event)))
        return true;
    tm_ops_rank *rank = rank_of(job, event);
    if (!rank)
        return false;
    if (thread) {
        read_place(rank, &event->label);
        return true;
    }
    rank->n_operations++;
    job->last_chunk = event->chunk > job->last_chunk ? event->chunk : job->last_chunk;
    return add_to_step(job, event);
}

TM_ORDER_BY(by_rank, tm_ops_rank, rank);

TM_ORDER_BY(by_begin, tm_ops_step, begin_ns, number);

/* Returns whether the exporter invented the gap between two steps. Such a gap is a tenth of the
 * earlier step, plus the delay of the later step's first operation. The gap is negative if all
 * steps start at the same time. */
static bool is_made_up(const tm_ops_step *step, const tm_ops_step *next) {
    const int64_t longest = INT64_C(3600000000000); /* an hour */
    int64_t gap = next->begin_ns - step->end_ns, length = step->end_ns - step->begin_ns;
    return length < longest && (gap < 0 || (gap > length / 100 * 9 && gap < length / 100 * 12));
}

static bool follows(const tm_ops_step *step, const tm_ops_step *next) {
    return next->number == step->number + 1;
}

/* Places a step directly after the previous step if the gap between them has no meaning: if steps
 * between them were not recorded (their numbers are not consecutive), or if the exporter invented
 * all gaps. */
static void lay_steps(tm_ops_job *job) {
    tm_ops_step *steps = job->steps.data;
    bool made_up = true;
    for (size_t i = 1; i < job->steps.n; i++)
        made_up =
            made_up && (!follows(&steps[i - 1], &steps[i]) || is_made_up(&steps[i - 1], &steps[i]));
    for (size_t i = 1; i < job->steps.n; i++) {
        bool lies = made_up || !follows(&steps[i - 1], &steps[i]);
        steps[i].early_ns = lies ? steps[i].begin_ns - steps[i - 1].end_ns : steps[i - 1].early_ns;
        steps[i].begin_ns -= steps[i].early_ns;
        steps[i].end_ns -= steps[i].early_ns;
    }
}

void tm_ops_job_finish(tm_ops_job *job) {
    const tm_ops_rank *ranks = job->ranks.data;
    tm_vec_sort(&job->ranks, by_rank);
    tm_vec_sort(&job->steps, by_begin);
    lay_steps(job);
    for (size_t i = 0; i < job->ranks.n; i++)
        job->last_stage = ranks[i].stage > job->last_stage ? ranks[i].stage : job->last_stage;
}

int64_t tm_ops_job_early(const tm_ops_job *job, int64_t step) {
    const tm_ops_step *steps = job->steps.data;
    for (size_t i = 0; i < job->steps.n; i++)
        if (steps[i].number == step)
            return steps[i].early_ns;
    return 0;
}

const tm_ops_rank *tm_ops_job_rank(const tm_ops_job *job, int64_t rank) {
    const tm_ops_rank wanted = {.rank = rank};
    return job->ranks.n ? bsearch(&wanted, job->ranks.data, job->ranks.n, sizeof wanted, by_rank)
                        : NULL;
}

tm_ops_kind tm_ops_kind_of(const tm_json_text *name) {
    /* The first word that the name contains is used. A name may also contain a later word. */
    static const struct {
        const char *word;
        tm_ops_kind kind;
    } words[] = {
        {"embedding-grads", TM_OPS_ENDS}, {"layernorm-grads", TM_OPS_TENSOR},
        {"tp-", TM_OPS_TENSOR},           {"clip-main-grad", TM_OPS_ALL},
        {"all-gather", TM_OPS_DATA},      {"reduce-scatter", TM_OPS_DATA},
        {"all-reduce", TM_OPS_DATA},      {"-send", TM_OPS_TRANSFER},
        {"-recv", TM_OPS_TRANSFER},       {"data-load", TM_OPS_HOST},
        {"data-sync", TM_OPS_HOST},
    };
    if (tm_json_is(name, "gc"))
        return TM_OPS_HOST;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tm_holds(name->bytes, name->size, words[i].word))
            return words[i].kind;
    return TM_OPS_COMPUTE;
}

static bool is_member(const tm_ops_job *job, const tm_ops_rank *a, const tm_ops_rank *b,
                      tm_ops_kind kind) {
    bool data = a->data == b->data, stage = a->stage == b->stage, tensor = a->tensor == b->tensor;
    switch (kind) {
    case TM_OPS_TRANSFER:
        return data && tensor;
    case TM_OPS_DATA:
        return stage && tensor;
    case TM_OPS_TENSOR:
        return data && stage;
    case TM_OPS_ENDS:
        return data && tensor && (b->stage == 0 || b->stage == job->last_stage);
    default:
        return true;
    }
}

bool tm_ops_job_group(const tm_ops_job *job, const tm_ops_rank *of, tm_ops_kind kind, tm_vec *out) {
    const tm_ops_rank *ranks = job->ranks.data;
    for (size_t i = 0; i < job->ranks.n; i++)
        if (ranks[i].stage < 0)
            return true;
    for (size_t i = 0; i < job->ranks.n; i++)
        if (is_member(job, of, &ranks[i], kind) && !tm_vec_append(out, &ranks[i].rank, 1))
            return false;
    return true;
}

int64_t tm_ops_job_peer(const tm_ops_job *job, const tm_ops_rank *of, const tm_json_text *name) {
    const tm_ops_rank *ranks = job->ranks.data;
    bool up = tm_json_is(name, "forward-send") || tm_json_is(name, "backward-recv");
    bool down = tm_json_is(name, "forward-recv") || tm_json_is(name, "backward-send");
    int64_t n = job->last_stage + 1, stage = of->stage + up - down;
    if (of->stage < 0 || up == down)
        return -1;
    /* If the model has several chunks, the last stage sends to the first stage, for the next
     * chunk. */
    if (job->last_chunk > 0)
        stage = (stage + n) % n;
    for (size_t i = 0; i < job->ranks.n; i++)
        if (ranks[i].stage == stage && is_member(job, of, &ranks[i], TM_OPS_TRANSFER))
            return ranks[i].rank;
    return -1;
}
