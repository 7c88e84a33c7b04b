#include "nsys_mpi_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/sorted.h"

/* Names of functions, without MPI_, without the I of functions that do not block, and without
 * suffixes. The first name that matches is used. */
static const struct {
    const char *stem;
    uint8_t kind;
} functions[] = {
    {"allreduce", TM_COLL_ALLREDUCE},
    {"allgather", TM_COLL_ALLGATHER},
    {"reduce_scatter", TM_COLL_REDUCESCATTER},
    {"reduce", TM_COLL_REDUCE},
    {"bcast", TM_COLL_BROADCAST},
    {"alltoall", TM_COLL_ALLTOALL},
    {"gather", TM_COLL_GATHER},
    {"scatter", TM_COLL_SCATTER},
    {"barrier", TM_COLL_BARRIER},
    {"scan", TM_COLL_OTHER},
    {"exscan", TM_COLL_OTHER},
    {"sendrecv", TM_COLL_SENDRECV},
    {"send", TM_COLL_SEND},
    {"ssend", TM_COLL_SEND},
    {"bsend", TM_COLL_SEND},
    {"rsend", TM_COLL_SEND},
    {"recv", TM_COLL_RECV},
    {"mrecv", TM_COLL_RECV},
};

/* Returns whether the rest of a function's name is a valid suffix. For example, _c marks functions
 * with large counts, and v or w marks functions with a count for each rank. */
static bool fits(const char *rest, tm_mpi_function *out) {
    static const char *const ends[] = {"", "_c", "_block", "_block_c", "_replace", "_replace_c"};
    static const char *const vectors[] = {"v", "w", "v_c", "w_c"};
    static const char *const made[] = {"_init", "_init_c"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(rest, ends[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (strcasecmp(rest, vectors[i]) == 0)
            return out->varies = true;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (strcasecmp(rest, made[i]) == 0)
            return out->is_made = true;
    return false;
}

static bool find_stem(const char *name, tm_mpi_function *out) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t size = strlen(functions[i].stem);
        if (strncasecmp(name, functions[i].stem, size) == 0 && fits(name + size, out)) {
            out->kind = functions[i].kind;
            return true;
        }
    }
    return false;
}

tm_mpi_function tm_mpi_function_of(tm_text name) {
    tm_mpi_function out = {.kind = TM_COLL_OTHER};
    const char *p = name.bytes;
    if (strncasecmp(p, "mpi_", 4) != 0)
        return out;
    p += 4;
    out.is_start = strcasecmp(p, "start") == 0 || strcasecmp(p, "startall") == 0;
    out.moves = find_stem(p, &out);
    if (!out.moves && (*p == 'I' || *p == 'i'))
        out.moves = out.is_begun = find_stem(p + 1, &out);
    return out;
}

/* State while communicators are read, in the order of their creation. */
typedef struct reading {
    tm_nsys_emitter *e;
    tm_vec *out;
    int64_t rank; /* -1: unknown */
    bool has;
} reading;

static tm_status take_rank(void *context, sqlite3_value **values, tm_error *err) {
    reading *r = context;
    (void)err;
    r->rank = tm_db_int(values, 1, -1);
    return TM_OK;
}

enum { RANK, SINCE, HANDLE, PARENT, PLACE, SIZE, ROOT, UID, N_COLUMNS };

static tm_mpi_comm *last_of(const tm_vec *comms, int64_t handle) {
    tm_mpi_comm *v = comms->data;
    for (size_t i = comms->n; i-- > 0;)
        if (v[i].handle == handle)
            return &v[i];
    return NULL;
}

/* Names a copy of a communicator by its parent and the number of copies made so far. All ranks make
 * copies in the same order, so the name is the same on all of them. */
static uint32_t copy_name(const reading *r, tm_mpi_comm *parent) {
    char text[96];
    const tm_text of = tm_names_text(r->e->names, parent->name);
    parent->n_copies++;
    int n = snprintf(text, sizeof text, "%s dup %d", of.bytes, parent->n_copies);
    /* The name of a copy of a copy of a copy, and so on, may be too long. */
    if (n >= (int)sizeof text)
        snprintf(text, sizeof text, "dup %016" PRIx64 " %d",
                 tm_hash(TM_HASH_BEGIN, of.bytes, of.size), parent->n_copies);
    return tm_names_intern_string(r->e->names, text);
}

/* Adds a communicator. Nsight identifies a communicator by two numbers: its first rank, and a
 * number among the communicators with the same first rank. */
static tm_status take_comm(void *context, sqlite3_value **values, tm_error *err) {
    enum { MOST = 4096 }; /* more communicators than any real program creates */
    reading *r = context;
    const int64_t size = tm_db_int(values, SIZE, -1), place = tm_db_int(values, PLACE, -1);
    const int64_t root = tm_db_int(values, ROOT, -1), parent = tm_db_int(values, PARENT, 0);
    char text[64] = "MPI_COMM_WORLD";
    r->has = true;
    if ((r->rank >= 0 && tm_db_int(values, RANK, -1) != r->rank) || r->out->n >= MOST)
        return TM_OK;
    tm_mpi_comm added = {
        .handle = tm_db_int(values, HANDLE, 0),
        .since = tm_db_int(values, SINCE, INT64_MIN),
        .n_ranks = size > 0 && size <= TM_GROUP_RANKS_MAX ? (int32_t)size : -1,
        .place = place >= 0 && place < size && size <= TM_GROUP_RANKS_MAX ? (int32_t)place : -1};
    tm_mpi_comm *of = parent != 0 ? last_of(r->out, parent) : NULL;
    if (root >= 0) {
        snprintf(text, sizeof text, "MPI_Comm %" PRId64 ".%" PRId64, root,
                 tm_db_int(values, UID, 0));
    } else if (parent != 0) {
        if (!of)
            /* The parent is unknown, so the communicator cannot be identified. */
            return TM_OK;
        added.n_ranks = of->n_ranks;
        added.place = of->place;
    }
    added.name = root < 0 && of ? copy_name(r, of) : tm_names_intern_string(r->e->names, text);
    return added.name != TM_NAME_FAILED && tm_vec_append(r->out, &added, 1) ? TM_OK
                                                                            : tm_fail_memory(err);
}

TM_ORDER_BY(by_handle, tm_mpi_comm, handle, since, name);

tm_status tm_mpi_comms_read(tm_nsys_emitter *e, tm_vec *out, bool *has, tm_error *err) {
    static const char *const rank_columns[] = {"globalTid", "rank"};
    static const char *const columns[N_COLUMNS] = {"rank",         "timestamp",   "commHandle",
                                                   "parentHandle", "localRank",   "size",
                                                   "groupRoot",    "groupRootUid"};
    const tm_db_query ranks = {"MPI_RANKS", rank_columns, 2,
                               "globalTid BETWEEN ?1 AND ?1 + 16777215", "globalTid"};
    const tm_db_query comms = {"MPI_COMMUNICATORS", columns, N_COLUMNS, NULL, NULL};
    reading r = {.e = e, .out = out, .rank = -1};
    *out = TM_VEC(tm_mpi_comm);
    TM_TRY(tm_db_scan(e->db, &ranks, e->unit->process, take_rank, &r, err));
    TM_TRY(tm_db_scan(e->db, &comms, 0, take_comm, &r, err));
    tm_sort(out->data, out->n, sizeof(tm_mpi_comm), by_handle);
    *has = r.has;
    return TM_OK;
}

static bool is_before(const void *comm, const void *key) {
    return by_handle(comm, key) <= 0;
}

tm_mpi_comm *tm_mpi_comm_find(const tm_vec *comms, int64_t handle, int64_t time) {
    tm_mpi_comm *v = comms->data;
    const tm_mpi_comm key = {.handle = handle, .since = time, .name = UINT32_MAX};
    const size_t i = tm_bisect(v, comms->n, sizeof *v, &key, is_before);
    if (i > 0 && v[i - 1].handle == handle)
        return &v[i - 1];
    /* otherwise the first one with this handle: the call that creates it may end after a use */
    return i < comms->n && v[i].handle == handle ? &v[i] : NULL;
}
