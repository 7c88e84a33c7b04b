#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "timeline_events.h"

enum {
    N_STRIP = 2048,
    PAGE_BYTES = 6000000,    /* of a whole page */
    TIMELINE_BYTES = 700000, /* at most, of the timeline without operations and events */
    VERSION = 2
};

/* Flags in the page. */
enum { RANK_TRUNCATED = 1, RANK_NO_CLOCK = 2, RANK_WALL_CLOCK = 4, PART_GPU = 1, PART_HOST = 2 };

typedef struct maker {
    const tm_store *store;
    const tm_tables *tables;
    const tm_timeline_budget *budget;
    tm_timeline_blocks *out;
    tm_names *names;    /* owned */
    tm_timeline *ranks; /* owned; [n_ranks] without arrays, but for those of a batch */
    size_t n_ranks;
    tm_buckets lanes, strip;
    int64_t *strip_sums; /* owned; [TM_N_LANE_KINDS * strip.n] */
    tm_plan plan;
    tm_operations operations;
    tm_dictionary dictionary;
    tm_event_writer events;
    tm_error *err;
} maker;

/* Whether a rank's times count from 0 in a job of which others tell the day. It is drawn as if it
 * had begun to count when the job began; that its clock cannot be compared, it says. */
static bool counts_from_0(const maker *m, size_t rank, int64_t job_begin_ns) {
    const tm_table *ranks = tm_tables_find(m->tables, "job.rank");
    const tm_cell *begin = rank < ranks->n_rows ? tm_table_cell(ranks, rank, "begin_ns") : NULL;
    return begin && !begin->null && begin->value.i < TM_FIRST_DAY_NS &&
           job_begin_ns >= TM_FIRST_DAY_NS;
}

static void set_begin(const maker *m, tm_timeline *timeline, size_t at) {
    if (counts_from_0(m, at, m->lanes.begin_ns))
        timeline->clock.offset_ns += m->lanes.begin_ns;
}

static tm_status visit_all(maker *m, tm_store_visitor *visitor) {
    const tm_store_visit_plan plan = {.store = m->store,
                                      .names = m->names,
                                      .ranks = m->ranks,
                                      .n = m->n_ranks,
                                      .records = 1u << TM_RECORD_COLLECTIVES,
                                      .visitor = visitor,
                                      .context = m};
    return tm_store_visit(&plan, m->err);
}

static const tm_card *card_of(const maker *m, size_t at) {
    return (const tm_card *)m->plan.cards.data + at;
}

/* First visit: coverage, and what the choice needs. */
static tm_status survey(void *context, tm_timeline *timeline, size_t at, tm_error *err) {
    maker *m = context;
    (void)err; /* which is the maker's */
    set_begin(m, timeline, at);
    tm_lanes lanes;
    bool shown = !m->budget->ranks || tm_page_keeps(m->budget->ranks, timeline->rank);
    tm_status status = tm_lanes_make(timeline, &lanes, m->err);
    if (status == TM_OK && shown)
        status = tm_coverage_put(&m->lanes, &lanes, &m->out->coverage, m->err);
    if (status == TM_OK)
        status = tm_strip_add(&m->strip, &lanes, m->strip_sums, m->err);
    tm_lanes_free(&lanes);
    if (status == TM_OK)
        status = tm_plan_add(&m->plan, timeline, &m->lanes, m->err);
    return status == TM_OK ? tm_operations_add(&m->operations, timeline, m->names, m->err) : status;
}

/* Second visit: what was chosen. */
static tm_status collect(void *context, tm_timeline *timeline, size_t at, tm_error *err) {
    maker *m = context;
    (void)err;
    set_begin(m, timeline, at);
    TM_TRY(tm_operations_gather(&m->operations, timeline, at, m->err));
    return card_of(m, at)->shown ? tm_events_put(&m->events, timeline, at, m->err) : TM_OK;
}

/* A cell of a table's row; NULL where the store has no such row or it is null. */
static const tm_cell *cell_of(const tm_tables *tables, const char *name, size_t row,
                              const char *column) {
    const tm_table *table = tm_tables_find(tables, name);
    if (row >= table->n_rows)
        return NULL;
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? NULL : cell;
}

static int64_t int_of(const tm_tables *tables, const char *name, const char *column,
                      int64_t fallback) {
    const tm_cell *cell = cell_of(tables, name, 0, column);
    return cell ? cell->value.i : fallback;
}

/* "" for a rank of which the page holds no row. */
static const char *host_of(const maker *m, size_t at) {
    const tm_table *ranks = tm_tables_find(m->tables, "job.rank");
    const tm_cell *cell =
        cell_of(m->tables, "job.rank", tm_table_find_row(ranks, &m->ranks[at].rank, 1), "host");
    return cell ? cell->value.text : "";
}

/* The step in which the most wait was caused; -1 where nothing tells. */
static int64_t worst_step(const tm_tables *tables) {
    const tm_table *table = tm_tables_find(tables, "stragglers.step");
    int64_t worst = -1, most = 0;
    for (size_t row = 0; row < table->n_rows; row++) {
        const tm_cell *step = tm_table_cell(table, row, "step");
        const tm_cell *caused = tm_table_cell(table, row, "caused_wait_ns");
        if (!step->null && !caused->null && caused->value.i > most) {
            worst = step->value.i;
            most = caused->value.i;
        }
    }
    return worst;
}

static tm_status choose(maker *m) {
    int64_t blamed = int_of(m->tables, "stragglers.job", "rank", -1);
    int64_t *near = malloc(m->n_ranks * sizeof *near);
    const char *host = NULL;
    size_t n = 0;
    if (!near)
        return tm_fail_memory(m->err);
    for (size_t i = 0; i < m->n_ranks; i++)
        host = m->ranks[i].rank == blamed ? host_of(m, i) : host;
    for (size_t i = 0; host && *host && i < m->n_ranks; i++)
        if (strcmp(host_of(m, i), host) == 0)
            near[n++] = m->ranks[i].rank;
    tm_status status = tm_operations_choose(&m->operations, m->budget->n_members, m->err);
    size_t n_events = tm_timeline_events(m->budget, tm_operations_members(&m->operations));
    tm_plan_wishes wishes = {blamed, near, n, worst_step(m->tables), n_events};
    if (status == TM_OK)
        status = tm_plan_choose(&m->plan, &wishes, m->err);
    free(near);
    return status;
}

/* Steps that nothing is shown of are marked as long as they are few. */
static bool is_marked(const maker *m, const tm_plan_part *part) {
    const tm_page_kept *steps = m->plan.steps ? m->budget->steps : NULL;
    return part->gpu || part->host || !steps || tm_page_keeps(steps, part->number);
}

static void put_parts(const maker *m, const tm_card *card, tm_bytes *out) {
    const tm_plan_part *parts = (const tm_plan_part *)m->plan.parts.data + card->first_part;
    int64_t before = m->lanes.begin_ns, number = 0;
    size_t n = 0;
    for (size_t i = 0; i < card->n_parts; i++)
        n += is_marked(m, &parts[i]);
    tm_bytes_put(out, n);
    for (size_t i = 0; i < card->n_parts; i++) {
        if (!is_marked(m, &parts[i]))
            continue;
        tm_bytes_put_signed(out, parts[i].number - number);
        tm_bytes_put_signed(out, parts[i].begin_ns - before);
        tm_bytes_put_signed(out, parts[i].end_ns - parts[i].begin_ns);
        tm_bytes_put(out, (parts[i].gpu ? PART_GPU : 0u) | (parts[i].host ? PART_HOST : 0u));
        number = parts[i].number;
        before = parts[i].end_ns;
    }
}

/* A file that was cut short lacks the GPU's later events, though it may hold calls that launched
 * them: the lanes end with the last one. */
static int64_t end_of(const tm_span *span) {
    if (!span->truncated)
        return span->end_ns;
    return span->n_gpu_events > 0 ? span->gpu_end_ns : span->begin_ns;
}

static void put_rank(const maker *m, size_t at, tm_bytes *out) {
    const tm_card *card = card_of(m, at);
    const tm_span *spans = (const tm_span *)m->plan.spans.data + card->first_span;
    const tm_rank_clock *clock = &card->clock;
    tm_bytes_put(out, (uint64_t)card->rank);
    tm_bytes_put(out, (card->truncated ? RANK_TRUNCATED : 0u) |
                          (clock->way == TM_CLOCK_UNKNOWN ? RANK_NO_CLOCK : 0u) |
                          (clock->way == TM_CLOCK_AS_RECORDED ? RANK_WALL_CLOCK : 0u));
    tm_bytes_put(out, (uint64_t)clock->domain);
    tm_bytes_put(out, (uint64_t)clock->uncertainty_ns);
    tm_bytes_put(out, (uint64_t)clock->spread_ns);
    tm_bytes_put(out, card->n_spans);
    for (size_t i = 0; i < card->n_spans; i++) {
        tm_bytes_put_signed(out, spans[i].begin_ns - m->lanes.begin_ns);
        tm_bytes_put_signed(out, end_of(&spans[i]) - spans[i].begin_ns);
        tm_bytes_put(out, spans[i].truncated);
    }
    put_parts(m, card, out);
}

static void put_job(maker *m) {
    tm_bytes *out = &m->out->job;
    const char *before = NULL;
    int64_t world = -1;
    for (size_t i = 0; i < m->n_ranks; i++)
        world = card_of(m, i)->world_size > world ? card_of(m, i)->world_size : world;
    tm_bytes_put(out, VERSION);
    tm_bytes_put(out, (uint64_t)m->lanes.duration_ns);
    tm_bytes_put(out, m->lanes.n);
    tm_bytes_put(out, m->strip.n);
    tm_bytes_put(out, (uint64_t)(world + 1));
    tm_bytes_put(out, m->plan.all);
    tm_bytes_put(out, m->plan.steps);
    tm_bytes_put(out, m->events.n_events);
    tm_bytes_put(out, m->n_ranks);
    tm_bytes_put(out, m->plan.n_shown);
    for (size_t i = 0; i < m->n_ranks; i++) {
        const char *host = card_of(m, i)->shown ? host_of(m, i) : NULL;
        if (!host)
            continue;
        bool same = before && strcmp(host, before) == 0;
        tm_bytes_put(out, same);
        if (!same)
            tm_bytes_put_text(out, (tm_text){host, strlen(host)});
        put_rank(m, i, out);
        before = host;
    }
    tm_dictionary_put(&m->dictionary, out);
}

/* How long it is together with the ranks that are drawn as if they began with it. */
static int64_t find_duration(const maker *m, int64_t begin_ns) {
    const tm_table *ranks = tm_tables_find(m->tables, "job.rank");
    int64_t duration_ns = 1;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        int64_t end_ns = tm_table_cell(ranks, i, "end_ns")->value.i;
        end_ns -= counts_from_0(m, i, begin_ns) ? 0 : begin_ns;
        duration_ns = end_ns > duration_ns ? end_ns : duration_ns;
    }
    return duration_ns;
}

static tm_status read_job(maker *m) {
    TM_TRY(tm_store_read_names(m->store, &m->names, m->err));
    TM_TRY(tm_store_read_ranks(m->store, &m->ranks, &m->n_ranks, m->err));
    int64_t begin = int_of(m->tables, "job.job", "begin_ns", 0);
    int64_t duration = find_duration(m, begin);
    size_t most =
        duration < (int64_t)m->budget->n_buckets ? (size_t)duration : m->budget->n_buckets;
    m->lanes = (tm_buckets){begin, duration, most};
    m->strip = (tm_buckets){begin, duration, most < N_STRIP ? most : N_STRIP};
    m->strip_sums = calloc(TM_N_LANE_KINDS * m->strip.n, sizeof *m->strip_sums);
    tm_plan_init(&m->plan, int_of(m->tables, "overlap.step", "step", 0) > 0 ||
                               int_of(m->tables, "job.job", "steps", 0) > 1);
    m->plan.ranks = m->operations.ranks = m->budget->ranks;
    return m->strip_sums ? tm_dictionary_make(m->names, &m->dictionary, m->err)
                         : tm_fail_memory(m->err);
}

static tm_status make(maker *m) {
    TM_TRY(read_job(m));
    TM_TRY(visit_all(m, survey));
    TM_TRY(choose(m));
    m->events.plan = &m->plan;
    m->events.operations = &m->operations;
    m->events.job_begin_ns = m->lanes.begin_ns;
    m->events.dictionary = &m->dictionary;
    m->events.out = &m->out->events;
    TM_TRY(visit_all(m, collect));
    TM_TRY(tm_operations_put(&m->operations, &m->plan, m->lanes.begin_ns, &m->dictionary,
                             &m->out->operations, m->err));
    tm_strip_put(&m->strip, m->strip_sums, m->n_ranks, &m->out->strip);
    put_job(m);
    return TM_OK;
}

tm_status tm_timeline_blocks_make(const tm_store *store, const tm_tables *tables,
                                  const tm_timeline_budget *budget, tm_timeline_blocks *out,
                                  tm_error *err) {
    maker m = {.store = store,
               .tables = tables,
               .budget = budget,
               .out = out,
               .events = tm_event_writer_make(),
               .err = err};
    tm_operations_init(&m.operations);
    *out = (tm_timeline_blocks){tm_bytes_make(), tm_bytes_make(), tm_bytes_make(), tm_bytes_make(),
                                tm_bytes_make()};
    tm_status status = make(&m);
    bool failed = out->job.failed || out->strip.failed || out->coverage.failed ||
                  out->operations.failed || out->events.failed;
    if (status == TM_OK && failed)
        status = tm_fail_memory(err);
    tm_plan_free(&m.plan);
    tm_operations_free(&m.operations);
    tm_dictionary_free(&m.dictionary);
    tm_event_writer_free(&m.events);
    tm_names_destroy(m.names);
    free(m.ranks);
    free(m.strip_sums);
    return status;
}

void tm_timeline_blocks_free(tm_timeline_blocks *blocks) {
    tm_bytes_free(&blocks->job);
    tm_bytes_free(&blocks->strip);
    tm_bytes_free(&blocks->coverage);
    tm_bytes_free(&blocks->operations);
    tm_bytes_free(&blocks->events);
}

tm_status tm_report_timeline(const tm_store *store, const tm_tables *tables,
                             const tm_page_choice *choice, tm_page *page, tm_error *err) {
    size_t size = tm_page_bytes(page) + TIMELINE_BYTES;
    tm_timeline_budget budget =
        tm_timeline_budget_of(choice->ranks.kept.n, size < PAGE_BYTES ? PAGE_BYTES - size : 0);
    budget.ranks = tm_page_is_part(&choice->ranks) ? &choice->ranks : NULL;
    budget.steps = tm_page_is_part(&choice->steps) ? &choice->steps : NULL;
    tm_timeline_blocks blocks;
    tm_status status = tm_timeline_blocks_make(store, tables, &budget, &blocks, err);
    const struct {
        const char *id;
        const tm_bytes *bytes;
    } list[] = {
        {"timeline.job", &blocks.job},           {"timeline.strip", &blocks.strip},
        {"timeline.coverage", &blocks.coverage}, {"timeline.operations", &blocks.operations},
        {"timeline.events", &blocks.events},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list && status == TM_OK; i++)
        status = tm_page_put_block(page, list[i].id, list[i].bytes->bytes.data,
                                   list[i].bytes->bytes.n, err);
    tm_timeline_blocks_free(&blocks);
    return status;
}
