/* Timelines that are written to a store and read back, and stores with invalid numbers. */
#include "store_job.h"

#include "timeline/metadata.h"
#include "timeline/trace.h"

/* Fields of each type of row of a rank, except references, as X(field). */
/* clang-format off */
#define SPAN_FIELDS(X)                                                                             \
    X(source) X(begin_ns) X(end_ns) X(gpu_begin_ns) X(gpu_end_ns) X(n_durations) X(n_gpu_events)   \
    X(counts[0]) X(counts[TM_COUNT_FLOW]) X(counts[TM_N_COUNTS - 1]) X(truncated)
#define STEP_FIELDS(X) X(number) X(begin_ns) X(end_ns) X(annotated)
#define TRACK_FIELDS(X)                                                                            \
    X(kind) X(device) X(stream) X(pid) X(tid) X(process_name) X(thread_name) X(first) X(count)
#define LAUNCH_FIELDS(X) X(correlation)
#define KERNEL_FIELDS(X) X(correlation)
#define LAUNCH_SHAPE_FIELDS(X)                                                                     \
    X(grid[0]) X(grid[1]) X(grid[2]) X(block[0]) X(block[1]) X(block[2])            \
    X(registers) X(shared_memory_bytes) X(blocks_per_sm) X(warps_per_sm) X(occupancy_pct)
#define COPY_FIELDS(X) X(correlation) X(bytes) X(bandwidth_gbps)
#define COLLECTIVE_FIELDS(X)                                                                       \
    X(comms_id) X(seq) X(in_elements) X(out_elements) X(group_size) X(rank_start) X(rank_stride)   \
    X(src_rank) X(dst_rank) X(name) X(dtype) X(group) X(group_description) X(group_ranks)          \
    X(in_split) X(out_split) X(kind) X(wait_ns) X(first_rank) X(first_event)
#define MEMORY_FIELDS(X)                                                                           \
    X(address) X(bytes) X(allocated_bytes) X(reserved_bytes) X(device_type) X(device)
#define COUNTER_FIELDS(X) X(value) X(series)
#define SHAPES_FIELDS(X) X(shapes)
#define INPUTS_FIELDS(X) X(types) X(concrete)
#define WAIT_FIELDS(X) X(correlation) X(record_correlation) X(stream) X(on_stream) X(kind)
#define OPERATOR_FIELDS(X) X(sequence) X(stack) X(thread)
#define XLA_FIELDS(X) X(program) X(hlo) X(category) X(origin) X(shape) X(flops) X(bytes)
#define UNIFIED_FIELDS(X) X(address)
/* clang-format on */

/* For each type of row: type, fields, array, and the array's number of rows. */
#define ROW_TYPES(X)                                                                               \
    X(tm_span, SPAN_FIELDS, spans, n_spans)                                                        \
    X(tm_step, STEP_FIELDS, steps, n_steps)                                                        \
    X(tm_track, TRACK_FIELDS, tracks, n_tracks)                                                    \
    X(tm_launch_attr, LAUNCH_FIELDS, attrs[TM_ATTR_LAUNCH], n_attrs[TM_ATTR_LAUNCH])               \
    X(tm_kernel_attr, KERNEL_FIELDS, attrs[TM_ATTR_KERNEL], n_attrs[TM_ATTR_KERNEL])               \
    X(tm_copy_attr, COPY_FIELDS, attrs[TM_ATTR_COPY], n_attrs[TM_ATTR_COPY])                       \
    X(tm_collective_attr, COLLECTIVE_FIELDS, attrs[TM_ATTR_COLLECTIVE],                            \
      n_attrs[TM_ATTR_COLLECTIVE])                                                                 \
    X(tm_memory_attr, MEMORY_FIELDS, attrs[TM_ATTR_MEMORY], n_attrs[TM_ATTR_MEMORY])               \
    X(tm_counter_attr, COUNTER_FIELDS, attrs[TM_ATTR_COUNTER], n_attrs[TM_ATTR_COUNTER])           \
    X(tm_shapes_attr, SHAPES_FIELDS, attrs[TM_ATTR_SHAPES], n_attrs[TM_ATTR_SHAPES])               \
    X(tm_inputs_attr, INPUTS_FIELDS, attrs[TM_ATTR_INPUTS], n_attrs[TM_ATTR_INPUTS])               \
    X(tm_wait_attr, WAIT_FIELDS, attrs[TM_ATTR_WAIT], n_attrs[TM_ATTR_WAIT])                       \
    X(tm_operator_attr, OPERATOR_FIELDS, attrs[TM_ATTR_OPERATOR], n_attrs[TM_ATTR_OPERATOR])       \
    X(tm_xla_attr, XLA_FIELDS, attrs[TM_ATTR_XLA], n_attrs[TM_ATTR_XLA])                           \
    X(tm_unified_attr, UNIFIED_FIELDS, attrs[TM_ATTR_UNIFIED], n_attrs[TM_ATTR_UNIFIED])

enum { N_RANKS = 3, N_ATTR_ROWS = 3, N_NAMES = 120 };

/* The job of store_job.h, made valid. Ranks 0 and 4 have three rows of every attribute. Different
 * fields have different numbers. */
typedef struct full_job {
    store_job job;
    tm_span span; /* span of rank 1, which is otherwise empty */
    max_align_t attrs[2][TM_N_ATTRS][N_ATTR_ROWS * 16];
    tm_launch_shape launch_shapes[2][2]; /* the first is shared by two kernels */
    char metadata[2][16];
    uint32_t lists[2][2];
} full_job;

static void add_rows(tm_timeline *t, tm_attr attr, void *rows, size_t room) {
    assert_true(N_ATTR_ROWS * tm_attr_size(attr) <= room);
    t->attrs[attr] = rows;
    t->n_attrs[attr] = N_ATTR_ROWS;
    for (size_t i = 0; i < N_ATTR_ROWS; i++) /* a counter event may have several series */
        for (int r = 0; r < tm_attr_n_refs(attr); r++)
            *tm_attr_ref(attr, (char *)rows + i * tm_attr_size(attr), r) =
                r > 0 && i == 1 ? TM_NO_EVENT
                : i == 2        ? 2 - (uint32_t)r
                                : (uint32_t)attr % 2;
}

static void fill_rank(full_job *full, int at) {
    int seed = at;
    tm_timeline *t = &full->job.ranks[at == 0 ? 0 : 2];
#define FILL_FIELD(field) row->field = (uint8_t)(seed = (seed + 7) % N_NAMES);
#define FILL(type, fields, array, n)                                                               \
    for (size_t i = 0; i < t->n; i++) {                                                            \
        type *row = (type *)t->array + i;                                                          \
        fields(FILL_FIELD)                                                                         \
    }
    ROW_TYPES(FILL)
    FILL(tm_launch_shape, LAUNCH_SHAPE_FIELDS, shapes, n_shapes)
#undef FILL
#undef FILL_FIELD
    for (size_t i = 0; i < t->n_spans; i++) {
        t->spans[i].end_ns += t->spans[i].begin_ns;
        t->spans[i].gpu_end_ns += t->spans[i].gpu_begin_ns;
        t->spans[i].truncated = i == 0;
    }
    for (size_t i = 0; i < t->n_steps; i++) {
        t->steps[i].end_ns += t->steps[i].begin_ns;
        t->steps[i].annotated = i == 0;
    }
    for (uint32_t i = 0; i < 2; i++) {
        t->tracks[i].kind = i == 0 ? TM_TRACK_GPU : TM_TRACK_CPU;
        t->tracks[i].first = i;
        t->tracks[i].count = i == 0 ? 1 : (uint32_t)t->n_events - 1;
    }
    for (int i = 0; i < N_ATTR_ROWS; i++) {
        ((tm_kernel_attr *)t->attrs[TM_ATTR_KERNEL])[i].shape = (uint32_t)i % 2;
        ((tm_collective_attr *)t->attrs[TM_ATTR_COLLECTIVE])[i].kind = (uint8_t)(at * 3 + i + 1);
        ((tm_wait_attr *)t->attrs[TM_ATTR_WAIT])[i].kind = (uint8_t)(at + i + 1);
    }
}

static void full_job_make(full_job *full) {
    memset(full, 0, sizeof *full);
    store_job_make(&full->job);
    for (int i = 0; tm_names_count(full->job.names) < N_NAMES; i++) {
        char text[16];
        snprintf(text, sizeof text, "name %d", i);
        tm_names_intern_string(full->job.names, text);
    }
    for (int at = 0; at < 2; at++) {
        tm_timeline *t = &full->job.ranks[at == 0 ? 0 : 2];
        t->host = 11 + (uint32_t)at;
        snprintf(full->metadata[at], sizeof full->metadata[at], "{\"rank\":%d}", 100 * at);
        t->metadata = full->metadata[at];
        t->n_metadata = strlen(t->metadata);
        t->metadata_lists = full->lists[at];
        t->n_metadata_lists = at == 0 ? 0 : 2;
        full->lists[at][0] = 21;
        full->lists[at][1] = 22;
        t->format = 31 + (uint32_t)at;
        t->device = at;
        t->clock = (tm_rank_clock){.offset_ns = -5 - at,
                                   .drift_ppb = 0.25 * (at + 1),
                                   .uncertainty_ns = 7 + at,
                                   .spread_ns = 9 + at,
                                   .domain = 11 + at,
                                   .way = (uint8_t)(TM_CLOCK_FITTED + at)};
        for (int c = 0; c < TM_N_COUNTS; c++)
            t->counts[c] = 1000 * at + c;
        for (int attr = 0; attr < TM_N_ATTRS; attr++)
            add_rows(t, (tm_attr)attr, full->attrs[at][attr], sizeof full->attrs[at][attr]);
        t->shapes = full->launch_shapes[at];
        t->n_shapes = 2;
        fill_rank(full, at);
    }
    full->job.ranks[1].spans = &full->span;
    full->job.ranks[1].n_spans = 1;
}

static void full_job_write(const full_job *full, const char *path, bool compress) {
    tm_error err = {0};
    if (store_job_write_as(path, compress, &full->job, NULL, &err) != TM_OK)
        fail_msg("%s", err.message);
}

static void assert_same_rows(const tm_timeline *a, const tm_timeline *b) {
#define SAME_FIELD(field) assert_true(x->field == y->field);
#define SAME(type, fields, array, n)                                                               \
    assert_int_equal(a->n, b->n);                                                                  \
    for (size_t i = 0; i < a->n; i++) {                                                            \
        const type *x = (const type *)a->array + i, *y = (const type *)b->array + i;               \
        fields(SAME_FIELD)                                                                         \
    }
    ROW_TYPES(SAME)
#undef SAME
#undef SAME_FIELD
    const tm_kernel_attr *x = a->attrs[TM_ATTR_KERNEL], *y = b->attrs[TM_ATTR_KERNEL];
    for (size_t i = 0; i < a->n_attrs[TM_ATTR_KERNEL]; i++)
        assert_memory_equal(tm_kernel_shape(a, &x[i]), tm_kernel_shape(b, &y[i]),
                            sizeof(tm_launch_shape));
    for (int attr = 0; attr < TM_N_ATTRS; attr++)
        for (size_t i = 0; i < a->n_attrs[attr]; i++) {
            size_t at = i * tm_attr_size((tm_attr)attr);
            for (int r = 0; r < tm_attr_n_refs((tm_attr)attr); r++)
                assert_int_equal(*tm_attr_ref((tm_attr)attr, (char *)a->attrs[attr] + at, r),
                                 *tm_attr_ref((tm_attr)attr, (char *)b->attrs[attr] + at, r));
        }
}

/* Compares with the clock as read: if the drift adds nothing, spans give the clock. */
static void assert_same_clock(const tm_timeline *read, const tm_timeline *written) {
    const tm_rank_clock *a = &read->clock, *b = &written->clock;
    assert_int_equal(a->offset_ns, b->offset_ns);
    assert_true(a->drift_ppb == b->drift_ppb);
    assert_int_equal(a->uncertainty_ns, b->uncertainty_ns);
    assert_int_equal(a->spread_ns, b->spread_ns);
    assert_int_equal(a->domain, b->domain);
    assert_int_equal(a->way, b->way);
    assert_int_equal(a->middle_ns, tm_timeline_middle(written));
}

static void assert_same_timeline(const tm_timeline *a, const tm_timeline *b) {
    size_t n = a->n_events;
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->world_size, b->world_size);
    assert_int_equal(a->host, b->host);
    assert_int_equal(a->n_metadata, b->n_metadata);
    assert_string_equal(tm_timeline_metadata(a).bytes, tm_timeline_metadata(b).bytes);
    assert_int_equal(a->n_metadata_lists, b->n_metadata_lists);
    for (size_t i = 0; i < a->n_metadata_lists; i++)
        assert_int_equal(a->metadata_lists[i], b->metadata_lists[i]);
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->device, b->device);
    assert_int_equal(a->truncated, b->truncated);
    assert_memory_equal(a->counts, b->counts, sizeof a->counts);
    assert_same_clock(a, b);
    assert_int_equal(n, b->n_events);
    if (n > 0) {
        assert_memory_equal(a->begin_ns, b->begin_ns, n * sizeof *a->begin_ns);
        assert_memory_equal(a->duration_ns, b->duration_ns, n * sizeof *a->duration_ns);
        assert_memory_equal(a->name, b->name, n * sizeof *a->name);
        assert_memory_equal(a->step, b->step, n * sizeof *a->step);
        assert_memory_equal(a->launch, b->launch, n * sizeof *a->launch);
        assert_memory_equal(a->category, b->category, n);
        assert_memory_equal(a->kind, b->kind, n);
        assert_memory_equal(a->role, b->role, n);
    }
    assert_same_rows(a, b);
}

typedef struct read_job {
    tm_store *store;
    tm_names *names;
    tm_timeline *ranks;
    size_t n;
} read_job;

/* Reads the ranks whose bit is set in @p wanted; bits are numbered by index. */
static tm_status read_some(const char *path, unsigned wanted, unsigned records, read_job *out,
                           tm_error *err) {
    bool asked[N_RANKS];
    for (int i = 0; i < N_RANKS; i++)
        asked[i] = wanted >> i & 1;
    *out = (read_job){0};
    TM_TRY(tm_store_open(path, &out->store, err));
    TM_TRY(tm_store_read_names(out->store, &out->names, err));
    TM_TRY(tm_store_read_ranks(out->store, &out->ranks, &out->n, err));
    assert_int_equal(out->n, N_RANKS);
    const tm_store_selection selection = {.ranks = asked, .records = records};
    return tm_store_read_timelines(out->store, out->names, out->ranks, &selection, out->n, err);
}

static tm_status read_store(const char *path, unsigned wanted, read_job *out, tm_error *err) {
    return read_some(path, wanted, TM_STORE_ALL_RECORDS, out, err);
}

static void read_job_free(read_job *job) {
    for (size_t i = 0; i < job->n; i++)
        tm_timeline_destroy(&job->ranks[i]);
    free(job->ranks);
    tm_names_destroy(job->names);
    tm_store_close(job->store);
}

TEST(timelines_are_read_back_as_they_were_written) {
    const char *path = store_path(state);
    full_job full;
    full_job_make(&full);
    for (int compress = 0; compress < 2; compress++) {
        tm_error err = {0};
        read_job found;
        full_job_write(&full, path, compress == 1);
        if (read_store(path, 7, &found, &err) != TM_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < N_RANKS; i++) {
            assert_same_timeline(&found.ranks[i], &full.job.ranks[i]);
            assert_int_equal(found.ranks[i].n_shapes, full.job.ranks[i].n_shapes);
        }
        read_job_free(&found);
    }
    tm_names_destroy(full.job.names);
}

TEST(only_the_wanted_tables_and_ranks_are_read) {
    const char *path = store_path(state);
    full_job full;
    read_job found;
    tm_error err = {0};
    full_job_make(&full);
    full_job_write(&full, path, true);
    assert_ok(read_some(path, 7, 1u << TM_RECORD_COLLECTIVES, &found, &err));
    for (size_t i = 0; i < N_RANKS; i++) {
        tm_timeline expected = full.job.ranks[i]; /* without the tables that were not read */
        for (int attr = 0; attr < TM_N_ATTRS; attr++)
            expected.n_attrs[attr] = attr == TM_ATTR_COLLECTIVE ? expected.n_attrs[attr] : 0;
        expected.metadata = NULL;
        expected.n_metadata = expected.n_metadata_lists = 0;
        assert_same_timeline(&found.ranks[i], &expected);
        assert_true(found.ranks[i].attrs[TM_ATTR_KERNEL] == NULL);
    }
    read_job_free(&found);
    assert_ok(read_store(path, 4, &found, &err));
    assert_null(found.ranks[0].begin_ns);
    assert_null(found.ranks[0].spans);
    assert_int_equal(found.ranks[0].n_events, 3);
    assert_same_timeline(&found.ranks[2], &full.job.ranks[2]);
    read_job_free(&found);
    tm_names_destroy(full.job.names);
}

/* Copies one column of a piece to the rank's rows from @p first on. */
static void append_rows(const tm_record_column *column, tm_timeline *to, const tm_timeline *piece,
                        size_t first, size_t n) {
    char *from, *array;
    if (column->stride == 0 || n == 0)
        return;
    memcpy(&from, (const char *)piece + column->array_at, sizeof from);
    memcpy(&array, (const char *)to + column->array_at, sizeof array);
    if (!array) {
        array = calloc(8, column->stride); /* no rank has more rows */
        memcpy((char *)to + column->array_at, &array, sizeof array);
    }
    assert_true(array && from && first + n <= 8);
    memcpy(array + first * column->stride, from, n * column->stride);
}

/* Reads the events of a rank, at most @p most at a time. Its other rows must have been read. */
static tm_status append_pieces(tm_store_pieces *pieces, tm_timeline *rank, size_t at, size_t most,
                               tm_error *err) {
    const tm_timeline *piece;
    size_t done[TM_N_RECORDS] = {0};
    for (size_t first = 0; first < rank->n_events; first += piece->n_events) {
        TM_TRY(tm_store_read_piece(pieces, at, first, TM_ROWS_ALL, &piece, err));
        size_t left = rank->n_events - first;
        assert_int_equal(piece->n_events, left < most ? left : most);
        for (int t = TM_RECORD_EVENTS; tm_record_is_of_events(t); t++) {
            const tm_record_table *table = &tm_record_tables[t];
            size_t n = tm_record_rows(table, piece);
            for (int c = 0; c < table->n_columns; c++)
                append_rows(&table->columns[c], rank, piece, done[t], n);
            tm_kernel_attr *kernels = t == TM_RECORD_KERNELS ? rank->attrs[TM_ATTR_KERNEL] : NULL;
            for (size_t i = done[t]; kernels && i < done[t] + n; i++)
                kernels[i].shape += (uint32_t)done[t]; /* it was an index into the piece's shapes */
            done[t] += n;
        }
    }
    for (int t = TM_RECORD_EVENTS + 1; tm_record_is_of_events(t); t++)
        memcpy((char *)rank + tm_record_tables[t].rows_at, &done[t], sizeof done[t]);
    return TM_OK;
}

/* Like read_store for all ranks, but reads pieces. */
static tm_status read_pieces(const char *path, size_t most, bool index, read_job *out,
                             tm_error *err) {
    const bool asked[N_RANKS] = {true, true, true};
    const tm_store_selection selection = {
        .ranks = asked, .records = TM_STORE_ALL_RECORDS, .no_events = true};
    tm_store_pieces *pieces;
    *out = (read_job){0};
    TM_TRY(tm_store_open(path, &out->store, err));
    TM_TRY(tm_store_read_names(out->store, &out->names, err));
    TM_TRY(tm_store_read_ranks(out->store, &out->ranks, &out->n, err));
    const tm_store_visit_plan plan = {.store = out->store,
                                      .names = out->names,
                                      .ranks = out->ranks,
                                      .n = out->n,
                                      .records = TM_STORE_ALL_RECORDS};
    TM_TRY(tm_store_open_pieces(&plan, most, &pieces, err));
    tm_status status =
        tm_store_read_timelines(out->store, out->names, out->ranks, &selection, out->n, err);
    if (status == TM_OK && index)
        status = tm_store_index_pieces(pieces, err);
    for (size_t k = 0; k < out->n && status == TM_OK; k++) {
        size_t i = index ? out->n - 1 - k : k; /* an index permits any order */
        assert_null(out->ranks[i].begin_ns);
        status = append_pieces(pieces, &out->ranks[i], i, most, err);
    }
    tm_store_close_pieces(pieces);
    return status;
}

TEST(pieces_are_the_whole) {
    const char *path = store_path(state);
    full_job full;
    full_job_make(&full);
    full_job_write(&full, path, true);
    for (size_t way = 2; way <= 13; way++) {
        tm_error err = {0};
        read_job found;
        if (read_pieces(path, way / 2, way % 2, &found, &err) != TM_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < N_RANKS; i++)
            assert_same_timeline(&found.ranks[i], &full.job.ranks[i]);
        read_job_free(&found);
    }
    tm_names_destroy(full.job.names);
}

static void damage(const char *path, const char *column, size_t row, int64_t value) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT), type = H5Dget_type(dataset);
    hid_t space = H5Dget_space(dataset);
    hsize_t at = row, one = 1;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    /* little-endian: the first bytes of the value are the shorter number */
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL) >= 0);
    assert_true(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
    store_seal(path);
}

/* Ranks 0, 1 and 4 have events 0-2, none, 3-7; tracks 0-1, none, 2-3; steps 0-1, none, 2; spans
 * 0-1, 2, 3-4. In each table of attributes, ranks 0 and 4 have three rows: 0-2 and 3-5. */
static const struct {
    const char *column;
    size_t row;
    int64_t value;
    const char *message; /* the message after "the store is damaged: " */
} damages[] = {
    {"/ranks/rank", 1, 0, "/ranks/rank is not ascending"},
    {"/ranks/rank", 0, -1, "column /clock/rank has an impossible value"},
    {"/ranks/truncated", 0, 2, "column /ranks/truncated has an impossible value"},
    {"/ranks/world_size", 2, 1000000001, "rank 4: no job has this many ranks"},
    {"/ranks/n_events", 0, -1, "/ranks has impossible row counts"},
    {"/ranks/n_events", 0, INT64_C(1) << 32, "/ranks has impossible row counts"},
    {"/ranks/n_events", 2, 6, "column /events/begin_ns has 8 rows, not 9"},
    {"/ranks/n_steps", 2, 0, "column /steps/rank has 3 rows, not 2"},
    {"/ranks/n_counters", 1, 1, "column /counters/event has 6 rows, not 7"},
    {"/ranks/n_flow", 0, -1, "rank 0: the data about its traces is impossible"},
    {"/ranks/host", 0, N_NAMES, "rank 0: the id of a text is not in the names"},
    {"/clock/offset_ns", 2, INT64_MAX, "rank 4: its clock is impossible"},
    {"/clock/uncertainty_ns", 0, -1, "rank 0: its clock is impossible"},
    {"/clock/way", 1, 3, "rank 1: its clock is impossible"},
    {"/spans/rank", 3, 1, "column /spans/rank has an impossible value"},
    {"/spans/begin_ns", 3, INT64_MAX, "rank 4: the data about its traces is impossible"},
    {"/spans/n_durations", 0, -1, "rank 0: the data about its traces is impossible"},
    {"/spans/source", 2, N_NAMES, "rank 1: the id of a text is not in the names"},
    {"/steps/end_ns", 2, -1, "rank 4: a step has an impossible number or time"},
    {"/steps/number", 0, -1, "rank 0: a step has an impossible number or time"},
    {"/tracks/kind", 0, 2, "column /tracks/kind has an impossible value"},
    {"/tracks/first", 1, 0, "rank 0: its tracks do not contain its events in order"},
    {"/tracks/first", 1, -1, "rank 0: its tracks do not contain its events in order"},
    {"/tracks/first", 2, 1, "column /tracks/first has an impossible value"},
    {"/tracks/count", 3, 3, "rank 4: its tracks do not contain its events in order"},
    {"/tracks/count", 3, UINT32_MAX, "rank 4: its tracks do not contain its events in order"},
    {"/events/begin_ns", 4, INT64_MAX, "rank 4: an event has an impossible time"},
    {"/events/begin_ns", 4, INT64_MIN, "rank 4: an event has an impossible time"},
    {"/events/begin_ns", 4, 1800000000000000000,
     "rank 4: its tracks do not contain its events in order"},
    {"/events/duration_ns", 0, -1, "rank 0: an event has an impossible time"},
    {"/events/name", 7, N_NAMES, "rank 4: the id of a text is not in the names"},
    {"/events/step", 0, 2, "column /events/step has an impossible value"},
    {"/events/step", 3, 1, "column /events/step has an impossible value"},
    {"/events/step", 3, -2, "column /events/step has an impossible value"},
    {"/events/launch", 0, 4, "column /events/launch has an impossible value"},
    {"/events/launch", 3, 2, "column /events/launch has an impossible value"},
    {"/events/launch", 3, -2, "column /events/launch has an impossible value"},
    {"/events/launch", 7, 8, "rank 4: an event refers to a launch or a step that does not exist"},
    {"/events/category", 0, TM_N_CATEGORIES, "column /events/category has an impossible value"},
    {"/events/kind", 0, 3, "column /events/kind has an impossible value"},
    {"/events/role", 0, 255, "column /events/role has an impossible value"},
    {"/launches/event", 3, 2, "column /launches/event has an impossible value"},
    {"/kernels/event", 2, 3, "rank 0: attributes are not in the order of its events"},
    {"/kernels/event", 2, -1, "rank 0: attributes are not in the order of its events"},
    {"/memory/event", 5, 2, "column /memory/event has an impossible value"},
    {"/collective_events/kind", 0, TM_N_COLLECTIVE_KINDS,
     "column /collective_events/kind has an impossible value"},
    {"/collective_events/out_split", 5, UINT32_MAX, "rank 4: the id of a text is not in the names"},
    {"/counters/series", 0, N_NAMES, "rank 0: the id of a text is not in the names"},
    {"/shapes/shapes", 0, N_NAMES, "rank 0: the id of a text is not in the names"},
    {"/waits/kind", 0, TM_N_WAIT_KINDS, "column /waits/kind has an impossible value"},
    {"/waits/call", 0, 4, "column /waits/call has an impossible value"},
    {"/waits/call", 0, 3, "rank 0: a wait refers to a call that does not exist"},
    {"/waits/record", 5, 8, "rank 4: a wait refers to a call that does not exist"},
    {"/operators/stack", 0, N_NAMES, "rank 0: the id of a text is not in the names"},
    {"/operators/forward", 0, 3, "rank 0: an operator refers to an operator that does not exist"},
};

/* Returns the bytes of the job's store, for copies of it. The caller frees them. */
static char *whole_store(const char *path, bool compress, size_t *size) {
    full_job full;
    full_job_make(&full);
    full_job_write(&full, path, compress);
    tm_names_destroy(full.job.names);
    char *bytes = store_bytes(path, size);
    assert_non_null(bytes);
    return bytes;
}

TEST(a_number_that_cannot_be_is_refused) {
    const char *path = store_path(state);
    char expected[256];
    size_t size;
    char *whole = whole_store(path, false, &size);
    for (size_t i = 0; i < COUNT(damages); i++) {
        tm_error err = {0};
        read_job found;
        store_put_bytes(path, whole, size);
        damage(path, damages[i].column, damages[i].row, damages[i].value);
        tm_status status = read_store(path, 7, &found, &err);
        snprintf(expected, sizeof expected, "the store is damaged: %s", damages[i].message);
        if (status != TM_ERR_INPUT || strcmp(err.message, expected) != 0)
            fail_msg("%s row %zu: %s", damages[i].column, damages[i].row, err.message);
        assert_string_equal(err.path, path);
        read_job_free(&found);
        status = read_pieces(path, 1 + i % 6, i % 4 == 0, &found, &err);
        if (status != TM_ERR_INPUT || strcmp(err.message, expected) != 0)
            fail_msg("%s row %zu, by pieces: %s", damages[i].column, damages[i].row, err.message);
        read_job_free(&found);
    }
    free(whole);
}

/* The landing set tests one column of each table. */
TEST(a_column_that_is_missing_is_named) {
    const char *path = store_path(state);
    char expected[256];
    size_t size;
    char *whole = whole_store(path, true, &size);
    for (int t = 0; t < TM_N_RECORDS; t++) {
        const tm_record_table *table = &tm_record_tables[t];
        const int step = in_full_set() ? 1 : table->n_columns;
        for (int c = (int)first_of_every((size_t)step); c < table->n_columns; c += step) {
            tm_error err = {0};
            read_job found;
            char column[128];
            store_put_bytes(path, whole, size);
            snprintf(column, sizeof column, "%s/%s", table->path, table->columns[c].name);
            hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
            assert_true(H5Ldelete(file, column, H5P_DEFAULT) >= 0);
            H5Fclose(file);
            store_seal(path);
            tm_status status = read_store(path, 7, &found, &err);
            bool is_needed = table->columns[c].take && !table->columns[c].later;
            assert_int_equal(status, is_needed ? TM_ERR_INPUT : TM_OK);
            snprintf(expected, sizeof expected,
                     "the store has no column %s: merge its traces again", column);
            if (status != TM_OK)
                assert_string_equal(err.message, expected);
            read_job_free(&found);
        }
    }
    free(whole);
}

TEST(a_store_without_ranks_is_refused) {
    const char *path = store_path(state);
    tm_error err = {0};
    tm_timeline *ranks;
    size_t n;
    tm_store_writer *writer = store_begin(path, false, 0);
    const tm_record_table *table = &tm_record_tables[TM_RECORD_RANKS];
    assert_ok(tm_store_put_group(writer, table->path, table->doc, &err));
    assert_ok(tm_store_begin_column(writer, table->path, &table->columns[0], 0, &err));
    assert_ok(tm_store_end_column(writer, &err));
    assert_ok(tm_store_commit(writer, &err));
    tm_store *store = store_open(path);
    assert_int_equal(tm_store_read_ranks(store, &ranks, &n, &err), TM_ERR_INPUT);
    assert_string_equal(err.message,
                        "the store has no events, only tables (tmerge show, tmerge report)");
    tm_store_close(store);
}

/* Silences HDF5's own error output. */
static int quiet_folder(void **state) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return store_folder(state);
}

RUN_TESTS_WITH(quiet_folder, store_remove_folder)
