/* Good stores pass the check; each possible fault is reported. */
#include "store_job.h"

#include "table_fixture.h"
#include "tmerge/check.h"

typedef struct heard {
    int n;
    char last[TM_MESSAGE_MAX];
    char path[TM_PATH_MAX];
} heard;

static void hear(void *context, const tm_error *fault) {
    heard *h = context;
    h->n++;
    memcpy(h->last, fault->message, sizeof h->last);
    memcpy(h->path, fault->path, sizeof h->path);
}

static tm_status check(const char *path, const tm_tables *known, heard *h, tm_store_contents *out) {
    static const tm_tables nothing = {0};
    tm_error err = {0};
    *h = (heard){0};
    const tm_fault_sink sink = {hear, h};
    return tm_store_check(path, known ? known : &nothing, &sink, out, &err);
}

static int64_t schema_datasets(void) {
    int64_t n = 2; /* number of names */
    for (int t = 0; t < TM_N_RECORDS; t++)
        n += tm_record_tables[t].n_columns;
    return n;
}

TEST(a_good_store_is_counted) {
    for (int compress = 0; compress < 2; compress++) {
        const char *path = store_path(state);
        heard h;
        tm_store_contents found = {0};
        size_t size = 0;
        fixture f = make_sample();
        assert_ok(store_job_write(path, compress == 1, f.table, &f.err));
        free(store_bytes(path, &size));
        for (int known = 0; known < 2; known++) {
            assert_ok(check(path, known ? &f.tables : NULL, &h, &found));
            assert_int_equal(h.n, 0);
            assert_int_equal(found.n_datasets, schema_datasets() + 1);
            assert_int_equal(found.n_events, 3 + 0 + 5);
            assert_int_equal(found.bytes, size);
        }
        assert_int_equal(f.table->n_rows, 3);
        tm_tables_destroy(&f.tables);
    }
}

/* Checks a store of this changed job. Frees the job's names. */
static tm_status check_job(void **state, bool compress, store_job *job, heard *h,
                           tm_store_contents *out) {
    tm_error err = {0};
    assert_ok(store_job_write_as(store_path(state), compress, job, NULL, &err));
    tm_names_destroy(job->names);
    return check(store_path(state), NULL, h, out);
}

TEST(a_store_without_ranks_is_good) {
    heard h;
    store_job job;
    tm_store_contents found = {.n_events = -1};
    store_job_make(&job);
    for (int r = 0; r < 3; r += 2) /* ranks 0 and 4 have only a row in /ranks and one in /clock */
        job.ranks[r] = (tm_timeline){.rank = job.ranks[r].rank};
    assert_ok(check_job(state, true, &job, &h, &found));
    assert_int_equal(found.n_events, 0);
}

/* The job has ranks 0, 1 and 4 with events 0 to 2, none, and 3 to 7. Ranks 0 and 4 have two tracks
 * each: the first has one event and the second the others, so tracks begin at 0, 1, 3 and 4. There
 * are three names and three steps. Rank 4 has a second kernel, which is not counted. */
#define AT(field) offsetof(store_job, field), sizeof(((store_job *)0)->field)
static const struct {
    size_t at, size;
    int64_t value;
    const char *message;
} wrong[] = {
    {AT(name[0][1]), 3, "/events/name: row 1 is 3, which is not a valid name"},
    {AT(launch[1][2]), 100, "/events/launch: row 5 is 103, which is not a valid event"},
    {AT(tracks[1][1].count), 3, "/ranks: row 2 has different events than its tracks"},
    {AT(tracks[0][1].thread_name), 7, "/tracks/thread_name: row 1 is 7, which is not a valid name"},
    {AT(step[1][1]), 5, "/events/step: row 4 is 7, which is not a valid step"},
    {AT(category[0][0]), 250, "/events/category: row 0 is 250, which is not a valid word"},
    {AT(steps[0][0].annotated), 2, "/steps/annotated: row 0 is 2, which is not a valid word"},
    {AT(begin[1][3]), 5, "/events/begin_ns: row 6 is less than the row before"},
    {AT(kernels[0][0].event), TM_NO_EVENT,
     "/kernels/event: row 0 is -1, which is not a valid event"},
    {AT(ranks[2].n_attrs[TM_ATTR_KERNEL]), 2, "/kernels/event: row 2 is less than the row before"},
    {AT(tracks[0][1].first), 2,
     "/tracks: row 1 does not start at the end of the row before, or ends after the events"},
    {AT(tracks[1][1].count), 100,
     "/tracks: row 3 does not start at the end of the row before, or ends after the events"},
    {AT(ranks[2].rank), 1, "/ranks/rank: row 2 is not larger than the row before"},
    {AT(ranks[0].n_tracks), 0, "/ranks: row 0 has different events than its tracks"},
};

/* Little-endian: the first bytes of the value are the shorter number. */
static void spoil(store_job *job, size_t i) {
    job->kernels[1][1].event = 1;
    memcpy((char *)job + wrong[i].at, &wrong[i].value, wrong[i].size);
}

TEST(a_row_that_is_wrong_is_reported) {
    for (size_t i = 0; i < COUNT(wrong); i++) {
        heard h;
        tm_store_contents found;
        store_job job;
        store_job_make(&job);
        spoil(&job, i);
        assert_int_equal(check_job(state, i % 2 == 0, &job, &h, &found), TM_ERR_INPUT);
        assert_string_equal(h.last, wrong[i].message);
        assert_string_equal(h.path, store_path(state));
        assert_int_equal(h.n, 1);
    }
}

TEST(every_fault_is_reported) {
    heard h;
    tm_store_contents found;
    store_job job;
    store_job_make(&job);
    for (size_t i = 0; i < 3; i++)
        spoil(&job, i);
    assert_int_equal(check_job(state, true, &job, &h, &found), TM_ERR_INPUT);
    assert_int_equal(h.n, 3);
}

/* Later tracks may begin before earlier ones end. */
TEST(tracks_overlap_in_time) {
    heard h;
    tm_store_contents found;
    store_job job;
    store_job_make(&job);
    job.begin[0][0] = job.begin[1][0] = INT64_MAX;
    assert_ok(check_job(state, true, &job, &h, &found));
}

TEST(a_known_table_must_have_its_types_and_units) {
    const char *path = store_path(state);
    heard h;
    tm_store_contents found;
    fixture f = make_sample();
    tm_column columns[N_SAMPLE];
    tm_table_def def = sample;
    assert_ok(store_job_write(path, true, f.table, &f.err));
    memcpy(columns, sample_columns, sizeof columns);
    def.columns = columns;
    columns[COMPUTE].unit = "us";
    fixture known = make(&def);
    assert_int_equal(check(path, &known.tables, &h, &found), TM_ERR_INPUT);
    assert_string_equal(h.last, "table test.sample: column compute_ns does not have the unit 'us'");
    columns[COMPUTE].type = TM_TEXT;
    assert_int_equal(check(path, &known.tables, &h, &found), TM_ERR_INPUT);
    assert_string_equal(h.last, "the store's table test.sample has an unexpected type in column "
                                "compute_ns");
    assert_int_equal(h.n, 1);
    tm_tables_destroy(&known.tables);
    tm_tables_destroy(&f.tables);
}

static void expect_damage(const char *path, char *bytes, size_t size, size_t at) {
    heard h;
    tm_store_contents found;
    bytes[at] ^= 4;
    store_put_bytes(path, bytes, size);
    assert_int_equal(check(path, NULL, &h, &found), TM_ERR_INPUT);
    assert_int_equal(h.n, 1);
    bytes[at] ^= 4;
}

/* Finds bytes in every third extent of data (which third depends on TMERGE_SEED), and bytes in the
 * structure and in the checksums. Returns their number. */
static size_t many_places(const char *bytes, size_t size, const uint64_t end[5], size_t *out) {
    tm_extent extent;
    size_t n = 0;
    for (size_t i = first_of_every(3); i < end[2]; i += 3) {
        memcpy(&extent, bytes + end[1] + i * sizeof extent, sizeof extent);
        out[n++] = extent.offset + i % extent.size;
    }
    for (size_t at = 0; at < end[1]; at += 997)
        out[n++] = at;
    for (size_t at = end[1]; at < size; at += 17)
        out[n++] = at;
    return n;
}

/* Finds one byte in each of: a column of each record table that has rows; the names; a result
 * table; the begin, middle and end of the structure; the three numbers of the first and last
 * extent; the last five numbers of the file. Returns their number. */
static size_t a_place_of_each_kind(const char *path, size_t size, const uint64_t end[5],
                                   size_t *out) {
    char column[128];
    size_t n = 0;
    for (int t = 0; t < TM_N_RECORDS; t++) {
        const tm_record_table *table = &tm_record_tables[t];
        const size_t c = first_of_every((size_t)table->n_columns);
        snprintf(column, sizeof column, "%s/%s", table->path, table->columns[c].name);
        off_t at = store_last_byte(path, column);
        if (at >= 0)
            out[n++] = (size_t)at;
    }
    assert_true(n >= 6); /* /ranks, /clock, /steps, /tracks, /events, /kernels ... */
    out[n++] = (size_t)store_last_byte(path, "/names/bytes");
    out[n++] = (size_t)store_last_byte(path, "/analysis/test/sample");
    for (size_t k = 0; k < 3; k++) {
        out[n++] = k * (end[1] - 1) / 2;
        out[n++] = end[1] + 8 * k;
        out[n++] = end[1] + end[2] * sizeof(tm_extent) - 1 - 8 * k;
    }
    for (size_t k = 0; k < 5; k++)
        out[n++] = size - 1 - 8 * k;
    return n;
}

/* Each flipped bit gives one fault: damaged data does not hide others. */
TEST(a_flipped_bit_in_any_piece_of_a_store_is_reported) {
    for (int compress = 0; compress < 2; compress++) {
        const char *path = store_path(state);
        size_t size = 0;
        uint64_t end[5]; /* magic, bytes of content, number of extents, two checksums */
        fixture f = make_sample();
        assert_ok(store_job_write(path, compress == 1, f.table, &f.err));
        char *bytes = store_bytes(path, &size);
        memcpy(end, bytes + size - sizeof end, sizeof end);
        assert_true(end[2] > 100);
        size_t *places = calloc(size, sizeof *places);
        assert_non_null(places);
        size_t n = in_full_set() ? many_places(bytes, size, end, places)
                                 : a_place_of_each_kind(path, size, end, places);
        for (size_t i = 0; i < n; i++)
            expect_damage(path, bytes, size, places[i]);
        free(places);
        free(bytes);
        tm_tables_destroy(&f.tables);
    }
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
