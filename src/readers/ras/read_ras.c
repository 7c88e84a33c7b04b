/* Converts an answer of NCCL's RAS, which was parsed into values, to communicators and their
 * ranks. */
#include "base/letters.h"
#include "tmerge/ras.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "readers/json_values.h"

struct tm_ras {
    tm_pickle values;
    /* vectors of tm_ras_comm, of tm_ras_member and of tm_ras_count */
    tm_vec comms, members, counts;
    const char *version, *time;
    int64_t left_out, commas;
};

tm_ras *tm_ras_create(void) {
    tm_ras *r = malloc(sizeof *r);
    if (r)
        *r = (tm_ras){.values = TM_PICKLE,
                      .comms = TM_VEC(tm_ras_comm),
                      .members = TM_VEC(tm_ras_member),
                      .counts = TM_VEC(tm_ras_count)};
    return r;
}

static void forget(tm_ras *r) {
    r->comms.n = r->members.n = r->counts.n = 0;
    r->left_out = r->commas = 0;
    r->version = r->time = "";
}

void tm_ras_destroy(tm_ras *r) {
    if (!r)
        return;
    tm_pickle_free(&r->values);
    TM_VECS_FREE(&r->comms, &r->members, &r->counts);
    free(r);
}

/* Whether the bytes are the text that ncclras prints. It starts with "NCCL version", but so do logs
 * of NCCL. */
static bool is_text(const char *head, size_t size) {
    enum { LINE = 64 };
    return tm_begins_with(head, size, "NCCL version ") &&
           tm_holds(head, size < LINE ? size : LINE, " compiled with CUDA ");
}

bool tm_ras_is_answer(const char *head, size_t size) {
    /* "nccl_version" is not among these, because traces of PyTorch also have it */
    static const char *const words[] = {"\"communicators_count\"", "\"missing_ranks_count\"",
                                        "\"collective_counts\""};
    size_t first = 0;
    while (first < size && strchr(" \t\r\n", head[first]))
        first++;
    for (size_t w = 0; first < size && head[first] == '{' && w < 3; w++)
        if (tm_holds(head, size, words[w]))
            return true;
    return is_text(head, size);
}

static bool is_set(const tm_ras *r, const tm_pickle_value *status, const char *key) {
    const tm_pickle_value *value = tm_pickle_get(&r->values, status, key);
    return value && value->type == TM_PICKLE_BOOL && value->as.i != 0;
}

/* Results of NCCL's functions that are not errors. */
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7 };

static int64_t error_of(const tm_ras *r, const tm_pickle_value *status, const char *key) {
    const int64_t result = tm_pickle_int(&r->values, status, key, NCCL_SUCCESS);
    return result == NCCL_IN_PROGRESS ? NCCL_SUCCESS : result;
}

/* Sets the state as NCCL's own report does. An error is checked before an abort, because an error
 * causes an abort. */
static void take_present(const tm_ras *r, const tm_pickle_value *status, tm_ras_member *out) {
    const int64_t init = error_of(r, status, "init_state");
    out->error = init != NCCL_SUCCESS ? init : error_of(r, status, "async_error");
    out->state = out->error != NCCL_SUCCESS        ? TM_RAS_FAILED
                 : is_set(r, status, "abort_flag") ? TM_RAS_ABORTED
                 : is_set(r, status, "finalize_called") || is_set(r, status, "destroy_flag")
                     ? TM_RAS_ENDING
                 : tm_pickle_int(&r->values, status, "init_state", NCCL_SUCCESS) != NCCL_SUCCESS
                     ? TM_RAS_STARTING
                     : TM_RAS_RUNNING;
}

static bool take_counts(tm_ras *r, const tm_pickle_value *counts, tm_ras_member *out) {
    size_t n;
    const tm_pickle_value *v = tm_pickle_members(&r->values, counts, &n);
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (v[i].type != TM_PICKLE_TEXT || v[i + 1].type != TM_PICKLE_INT || v[i + 1].as.i < 0)
            continue;
        const tm_ras_count count = {tm_names_text(r->values.texts, v[i].as.id).bytes,
                                    v[i + 1].as.i};
        if (!tm_vec_append(&r->counts, &count, 1))
            return false;
        out->n_counts++;
    }
    return true;
}

static bool add_member(tm_ras *r, const tm_pickle_value *entry, bool missing, tm_ras_comm *comm) {
    tm_ras_member m = {.rank = tm_pickle_int(&r->values, entry, "rank", -1),
                       .host = tm_pickle_text(&r->values, entry, "host"),
                       .pid = tm_pickle_int(&r->values, entry, "pid", -1),
                       .gpu = tm_pickle_int(&r->values, entry, "nvml_dev", -1)};
    const tm_pickle_value *status = tm_pickle_get(&r->values, entry, "status");
    if (m.rank < 0 || m.rank >= comm->size || (int64_t)comm->n_members >= comm->size) {
        r->left_out++;
        return true;
    }
    if (!missing)
        take_present(r, status, &m);
    else
        m.state = is_set(r, status, "considered_dead") ? TM_RAS_DEAD
                  : is_set(r, status, "unresponsive")  ? TM_RAS_UNREACHABLE
                                                       : TM_RAS_GONE;
    if (!missing && !take_counts(r, tm_pickle_get(&r->values, entry, "collective_counts"), &m))
        return false;
    comm->n_members++;
    return tm_vec_append(&r->members, &m, 1) != NULL;
}

static bool add_members(tm_ras *r, const tm_pickle_value *entry, const char *key, bool missing,
                        tm_ras_comm *comm) {
    size_t n;
    const tm_pickle_value *v =
        tm_pickle_items(&r->values, tm_pickle_get(&r->values, entry, key), &n);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = add_member(r, &v[i], missing, comm);
    return ok;
}

static bool add_comm(tm_ras *r, const tm_pickle_value *entry) {
    const int64_t size = tm_pickle_int(&r->values, entry, "size", 0);
    tm_ras_comm comm = {.hash = tm_pickle_text(&r->values, entry, "hash"),
                        .secondary_hash = tm_pickle_text(&r->values, entry, "secondary_hash"),
                        .size = size > 0 && size <= TM_RAS_SIZE_MAX ? size : 0};
    return add_members(r, entry, "ranks", false, &comm) &&
           add_members(r, entry, "missing_ranks", true, &comm) &&
           tm_vec_append(&r->comms, &comm, 1) != NULL;
}

/* Orders by rank. Of several members with the same rank, one that answers comes first. */
static int by_rank(const void *a, const void *b) {
    const tm_ras_member *x = a, *y = b;
    int order = tm_order_i64(x->rank, y->rank);
    order = order ? order : tm_order_i64(x->state, y->state);
    order = order ? order : strcmp(x->host, y->host);
    order = order ? order : tm_order_i64(x->pid, y->pid);
    return order ? order : tm_order_i64(x->gpu, y->gpu);
}

/* Sorts the members, and keeps the first of each rank. Returns the number that remain. */
static size_t settle(tm_ras_member *m, size_t n) {
    size_t w = 0;
    if (n > 0)
        tm_sort(m, n, sizeof *m, by_rank);
    for (size_t i = 0; i < n; i++)
        if (w == 0 || m[w - 1].rank != m[i].rank)
            m[w++] = m[i];
    return w;
}

/* Sets the pointers into the vectors. Nothing may be added to the vectors after this. */
static void point(tm_ras *r) {
    tm_ras_member *m = r->members.data;
    tm_ras_comm *c = r->comms.data;
    size_t at = 0;
    for (size_t i = 0; i < r->members.n; i++) {
        m[i].counts = m[i].n_counts > 0 ? (const tm_ras_count *)r->counts.data + at : NULL;
        at += m[i].n_counts;
    }
    for (size_t i = 0; i < r->comms.n; i++) {
        const size_t n = c[i].n_members;
        c[i].members = m;
        c[i].n_members = settle(m, n);
        r->left_out += (int64_t)(n - c[i].n_members);
        m = n > 0 ? m + n : m; /* NULL if no communicator has members */
    }
}

static tm_status take_answer(tm_ras *r, tm_source *source, tm_error *err) {
    size_t n;
    const tm_pickle_value *root = &r->values.root;
    const tm_pickle_value *comms = tm_pickle_get(&r->values, root, "communicators");
    bool ok = true;
    if (!comms || comms->type != TM_PICKLE_LIST)
        return tm_fail(
            err, TM_ERR_INPUT, tm_source_path(source), -1,
            "not an answer of ncclras -f json: it does not have a list of communicators");
    r->version = tm_pickle_text(&r->values, root, "nccl_version");
    r->time = tm_pickle_text(&r->values, root, "timestamp");
    const tm_pickle_value *v = tm_pickle_items(&r->values, comms, &n);
    for (size_t i = 0; i < n && ok; i++)
        ok = add_comm(r, &v[i]);
    point(r);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_ras_read(tm_ras *r, tm_source *source, tm_error *err) {
    enum { HEAD = 64 };
    char head[HEAD];
    size_t n;
    tm_json_lapses lapses = {.cut = false};
    forget(r);
    TM_TRY(tm_source_read(source, head, HEAD, &n, err));
    TM_TRY(tm_source_rewind(source, err));
    if (is_text(head, n))
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                       "the text output of ncclras, which leaves out ranks: give the output of "
                       "ncclras -f json (NCCL 2.28.7 or later)");
    TM_TRY(tm_json_values_read(source, true, &r->values, &lapses, err));
    if (lapses.cut)
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), lapses.size,
                       "the answer of ncclras ends early");
    r->commas = lapses.commas;
    return take_answer(r, source, err);
}

const tm_ras_comm *tm_ras_comms(const tm_ras *ras, size_t *n) {
    *n = ras->comms.n;
    return ras->comms.data;
}

const char *tm_ras_version(const tm_ras *ras) {
    return ras->version;
}

const char *tm_ras_time(const tm_ras *ras) {
    return ras->time;
}

int64_t tm_ras_left_out(const tm_ras *ras) {
    return ras->left_out;
}

int64_t tm_ras_commas(const tm_ras *ras) {
    return ras->commas;
}
