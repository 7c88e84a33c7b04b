#include "serve/operation.h"

#include <stdlib.h>

#include "report/timeline_operations.h"

struct tm_meetings {
    const tm_tiler *tiler;
    tm_store_pieces *pieces;
    const tm_timeline *ranks; /* [n] */
    size_t n;
};

/* One participation in the operation. */
typedef struct kernel {
    size_t at;        /* index of the kernel's rank in the store */
    int64_t drawn_ns; /* start on the job's clock, as drawn */
    int64_t begin_ns, duration_ns;
    int32_t step;
    tm_collective_attr attr; /* attr.event is 0 */
} kernel;

typedef struct search {
    tm_meetings *m;
    tm_operation_name name; /* the operation to find, if `named` */
    bool named;             /* true: find the operation `name`; false: find the operation of the
                               kernel that starts at begin_ns */
    int64_t begin_ns;
    int64_t from_ns, to_ns;
    tm_vec kernels; /* vector of kernel, ascending by rank */
} search;

static bool is_reported(int table, const tm_record_column *column) {
    return table != TM_RECORD_COLLECTIVES ||
           (column->field_at != offsetof(tm_collective_attr, comms_id) &&
            column->field_at != offsetof(tm_collective_attr, group_ranks));
}

tm_status tm_meetings_open(const tm_tiler *tiler, tm_meetings **out, tm_error *err) {
    const tm_store_visit_plan plan = {.records = 1u << TM_RECORD_COLLECTIVES, .takes = is_reported};
    tm_meetings *m = calloc(1, sizeof *m);
    if (!m)
        return tm_fail_memory(err);
    m->tiler = tiler;
    m->ranks = tm_serve_ranks(tiler->events, &m->n);
    tm_status status =
        tm_serve_events_pieces(tiler->events, &plan, TM_SERVE_BLOCK_ROWS, &m->pieces, err);
    if (status == TM_OK)
        status = tm_store_index_pieces(m->pieces, err);
    if (status == TM_OK)
        *out = m;
    else
        tm_meetings_close(m);
    return status;
}

void tm_meetings_close(tm_meetings *m) {
    if (!m)
        return;
    tm_store_close_pieces(m->pieces);
    free(m);
}

static bool is_of(const search *s, const tm_collective_attr *attr) {
    if (!s->named)
        return attr->first_rank >= 0;
    return attr->first_rank == s->name.rank && attr->first_event == s->name.event;
}

static bool any_of(const search *s, const tm_timeline *piece) {
    const tm_collective_attr *attrs = piece->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < piece->n_attrs[TM_ATTR_COLLECTIVE]; i++)
        if (is_of(s, &attrs[i]))
            return true;
    return false;
}

static bool keep(search *s, size_t at, size_t first, const tm_timeline *piece,
                 const tm_collective_attr *attr) {
    const tm_timeline *rank = &s->m->ranks[at];
    const size_t i = attr->event - first;
    kernel own = {.at = at,
                  .drawn_ns = tm_rank_clock_true(&rank->clock, piece->begin_ns[i]) +
                              tm_tiler_shift(s->m->tiler, rank),
                  .begin_ns = piece->begin_ns[i],
                  .duration_ns = piece->duration_ns[i],
                  .step = piece->step[i],
                  .attr = *attr};
    own.attr.event = 0;
    return (!s->named && own.drawn_ns != s->begin_ns) || tm_vec_append(&s->kernels, &own, 1);
}

static tm_status look_block(search *s, size_t at, size_t first, tm_error *err) {
    const tm_timeline *piece;
    TM_TRY(tm_store_seek_piece(s->m->pieces, at, first, err));
    TM_TRY(tm_store_read_piece(s->m->pieces, at, first, TM_ROWS_ATTRS, &piece, err));
    if (!any_of(s, piece))
        return TM_OK;
    TM_TRY(tm_store_seek_piece(s->m->pieces, at, first, err));
    TM_TRY(tm_store_read_piece(s->m->pieces, at, first, TM_ROWS_ALL, &piece, err));
    const tm_collective_attr *attrs = piece->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < piece->n_attrs[TM_ATTR_COLLECTIVE]; i++)
        if (is_of(s, &attrs[i]) && !keep(s, at, first, piece, &attrs[i]))
            return tm_fail_memory(err);
    return TM_OK;
}

static tm_status look_at_rank(search *s, size_t at, tm_error *err) {
    const tm_timeline *rank = &s->m->ranks[at];
    const int64_t shift = tm_tiler_shift(s->m->tiler, rank);
    for (size_t first = 0; first < rank->n_events; first += TM_SERVE_BLOCK_ROWS)
        if (tm_serve_events_reach(s->m->tiler->events, at, first, s->from_ns - shift,
                                  s->to_ns - shift))
            TM_TRY(look_block(s, at, first, err));
    return TM_OK;
}

/* Finds the kernel that starts at the requested time. Finds nothing if that kernel was not matched.
 */
static tm_status find_first(search *s, int64_t rank, tm_error *err) {
    size_t at;
    TM_TRY(tm_serve_find_rank(s->m->tiler->events, rank, &at, err));
    s->from_ns = s->begin_ns;
    s->to_ns = s->begin_ns + 1;
    return look_at_rank(s, at, err);
}

/* Returns whether all clocks are fitted, so that all participations run at nearly the same time. */
static bool is_fitted(const tm_meetings *m) {
    bool all = true;
    for (size_t at = 0; at < m->n; at++)
        all = all && m->ranks[at].clock.way == TM_CLOCK_FITTED;
    return all;
}

/* Finds all participations. They usually run at the same time. If some are missing, searches a
 * longer time, and finally the whole job, because a clock may be off by days. */
static tm_status find_all(search *s, tm_error *err) {
    static const int64_t reach_ns[] = {1000000, 64000000, INT64_MAX / 4};
    const kernel first = *(const kernel *)s->kernels.data;
    const bool pair = tm_collective_is_transfer(first.attr.kind);
    const size_t reported = first.attr.group_size > 0 ? (size_t)first.attr.group_size : s->m->n;
    /* a send and its receive are two participations, but their group_size is the size of the whole
     * group */
    const size_t group = pair ? 2 : reported;
    const size_t expected = group < s->m->n ? group : s->m->n;
    s->named = true;
    s->name = (tm_operation_name){first.attr.first_rank, first.attr.first_event};
    const size_t n_reaches = sizeof reach_ns / sizeof *reach_ns - is_fitted(s->m);
    for (size_t i = 0; i < n_reaches; i++) {
        s->from_ns = first.drawn_ns - reach_ns[i];
        s->to_ns = first.drawn_ns + first.duration_ns + reach_ns[i];
        s->kernels.n = 0;
        for (size_t at = 0; at < s->m->n; at++)
            TM_TRY(look_at_rank(s, at, err));
        if (s->kernels.n >= expected)
            break;
    }
    return TM_OK;
}

/* Returns a timeline of a rank that has only this kernel. */
static tm_timeline alone(const search *s, kernel *own) {
    const tm_timeline *rank = &s->m->ranks[own->at];
    tm_timeline out = {.rank = rank->rank,
                       .clock = rank->clock,
                       .steps = rank->steps,
                       .n_steps = rank->n_steps,
                       .n_events = 1,
                       .begin_ns = &own->begin_ns,
                       .duration_ns = &own->duration_ns,
                       .step = &own->step};
    out.clock.offset_ns += tm_tiler_shift(s->m->tiler, rank);
    out.attrs[TM_ATTR_COLLECTIVE] = &own->attr;
    out.n_attrs[TM_ATTR_COLLECTIVE] = 1;
    return out;
}

/* Adds the ranks with their clocks, which put_arrivals needs. */
static tm_status add_cards(const search *s, tm_plan *plan, tm_error *err) {
    const kernel *kernels = s->kernels.data;
    for (size_t i = 0; i < s->kernels.n; i++) {
        const tm_timeline *rank = &s->m->ranks[kernels[i].at];
        const tm_card card = {.rank = rank->rank,
                              .clock = rank->clock,
                              .shown = true,
                              .place = (uint32_t)plan->n_shown};
        if (i > 0 && kernels[i - 1].at == kernels[i].at)
            continue;
        plan->n_shown++;
        if (!tm_vec_append(&plan->cards, &card, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status gather(search *s, tm_operations *operations, tm_error *err) {
    kernel *kernels = s->kernels.data;
    for (size_t i = 0; i < s->kernels.n; i++) {
        const tm_timeline own = alone(s, &kernels[i]);
        TM_TRY(tm_operations_add(operations, &own, s->m->tiler->names, err));
    }
    TM_TRY(tm_operations_choose(operations, s->kernels.n, err));
    size_t card = 0;
    for (size_t i = 0; i < s->kernels.n; i++) {
        const tm_timeline own = alone(s, &kernels[i]);
        card += i > 0 && kernels[i - 1].at != kernels[i].at;
        TM_TRY(tm_operations_gather(operations, &own, card, err));
    }
    return TM_OK;
}

static tm_status put(const search *s, const tm_operations *operations, const tm_plan *plan,
                     tm_bytes *out, tm_error *err) {
    const tm_tiler *tiler = s->m->tiler;
    const tm_card *cards = plan->cards.data;
    tm_bytes block = tm_bytes_make();
    tm_dictionary dictionary;
    TM_TRY(tm_dictionary_make(tiler->names, &dictionary, err));
    tm_status status =
        tm_operations_put(operations, plan, tiler->begin_ns, &dictionary, &block, err);
    tm_bytes_put(out, plan->n_shown);
    for (size_t i = 0; i < plan->n_shown; i++)
        tm_bytes_put(out, (uint64_t)cards[i].rank);
    tm_dictionary_put(&dictionary, out);
    tm_bytes_put_raw(out, block.bytes.data, block.bytes.n);
    if (status == TM_OK && (block.failed || out->failed))
        status = tm_fail_memory(err);
    tm_bytes_free(&block);
    tm_dictionary_free(&dictionary);
    return status;
}

tm_status tm_meeting_put(tm_meetings *meetings, int64_t rank, int64_t begin_ns, tm_bytes *out,
                         tm_error *err) {
    search s = {
        .m = meetings, .begin_ns = meetings->tiler->begin_ns + begin_ns, .kernels = TM_VEC(kernel)};
    tm_operations operations;
    tm_plan plan;
    tm_operations_init(&operations);
    tm_plan_init(&plan, false);
    tm_status status = find_first(&s, rank, err);
    if (status == TM_OK && s.kernels.n > 0)
        status = find_all(&s, err);
    if (status == TM_OK)
        status = gather(&s, &operations, err);
    if (status == TM_OK)
        status = add_cards(&s, &plan, err);
    if (status == TM_OK)
        status = put(&s, &operations, &plan, out, err);
    tm_plan_free(&plan);
    tm_operations_free(&operations);
    tm_vec_free(&s.kernels);
    return status;
}
