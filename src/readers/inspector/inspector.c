/* NCCL's inspector, a plugin of NCCL 2.28 and later that may run permanently. It writes a file per
 * process, HOST-pidPID.log, with one JSON object per operation. Ranks are numbered within
 * communicators; times are the host's clock in microseconds since the epoch. Checked against
 * NVIDIA/nccl, plugins/profiler/inspector (before 2.29.7 ext-profiler/inspector), at 2.28.3,
 * 2.28.9, 2.29.3, 2.29.7, 2.30.3 and 2.30.7: all of them write format v4.0. Transfers and the names
 * of communicators exist from 2.30 on. */
#include "inspector_emit.h"
#include "readers/formats.h"

/* Tests several lines at the start, because one of them may be damaged or have an unusual value. */
static bool inspector_sniff(const char *head, size_t size, bool whole) {
    enum { LOOKED_AT = 16 };
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    tm_inspector_record record;
    const char *p = head;
    for (int i = 0; i < LOOKED_AT && p; i++) {
        p = tm_json_space(p);
        if (tm_inspector_begins(&cursor, p)) {
            bool parsed = tm_inspector_record_parse(&cursor, p, &record) != NULL;
            if (tm_inspector_has_form(&record, !parsed && cursor.fail >= cursor.end))
                return true;
        }
        p = memchr(p, '\n', (size_t)(cursor.end - p));
        p = p ? p + 1 : NULL;
    }
    return false;
}

/* Returns the number of members that the file has of the largest communicator. Sets *alone to
 * whether all other communicators are smaller. */
static size_t count_of_largest(const tm_keys *members, bool *alone) {
    const tm_inspector_member *v = members->keys.data;
    size_t n = 0;
    while (n < members->keys.n && v[n].id == v->id && v[n].n_ranks == v->n_ranks)
        n++;
    *alone = n == members->keys.n || v[n].n_ranks < v->n_ranks;
    return n;
}

static bool list_member(void *members, const tm_inspector_record *record) {
    return tm_inspector_add_member(members, record);
}

/* A process with several GPUs has several ranks in the largest communicator; each is a unit. The
 * file does not record to which GPU each of the other communicators belongs. */
static tm_status inspector_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                      tm_error *err) {
    tm_keys members = TM_KEYS(tm_inspector_member);
    bool alone, cut;
    int64_t others = 0;
    (void)known;
    *foreign = false;
    tm_status status = tm_inspector_read_file(source, list_member, &members, &cut, &others, err);
    tm_inspector_sort_members(&members);
    const tm_inspector_member *v = members.keys.data;
    size_t n = status == TM_OK ? count_of_largest(&members, &alone) : 0;
    for (size_t i = 0; i < n && n > 1 && status == TM_OK; i++) {
        const tm_unit unit = {
            .process = v[i].n_ranks, .devices = -1, .rank = v[i].rank, .clock_ns = -1};
        if (!tm_vec_append(units, &unit, 1))
            status = tm_fail_memory(err);
    }
    tm_keys_free(&members);
    return status;
}

/* Reads the records of one rank, and lists the members of communicators at the same time. */
typedef struct rank_reader {
    tm_keys members;
    tm_inspector_emitter emitter;
} rank_reader;

static bool take_record(void *context, const tm_inspector_record *record) {
    rank_reader *r = context;
    return tm_inspector_add_member(&r->members, record) && tm_inspector_emit(&r->emitter, record);
}

/* Sets the rank's number in the job. This is its number in the communicator of all ranks, which is
 * the largest one. If several communicators are equally large, none of them has all ranks. If the
 * file has several ranks of the largest communicator, the rank stays unknown. */
static void tell_rank(tm_trace *trace, const tm_unit *unit, tm_keys *members) {
    bool alone;
    tm_inspector_sort_members(members);
    const tm_inspector_member *v = members->keys.data;
    size_t n = count_of_largest(members, &alone);
    if (n == 0)
        return;
    /* A job has at least as many ranks as any of its communicators. */
    trace->world_size = v->n_ranks;
    trace->rank = unit ? unit->rank : n == 1 && alone ? v->rank : -1;
}

static tm_status inspector_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                     tm_trace *out, tm_error *err) {
    rank_reader r = {
        TM_KEYS(tm_inspector_member),
        {.unit = unit, .largest = unit ? unit->process : -1, .names = names, .trace = out}};
    tm_status status = tm_inspector_read_file(source, take_record, &r, &out->truncated,
                                              &out->counts[TM_COUNT_NOT_RECORD], err);
    if (status == TM_OK && out->truncated && r.members.keys.n == 0)
        status = tm_fail_nothing(err, tm_source_path(source), tm_source_offset(source),
                                 "the file ends in its first record");
    if (status == TM_OK && out->events.n == 0 && out->counts[TM_COUNT_NO_TIME] > 0)
        status = tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                         "these records do not say when operations ran, so tmerge cannot make a "
                         "timeline of them: record with NCCL_INSPECTOR_DUMP_VERBOSE=1 "
                         "(perf_summary_exporter.py of NCCL's inspector sums the bandwidths)");
    if (status == TM_OK)
        tell_rank(out, unit, &r.members);
    const tm_inspector_member *lowest = r.members.keys.data;
    /* The counts are those of the whole file. Only the trace of the lowest rank keeps them, so that
     * they are added once. */
    if (status == TM_OK && unit && lowest->rank != unit->rank)
        out->counts[TM_COUNT_OTHER_GPU] = out->counts[TM_COUNT_NOT_RECORD] = 0;
    tm_keys_free(&r.members);
    out->metadata = tm_names_intern_string(names, "{\"distributedInfo\":{" TM_COMPUTE_UNKNOWN "}}");
    if (status == TM_OK && out->metadata == TM_NAME_FAILED)
        status = tm_fail_memory(err);
    return status;
}

static tm_status inspector_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return inspector_read_unit(source, NULL, names, out, err);
}

const tm_format tm_format_inspector = {
    .name = "inspector",
    .summary = "NCCL Inspector: records of each communication operation, JSON lines "
               "(NCCL_INSPECTOR_DUMP_VERBOSE=1), plain, gzip or zstd",
    .cannot_tell = "Only NCCL's operations are recorded: the computation of a rank is unknown.",
    .of_communicator = true,
    .sniff = inspector_sniff,
    .read = inspector_read,
    .list_units = inspector_list_units,
    .read_unit = inspector_read_unit,
    .richer = "torch.profiler",
};
