/* Nsight Systems reports exported by `nsys export --type sqlite`: one SQLite database. */
#include <cjson/cJSON.h>

#include "nsys_emit.h"
#include "nsys_facts.h"
#include "nsys_nccl.h"
#include "nsys_report.h"
#include "nsys_units.h"
#include "readers/formats.h"

tm_status tm_nsys_emitter_init(tm_nsys_emitter *e, tm_error *err) {
    e->texts = (tm_vec){0};
    e->scratch = TM_VEC(char);
    e->domains = TM_VEC(tm_nsys_domain);
    e->ranges = TM_VEC(tm_nsys_range);
    e->fields = (tm_vec){0};
    e->records = (tm_vec){0};
    e->chains = (tm_vec){0};
    e->switchings = (tm_vec){0};
    e->mpi_rows = (tm_vec){0};
    e->blocks = (tm_keys){0};
    e->block_bytes = (tm_vec){0};
    e->has_sorted_records = false;
    for (int i = 0; i < TM_NSYS_TRACK_CACHE; i++)
        e->tracks[i].kind = UINT8_MAX;
    TM_TRY(tm_nsys_read_schemas(e->db, &e->fields, err));
    return tm_nsys_prepare_texts(e->db, &e->find_text, err);
}

void tm_nsys_emitter_free(tm_nsys_emitter *e) {
    sqlite3_finalize(e->find_text);
    TM_VECS_FREE(&e->texts, &e->scratch, &e->domains, &e->fields, &e->ranges, &e->records,
                 &e->chains, &e->switchings, &e->mpi_rows, &e->block_bytes);
    tm_keys_free(&e->blocks);
}

/* Sets the offset that is added to all times: the start of the recording since the epoch, minus the
 * shift that the export added to all times. If the host's monotonic clock is known, the start is
 * computed from that clock. The start counts as 0 if it is unknown, or if the export's times
 * already contain it. */
static tm_status set_base(tm_nsys_emitter *e, tm_error *err) {
    tm_nsys_clock clock;
    TM_TRY(tm_nsys_read_clock(e->db, &clock, err));
    int64_t utc_ns = clock.utc_ns;
    if (clock.system_ns >= 0 && e->unit->clock_ns >= 0)
        utc_ns = e->unit->clock_ns + clock.system_ns;
    e->base_ns = (clock.normalised || utc_ns < 0 ? 0 : utc_ns) - clock.shift_ns;
    e->trace->base_ns = clock.normalised || utc_ns < 0 ? -1 : utc_ns;
    e->trace->counts[TM_COUNT_NO_EPOCH] = !clock.normalised && utc_ns < 0;
    return TM_OK;
}

static tm_status read_all(tm_nsys_emitter *e, tm_error *err) {
    TM_TRY(set_base(e, err));
    TM_TRY(tm_nsys_read_facts(e, err));
    TM_TRY(tm_nsys_read_world_size(e->db, &e->trace->world_size, err));
    TM_TRY(tm_nsys_emit_all(e, err));
    TM_TRY(tm_nsys_name_tracks(e, err));
    int64_t *no_epoch = &e->trace->counts[TM_COUNT_NO_EPOCH];
    *no_epoch *= (int64_t)e->trace->events.n;
    return TM_OK;
}

/* SQLite opens the file itself. The source is only used for its path. */
static tm_status nsys_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                tm_trace *out, tm_error *err) {
    tm_db db;
    TM_TRY(tm_db_open(tm_source_path(source), &db, err));
    tm_nsys_emitter e = {.db = &db,
                         .unit = unit,
                         .source = source,
                         .names = names,
                         .trace = out,
                         .devices = TM_VEC(tm_nsys_device)};
    tm_status status = tm_nsys_emitter_init(&e, err);
    if (status == TM_OK)
        status = read_all(&e, err);
    tm_vec_free(&e.devices);
    tm_nsys_emitter_free(&e);
    tm_db_close(&db);
    return status;
}

static tm_status nsys_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    tm_vec units = TM_VEC(tm_unit);
    bool foreign;
    tm_status status = tm_nsys_list_units(source, true, &units, &foreign, err);
    if (status == TM_OK && units.n > 1)
        status = tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                         "contains %zu ranks, which must be read one by one", units.n);
    if (status == TM_OK)
        status = nsys_read_unit(source, units.data, names, out, err);
    tm_vec_free(&units);
    return status;
}

const tm_format tm_format_nsys = {
    .name = "nsys",
    .summary = "Nsight Systems: exports to SQLite (nsys export --type sqlite), or reports "
               "(.nsys-rep) with nsys on the PATH",
    .cannot_tell = "The memory of tensors, shapes of inputs and modules are not recorded. "
                   "Operators are recorded only if the program marks them (NVTX).",
    .sniff = tm_db_sniff,
    .read = nsys_read,
    .list_units = tm_nsys_list_units,
    .read_unit = nsys_read_unit,
    .converter = &tm_nsys_converter,
    .advice_unnamed_group = "NCCL names groups in NVTX payloads: nsys profile -t cuda,nvtx, then "
                            "export\n  with --include-blobs=true (in newer nsys, also for older "
                            "reports). Nsight\n  Systems 2023 and later record the groups of MPI",
    .advice_unknown_group = "give the traces of all ranks, or start recording before NCCL's "
                            "communicators\n  are created",
};
