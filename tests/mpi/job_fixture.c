/* Jobs of ranks made by hand, matched and analysed by several processes. */
#include "job_fixture.h"

#include <stdio.h>

#include "mpi/align_clocks.h"
#include "mpi/gather_tables.h"
#include "mpi/host_ranks.h"
#include "mpi/match.h"
#include "mpi/wait.h"
#include "mpi_main.h"

static int holder(int spread, int64_t rank, int64_t n_ranks, int n_processes) {
    if (spread == BLOCKS)
        return (int)(rank * n_processes / n_ranks);
    return spread == ROUND_ROBIN ? (int)(rank % n_processes) : n_processes - 1;
}

static void build_share(share *s, MPI_Comm comm, const job_def *def, int spread) {
    int self, n_processes;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    *s = (share){.ground = open_ground()};
    s->timelines = calloc((size_t)def->n_ranks, sizeof *s->timelines);
    assert_non_null(s->timelines);
    for (int64_t rank = 0; rank < def->n_ranks; rank++)
        if (holder(spread, rank, def->n_ranks, n_processes) == self)
            s->timelines[s->n++] = def->build(&s->ground, rank);
}

share run_job(MPI_Comm comm, const job_def *def, int spread) {
    share s;
    int self;
    MPI_Comm_rank(comm, &self);
    build_share(&s, comm, def, spread);
    const tm_match_options options = {
        .world_size = def->n_ranks,
        .names = s.ground.names,
        .wall_uncertainty_ns = TM_WALL_UNCERTAINTY_NS,
    };
    const tm_job job = {.n_ranks = (size_t)def->n_ranks,
                        .world_size = def->n_ranks,
                        .aligned = !def->apart,
                        .align = def->apart ? "none" : "utc",
                        .names = s.ground.names};
    tm_error *err = &s.ground.err;
    assert_int_equal(tm_mpi_match(comm, &options, s.timelines, s.n, &s.collectives, err), TM_OK);
    const tm_align_options align = {def->apart ? TM_ALIGN_NONE : TM_ALIGN_UTC,
                                    TM_WALL_UNCERTAINTY_NS, s.ground.names};
    assert_int_equal(tm_mpi_align(comm, &align, s.timelines, s.n, &s.collectives, err), TM_OK);
    int64_t reported = def->n_ranks_reported ? def->n_ranks_reported : def->n_ranks;
    assert_int_equal(tm_mpi_wait(comm, reported, s.timelines, s.n, &s.collectives, err), TM_OK);
    /* only here: before, ids of names would have to be the same on every process */
    assert_int_equal(tm_mpi_infer_hosts(comm, s.ground.names, s.timelines, s.n, err), TM_OK);
    assert_int_equal(tm_analysis_tables(&s.tables, err), TM_OK);
    for (size_t i = 0; i < s.n; i++)
        analyse_timeline(&s.ground, &s.timelines[i], &s.tables);
    assert_int_equal(tm_analyse_collectives(&s.collectives, &s.tables, err), TM_OK);
    assert_int_equal(tm_mpi_gather_tables(comm, &s.tables, err), TM_OK);
    if (self == 0)
        assert_int_equal(tm_analyse_job(&job, &s.tables, err), TM_OK);
    return s;
}

void close_share(share *s) {
    for (size_t i = 0; i < s->n; i++)
        tm_timeline_destroy(&s->timelines[i]);
    free(s->timelines);
    tm_collectives_free(&s->collectives);
    tm_tables_destroy(&s->tables);
    close_ground(&s->ground);
}

const tm_table *find(const share *s, const char *name) {
    const tm_table *table = tm_tables_find(&s->tables, name);
    assert_non_null(table);
    return table;
}

int64_t int_at(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    assert_false(cell->null);
    return cell->value.i;
}

void check_rows(const share *s, const char *name, const char *const *rows, size_t n) {
    const tm_table *table = find(s, name);
    for (size_t i = 0; i < n; i++)
        assert_row(table, i, rows[i]);
    assert_int_equal(table->n_rows, n);
}

void check_five_steps(const share *s, const char *row) {
    char rows[5][128];
    const char *each[5];
    for (int step = 1; step <= 5; step++) {
        snprintf(rows[step - 1], sizeof rows[0], "step=%d %s", step, row);
        each[step - 1] = rows[step - 1];
    }
    CHECK_ROWS(s, "stragglers.step", each);
}

void check_job(const job_def *def, void (*check)(const share *s)) {
    for (int spread = 0; spread < N_SPREADS; spread++) {
        share s = run_job(MPI_COMM_WORLD, def, spread);
        if (this_process() == 0)
            check(&s);
        close_share(&s);
    }
}

static void assert_same_bytes(const tm_table *a, const tm_table *b) {
    void *bytes[2];
    size_t sizes[2];
    tm_error err;
    assert_int_equal(tm_table_pack(a, &bytes[0], &sizes[0], &err), TM_OK);
    assert_int_equal(tm_table_pack(b, &bytes[1], &sizes[1], &err), TM_OK);
    if (sizes[0] != sizes[1] || memcmp(bytes[0], bytes[1], sizes[0]) != 0)
        fail_msg("%s depends on the processes", a->def->name);
    free(bytes[0]);
    free(bytes[1]);
}

void check_same(const job_def *def, const share *alone, int spread) {
    share s = run_job(MPI_COMM_WORLD, def, spread);
    for (size_t t = 0; this_process() == 0 && t < s.tables.n_tables; t++)
        if (!s.tables.tables[t].def->internal)
            assert_same_bytes(&s.tables.tables[t], &alone->tables.tables[t]);
    close_share(&s);
}
