#include "serve/tile.h"

#include "report/timeline_details.h"

enum {
    VERSION = 2,
    BUCKETS_MOST = 8192,
    SHARES_MOST = 1 << 23, /* maximum size of a tile with only shares [B] */
    SHARES_OF_RANK = 4096,
    /* Maximum number of events of a tile. If a lane has more than 2 events per pixel, the page
     * draws its shares instead. */
    GPU_MOST = 262144,
    HOST_MOST = 131072,
    RANK_GPU_MOST = 32768,
    GPU_IN = 1,
    HOST_IN = 2
};

typedef struct builder {
    const tm_tiler *tiler;
    const tm_tile_wish *wish;
    tm_bytes *out;
    tm_page_encoding encoding;
    tm_event_writer writer;
    tm_operations operations; /* always empty: the page already has the operations */
    tm_plan plan;
    tm_vec shares; /* vector of uint8_t: scratch */
} builder;

static bool has(const int64_t *numbers, size_t n, int64_t number) {
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

int64_t tm_tiler_shift(const tm_tiler *tiler, const tm_timeline *rank) {
    int64_t begin = 0, end = 0;
    bool from_0 = tm_timeline_range(rank, &begin, &end) && begin < TM_FIRST_DAY_NS &&
                  tiler->begin_ns >= TM_FIRST_DAY_NS;
    return from_0 ? tiler->begin_ns : 0;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static void put_shares(builder *m, const tm_serve_shares *s, int64_t base_ns) {
    tm_bytes_put(m->out, s->n);
    if (s->n == 0)
        return;
    tm_bytes_put(m->out, (uint64_t)s->exponent);
    tm_bytes_put_signed(m->out, s->begin_ns - base_ns);
    tm_bytes_put_raw(m->out, m->shares.data, m->shares.n);
}

static tm_status find_shares(builder *m, tm_serve_shares *s, tm_error *err) {
    m->shares.n = 0;
    return m->tiler->levels ? tm_serve_levels_read(m->tiler->levels, s, &m->shares, err) : TM_OK;
}

/* Writes only a rank's shares. If the store's levels are too coarse and there are few events,
 * computes the shares from the events. */
static tm_status put_alone(builder *m, const tm_serve_wish *own, int64_t base_ns, tm_error *err) {
    tm_serve_shares s = {
        .at = own->at,
        .from_ns = own->from_ns,
        .to_ns = own->to_ns,
        .most = least(SHARES_OF_RANK, SHARES_MOST / (TM_SERVE_LANES * m->wish->n_ranks))};
    tm_timeline window;
    bool gpu = false, host;
    TM_TRY(find_shares(m, &s, err));
    tm_bytes_put(m->out, 0);
    if (2 * s.n <= s.most) {
        tm_status status = tm_serve_events_read(m->tiler->events, own, &window, &gpu, &host, err);
        if (status == TM_OK && gpu) {
            m->shares.n = 0;
            status = tm_serve_shares_of(&window, &s, &m->shares, err);
        }
        tm_timeline_destroy(&window);
        TM_TRY(status);
    }
    put_shares(m, &s, base_ns);
    return TM_OK;
}

static tm_status put_whole(builder *m, const tm_serve_wish *own, size_t place, int64_t shift,
                           tm_error *err) {
    tm_serve_shares s = {
        .at = own->at, .from_ns = own->from_ns, .to_ns = own->to_ns, .most = BUCKETS_MOST};
    tm_timeline window;
    bool gpu, host;
    tm_status status = tm_serve_events_read(m->tiler->events, own, &window, &gpu, &host, err);
    if (status == TM_OK) {
        const tm_card card = {.rank = window.rank, .shown = true, .place = (uint32_t)place};
        window.clock.offset_ns += shift;
        tm_bytes_put(m->out, (gpu ? GPU_IN : 0u) | (host ? HOST_IN : 0u));
        status =
            tm_vec_append(&m->plan.cards, &card, 1) ? find_shares(m, &s, err) : tm_fail_memory(err);
    }
    if (status == TM_OK) {
        put_shares(m, &s, m->tiler->begin_ns - shift);
        status = tm_events_put(&m->writer, &window, place, err);
    }
    if (status == TM_OK)
        status = tm_details_put(&m->writer, &window, place, &m->encoding.details, err);
    tm_timeline_destroy(&window);
    return status;
}

static tm_status put_rank(builder *m, size_t place, size_t at, const tm_timeline *rank,
                          tm_error *err) {
    const tm_tile_wish *wish = m->wish;
    int64_t shift = tm_tiler_shift(m->tiler, rank), base = m->tiler->begin_ns - shift;
    const tm_serve_wish own = {
        .at = at,
        .from_ns = base + wish->from,
        .to_ns = base + wish->to,
        .gpu_most = least(GPU_MOST / wish->n_ranks, RANK_GPU_MOST),
        .host_most = HOST_MOST / (wish->n_hosts > 0 ? wish->n_hosts : 1),
        .host = !wish->shares && has(wish->hosts, wish->n_hosts, rank->rank),
        .launches = true,
    };
    return wish->shares ? put_alone(m, &own, base, err) : put_whole(m, &own, place, shift, err);
}

/* Writes all ranks of an encoding. Returns how many events they have. */
static size_t put_encoding(const tm_event_encoding *encoding, tm_dictionary *dictionary,
                           tm_bytes *out) {
    const tm_event_end *ends = encoding->ends.data;
    size_t n_events = 0;
    for (size_t i = 0; i < encoding->ends.n; i++) {
        tm_event_encoding_put(encoding, i, dictionary, out);
        n_events += ends[i].n_events;
    }
    return n_events;
}

static void put_block(const tm_bytes *block, tm_bytes *out) {
    tm_bytes_put(out, block->bytes.n);
    if (block->bytes.n > 0)
        tm_bytes_put_raw(out, block->bytes.data, block->bytes.n);
}

static tm_status put_events(builder *m, tm_error *err) {
    tm_dictionary dictionary;
    tm_bytes events = tm_bytes_make(), details = tm_bytes_make();
    TM_TRY(tm_dictionary_make(m->tiler->names, &dictionary, err));
    size_t n_events = put_encoding(&m->encoding.events, &dictionary, &events);
    (void)put_encoding(&m->encoding.details, &dictionary, &details);
    tm_dictionary_put(&dictionary, m->out);
    tm_bytes_put(m->out, n_events);
    put_block(&events, m->out);
    put_block(&details, m->out);
    bool failed = events.failed || details.failed || m->out->failed;
    tm_bytes_free(&events);
    tm_bytes_free(&details);
    tm_dictionary_free(&dictionary);
    return failed ? tm_fail_memory(err) : TM_OK;
}

static tm_status make(builder *m, tm_error *err) {
    size_t n;
    const tm_timeline *ranks = tm_serve_ranks(m->tiler->events, &n);
    tm_bytes_put(m->out, VERSION);
    tm_bytes_put(m->out, m->wish->n_ranks);
    for (size_t i = 0; i < m->wish->n_ranks; i++) {
        size_t at;
        TM_TRY(tm_serve_find_rank(m->tiler->events, m->wish->ranks[i], &at, err));
        TM_TRY(put_rank(m, i, at, &ranks[at], err));
    }
    return put_events(m, err);
}

tm_status tm_tile_make(const tm_tiler *tiler, const tm_tile_wish *wish, tm_bytes *out,
                       tm_error *err) {
    builder m = {.tiler = tiler, .wish = wish, .out = out, .shares = TM_VEC(uint8_t)};
    tm_page_encoding_init(&m.encoding);
    tm_operations_init(&m.operations);
    tm_plan_init(&m.plan, false);
    m.plan.all = true;
    m.writer = tm_event_writer_make();
    m.writer.plan = &m.plan;
    m.writer.operations = &m.operations;
    m.writer.job_begin_ns = tiler->begin_ns;
    m.writer.out = &m.encoding.events;
    tm_status status = make(&m, err);
    tm_event_writer_free(&m.writer);
    tm_plan_free(&m.plan);
    tm_operations_free(&m.operations);
    tm_page_encoding_free(&m.encoding);
    tm_vec_free(&m.shares);
    return status;
}
