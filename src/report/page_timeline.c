#include "page_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/deflate.h"

enum {
    N_STRIP = 2048,
    TRIES_MOST = 8,
    TIMELINE_BYTES = 700000, /* room in the page for all blocks except operations and events [B] */
    COVERAGE_BYTES = 500000, /* share of TIMELINE_BYTES for coverage. If coverage takes more, the
                                other blocks get less */
    BUCKETS_LEAST = 256,
    PANEL_TEXTS = 500000, /* maximum size of the texts of input shapes and call stacks [B] */
    VERSION = 3
};

/* Flags in the encoding of the page. RANK_: flags of a rank. PART_: flags of a part. */
enum { RANK_TRUNCATED = 1, RANK_NO_CLOCK = 2, RANK_WALL_CLOCK = 4, PART_GPU = 1, PART_HOST = 2 };

typedef struct builder {
    const tm_store *store;
    const tm_page_source *source;
    const tm_tables *tables;
    const tm_timeline_budget *budget;
    tm_timeline_budget left; /* the budget that remains after coverage */
    tm_timeline_blocks *out;
    tm_names *names; /* owned */
    tm_vec from_0;   /* vector of int64_t: the ranks for which counts_from_0() holds */
    tm_page_frame frame;
    tm_scan scan;
    tm_dictionary dictionary;
    size_t n_ranks, n_events, n_buckets;
    tm_error *err;
} builder;

/* Returns whether a rank's times count from 0 in a job with absolute times. */
static bool counts_from_0(const builder *m, const tm_cell *begin) {
    return !begin->null && begin->value.i < TM_FIRST_DAY_NS &&
           m->frame.lanes.begin_ns >= TM_FIRST_DAY_NS;
}

/* Reads timelines from a store, one rank at a time. */
typedef struct shelf {
    const tm_store *store;
    const tm_page_frame *frame;
    tm_scan *scan;
    tm_page_encoding *encoding; /* NULL during the first pass, which only scans the ranks */
} shelf;

static tm_status visit(void *context, tm_timeline *timeline, size_t at, tm_error *err) {
    shelf *s = context;
    return s->encoding ? tm_scan_collect(s->scan, s->frame, timeline, at, s->encoding, err)
                       : tm_scan_add(s->scan, s->frame, timeline, err);
}

static tm_status visit_all(shelf *s, tm_error *err) {
    const unsigned reported = 1u << TM_RECORD_KERNELS | 1u << TM_RECORD_COPIES |
                              1u << TM_RECORD_SHAPES | 1u << TM_RECORD_OPERATORS |
                              1u << TM_RECORD_COUNTERS;
    tm_store_visit_plan plan = {.store = s->store,
                                .names = s->frame->names,
                                .records =
                                    1u << TM_RECORD_COLLECTIVES | (s->encoding ? reported : 0),
                                .visitor = visit,
                                .context = s};
    TM_TRY(tm_store_read_ranks(s->store, &plan.ranks, &plan.n, err));
    tm_status status = tm_store_visit(&plan, err);
    free(plan.ranks);
    return status;
}

static tm_status scan_store(void *context, const tm_page_frame *frame, tm_scan *out,
                            tm_error *err) {
    shelf *s = context;
    *s = (shelf){.store = s->store, .frame = frame, .scan = out};
    return visit_all(s, err);
}

static tm_status collect_store(void *context, const tm_page_frame *frame, tm_scan *chosen,
                               tm_vec *encodings, tm_error *err) {
    shelf *s = context;
    tm_page_encoding *encoding = tm_vec_push(encodings);
    if (!encoding)
        return tm_fail_memory(err);
    tm_page_encoding_init(encoding);
    *s = (shelf){.store = s->store, .frame = frame, .scan = chosen, .encoding = encoding};
    return visit_all(s, err);
}

static const tm_card *card_of(const builder *m, size_t at) {
    return (const tm_card *)m->scan.plan.cards.data + at;
}

/* Returns a cell of a table; NULL if the row does not exist or the cell is null. */
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

/* Returns the host of a rank; "" if the page has no row for the rank. */
static const char *host_of(const builder *m, size_t at) {
    const tm_table *ranks = tm_tables_find(m->tables, "job.rank");
    const tm_cell *cell =
        cell_of(m->tables, "job.rank", tm_table_find_row(ranks, &card_of(m, at)->rank, 1), "host");
    return cell ? cell->value.text : "";
}

/* Returns the step that caused the most wait; -1 if unknown. */
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

static tm_status count_packed(void *context, const void *packed, size_t size, tm_error *err) {
    (void)packed, (void)err;
    *(size_t *)context += size;
    return TM_OK;
}

/* Packs bytes to find the size that they take in a page. */
static tm_status find_size(const tm_bytes *bytes, size_t *size, tm_error *err) {
    size_t packed = 0;
    tm_deflate *deflate = tm_deflate_create();
    if (!deflate)
        return tm_fail_memory(err);
    tm_status status =
        tm_deflate_to(deflate, bytes->bytes.data, bytes->bytes.n, count_packed, &packed, err);
    tm_deflate_destroy(deflate);
    *size = packed / 3 * 4 + 4;
    return status;
}

/* Halves the resolution of coverage until it takes at most half of the room for the timeline. */
static tm_status fit_coverage(builder *m) {
    tm_bytes *coverage = &m->scan.coverage;
    size_t room = m->budget->left_bytes + COVERAGE_BYTES, size = 0;
    m->left = *m->budget;
    m->n_buckets = m->frame.lanes.n;
    if (m->budget->left_bytes == 0 || coverage->bytes.n / 3 * 4 <= COVERAGE_BYTES)
        return TM_OK;
    TM_TRY(find_size(coverage, &size, m->err));
    for (; size > room / 2 && m->n_buckets % 2 == 0 && m->n_buckets > BUCKETS_LEAST;
         m->n_buckets /= 2) {
        tm_coverage_halve(coverage);
        TM_TRY(find_size(coverage, &size, m->err));
    }
    if (size > COVERAGE_BYTES)
        tm_timeline_leave(&m->left, size < room ? room - size : 1);
    return TM_OK;
}

static tm_status choose(builder *m) {
    int64_t blamed = int_of(m->tables, "stragglers.job", "rank", -1);
    int64_t *near = malloc(m->n_ranks * sizeof *near);
    const char *host = NULL;
    size_t n = 0;
    if (!near)
        return tm_fail_memory(m->err);
    for (size_t i = 0; i < m->n_ranks; i++)
        host = card_of(m, i)->rank == blamed ? host_of(m, i) : host;
    for (size_t i = 0; host && *host && i < m->n_ranks; i++)
        if (strcmp(host_of(m, i), host) == 0)
            near[n++] = card_of(m, i)->rank;
    tm_status status = tm_operations_choose(&m->scan.operations, m->left.n_members, m->err);
    size_t n_events = tm_timeline_events(&m->left, tm_operations_members(&m->scan.operations));
    tm_plan_wishes wishes = {blamed, near, n, worst_step(m->tables), n_events};
    if (status == TM_OK)
        status = tm_plan_choose(&m->scan.plan, &wishes, m->err);
    free(near);
    return status;
}

/* Returns whether a part gets a mark: it has chosen events, or the budget has room for its mark. */
static bool is_marked(const builder *m, const tm_plan_part *part) {
    const tm_page_kept *steps = m->scan.plan.steps ? m->budget->steps : NULL;
    if (m->budget->few_marks)
        return part->gpu || part->host;
    return part->gpu || part->host || !steps || tm_page_keeps(steps, part->number);
}

static void put_parts(const builder *m, const tm_card *card, tm_bytes *out) {
    const tm_plan_part *parts = (const tm_plan_part *)m->scan.plan.parts.data + card->first_part;
    int64_t before = m->frame.lanes.begin_ns, number = 0;
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

/* Returns where a rank's lanes end. If the trace is truncated, the GPU events of the last calls may
 * be missing. So the lanes of a truncated trace end with its last GPU event. */
static int64_t end_of(const tm_span *span) {
    if (!span->truncated)
        return span->end_ns;
    return span->n_gpu_events > 0 ? span->gpu_end_ns : span->begin_ns;
}

static void put_rank(const builder *m, size_t at, tm_bytes *out) {
    const tm_card *card = card_of(m, at);
    const tm_span *spans = (const tm_span *)m->scan.plan.spans.data + card->first_span;
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
        tm_bytes_put_signed(out, spans[i].begin_ns - m->frame.lanes.begin_ns);
        tm_bytes_put_signed(out, end_of(&spans[i]) - spans[i].begin_ns);
        tm_bytes_put(out, spans[i].truncated);
    }
    put_parts(m, card, out);
}

static void put_job(builder *m) {
    tm_bytes *out = &m->out->job;
    const char *before = NULL;
    int64_t world = -1;
    for (size_t i = 0; i < m->n_ranks; i++)
        world = card_of(m, i)->world_size > world ? card_of(m, i)->world_size : world;
    tm_bytes_put(out, VERSION);
    tm_bytes_put(out, (uint64_t)m->frame.lanes.duration_ns);
    tm_bytes_put(out, m->n_buckets);
    tm_bytes_put(out, m->frame.strip.n);
    tm_bytes_put(out, (uint64_t)(world + 1));
    tm_bytes_put(out, m->scan.plan.all);
    tm_bytes_put(out, m->scan.plan.steps);
    tm_bytes_put(out, m->n_events);
    tm_bytes_put(out, m->n_ranks);
    tm_bytes_put(out, m->scan.plan.n_shown);
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

/* Computes the duration of the timeline. If the times of a rank count from 0, the rank is drawn as
 * if it started with the job. Such a rank may end after the job. */
static tm_status find_duration(builder *m) {
    const tm_table *ranks = tm_tables_find(m->tables, "job.rank");
    int64_t begin_ns = m->frame.lanes.begin_ns, duration_ns = 1;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        bool from_0 = counts_from_0(m, tm_table_cell(ranks, i, "begin_ns"));
        int64_t end_ns = tm_table_cell(ranks, i, "end_ns")->value.i - (from_0 ? 0 : begin_ns);
        duration_ns = end_ns > duration_ns ? end_ns : duration_ns;
        if (from_0 && !tm_vec_append(&m->from_0, &tm_table_cell(ranks, i, "rank")->value.i, 1))
            return tm_fail_memory(m->err);
    }
    m->frame.lanes.duration_ns = duration_ns;
    return TM_OK;
}

static tm_status read_job(builder *m) {
    tm_page_frame *frame = &m->frame;
    TM_TRY(tm_store_read_names(m->store, &m->names, m->err));
    frame->lanes.begin_ns = int_of(m->tables, "job.job", "begin_ns", 0);
    TM_TRY(find_duration(m));
    int64_t duration = frame->lanes.duration_ns;
    size_t most =
        duration < (int64_t)m->budget->n_buckets ? (size_t)duration : m->budget->n_buckets;
    frame->strip = frame->lanes;
    frame->lanes.n = most;
    frame->strip.n = most < N_STRIP ? most : N_STRIP;
    frame->names = m->names;
    frame->ranks = m->budget->ranks;
    frame->from_0 = m->from_0.data;
    frame->n_from_0 = m->from_0.n;
    frame->steps = int_of(m->tables, "overlap.step", "step", 0) > 0 ||
                   int_of(m->tables, "job.job", "steps", 0) > 1;
    TM_TRY(tm_scan_begin(frame, &m->scan, m->err));
    return tm_dictionary_make(m->names, &m->dictionary, m->err);
}

/* Writes the ranks of all encodings, lowest rank first. */
static void put_encodings(builder *m, const tm_vec *encodings, size_t offset, size_t *next,
                          tm_bytes *out) {
    for (size_t d = 0; d < encodings->n; d++)
        next[d] = 0;
    for (size_t i = 0; i < m->n_ranks; i++)
        for (size_t d = 0; card_of(m, i)->shown && d < encodings->n; d++) {
            const tm_event_encoding *encoding =
                (const void *)((const char *)encodings->data + d * encodings->size + offset);
            const tm_event_end *end = (const tm_event_end *)encoding->ends.data + next[d];
            if (next[d] == encoding->ends.n || end->rank != card_of(m, i)->rank)
                continue;
            tm_event_encoding_put(encoding, next[d]++, &m->dictionary, out);
            m->n_events += end->n_events;
        }
}

/* Writes the names of events first, because only the texts for panels have limited room. */
static void put_events(builder *m, const tm_vec *encodings, size_t *next) {
    put_encodings(m, encodings, offsetof(tm_page_encoding, events), next, &m->out->events);
    m->dictionary.cut = m->budget->text_bytes;
    m->dictionary.room = PANEL_TEXTS;
    put_encodings(m, encodings, offsetof(tm_page_encoding, details), next, &m->out->details);
    m->dictionary.room = SIZE_MAX;
}

static tm_status collect(builder *m) {
    tm_vec encodings = TM_VEC(tm_page_encoding);
    tm_status status =
        m->source->collect(m->source->context, &m->frame, &m->scan, &encodings, m->err);
    size_t *next = status == TM_OK ? calloc(encodings.n + 1, sizeof *next) : NULL;
    if (next)
        put_events(m, &encodings, next);
    else if (status == TM_OK)
        status = tm_fail_memory(m->err);
    free(next);
    for (size_t d = 0; d < encodings.n; d++)
        tm_page_encoding_free((tm_page_encoding *)encodings.data + d);
    tm_vec_free(&encodings);
    return status;
}

static tm_status make(builder *m) {
    TM_TRY(read_job(m));
    TM_TRY(m->source->scan(m->source->context, &m->frame, &m->scan, m->err));
    m->n_ranks = m->scan.plan.cards.n;
    TM_TRY(fit_coverage(m));
    TM_TRY(choose(m));
    TM_TRY(collect(m));
    TM_TRY(tm_operations_put(&m->scan.operations, &m->scan.plan, m->frame.lanes.begin_ns,
                             &m->dictionary, &m->out->operations, m->err));
    tm_strip_put(&m->frame.strip, m->scan.strip_sums, m->n_ranks, &m->out->strip);
    put_job(m);
    /* `out` now owns the coverage, so tm_scan_free must not free it */
    m->out->coverage = m->scan.coverage;
    m->scan.coverage = tm_bytes_make();
    return TM_OK;
}

/* Makes the blocks. If @p source is NULL, reads the timelines from the store. They are read twice,
 * some hundred thousand events at a time. */
static tm_status make_blocks(const tm_store *store, const tm_page_source *source,
                             const tm_tables *tables, const tm_timeline_budget *budget,
                             tm_timeline_blocks *out, tm_error *err) {
    shelf all = {.store = store};
    const tm_page_source stored = {&all, scan_store, collect_store};
    builder m = {.store = store,
                 .source = source ? source : &stored,
                 .tables = tables,
                 .budget = budget,
                 .out = out,
                 .from_0 = TM_VEC(int64_t),
                 .err = err};
    *out = (tm_timeline_blocks){tm_bytes_make(), tm_bytes_make(), tm_bytes_make(),
                                tm_bytes_make(), tm_bytes_make(), tm_bytes_make()};
    tm_status status = make(&m);
    bool failed = out->job.failed || out->strip.failed || out->coverage.failed ||
                  out->operations.failed || out->events.failed || out->details.failed;
    if (status == TM_OK && failed)
        status = tm_fail_memory(err);
    tm_scan_free(&m.scan);
    tm_dictionary_free(&m.dictionary);
    tm_vec_free(&m.from_0);
    tm_names_destroy(m.names);
    return status;
}

static void free_blocks(tm_timeline_blocks *blocks) {
    tm_bytes_free(&blocks->job);
    tm_bytes_free(&blocks->strip);
    tm_bytes_free(&blocks->coverage);
    tm_bytes_free(&blocks->operations);
    tm_bytes_free(&blocks->events);
    tm_bytes_free(&blocks->details);
}

/* A block of the page: the id of its element, and its content. */
typedef struct page_block {
    const char *id;
    const tm_bytes *bytes;
    tm_vec packed; /* vector of unsigned char; owned */
} page_block;

static tm_status pack_blocks(page_block *blocks, size_t n, size_t *size, tm_error *err) {
    tm_status status = TM_OK;
    *size = 0;
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        blocks[i].packed.n = 0;
        status = tm_page_pack(blocks[i].bytes->bytes.data, blocks[i].bytes->bytes.n,
                              &blocks[i].packed, err);
        *size += tm_page_size_of(&blocks[i].packed);
    }
    return status;
}

tm_status tm_report_timeline(const tm_store *store, const tm_page_source *source,
                             const tm_tables *tables, const tm_page_selection *selection,
                             tm_page *page, tm_error *err) {
    size_t before = tm_page_bytes(page), size = before + TIMELINE_BYTES,
           room = before < TM_PAGE_BYTES ? TM_PAGE_BYTES - before : 1;
    tm_timeline_budget budget = tm_timeline_budget_of(
        selection->ranks.kept.n, size < TM_PAGE_BYTES ? TM_PAGE_BYTES - size : 1);
    budget.ranks = tm_page_is_part(&selection->ranks) ? &selection->ranks : NULL;
    budget.steps = tm_page_is_part(&selection->steps) ? &selection->steps : NULL;
    tm_timeline_blocks made;
    page_block blocks[] = {
        {"timeline.job", &made.job, TM_VEC(unsigned char)},
        {"timeline.strip", &made.strip, TM_VEC(unsigned char)},
        {"timeline.coverage", &made.coverage, TM_VEC(unsigned char)},
        {"timeline.operations", &made.operations, TM_VEC(unsigned char)},
        {"timeline.events", &made.events, TM_VEC(unsigned char)},
        {"timeline.details", &made.details, TM_VEC(unsigned char)},
    };
    enum { N = sizeof blocks / sizeof *blocks };
    tm_status status = make_blocks(store, source, tables, &budget, &made, err);
    if (status == TM_OK)
        status = pack_blocks(blocks, N, &size, err);
    /* If the blocks do not fit, makes them again with a smaller budget. Reads the store then,
     * because a source may allow only one reading. */
    for (int i = 0; status == TM_OK && size > room && i < TRIES_MOST; i++) {
        tm_timeline_shrink(&budget, size, room);
        free_blocks(&made);
        status = make_blocks(store, NULL, tables, &budget, &made, err);
        if (status == TM_OK)
            status = pack_blocks(blocks, N, &size, err);
    }
    for (size_t i = 0; i < N; i++) {
        if (status == TM_OK)
            status = tm_page_put_packed(page, blocks[i].id, &blocks[i].packed, err);
        tm_vec_free(&blocks[i].packed);
    }
    free_blocks(&made);
    return status;
}
