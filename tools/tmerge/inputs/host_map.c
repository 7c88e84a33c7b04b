#include "host_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"
#include "identity/rank_from_path.h"
#include "list_lines.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "mpi/host_ranks.h"

enum { HOST_MAX = 256 };

/* An entry of the map, which is sent to other processes as bytes. */
typedef struct entry {
    int64_t rank, line;
    char host[HOST_MAX];
} entry;

/* Splits a line into rank and host. Returns false if this fails. */
static bool parse_line(const char *line, entry *out) {
    char *end = NULL;
    errno = 0;
    long long rank = strtoll(line, &end, 10);
    if (end == line || errno != 0 || rank < 0 || rank > TM_RANK_MAX ||
        (*end != ' ' && *end != '\t'))
        return false;
    end += strspn(end, " \t");
    size_t size = strcspn(end, " \t\r\n");
    size_t rest = strspn(end + size, " \t\r\n");
    if (size == 0 || size >= HOST_MAX || end[size + rest] != '\0')
        return false;
    out->rank = rank;
    memcpy(out->host, end, size);
    return true;
}

static tm_status add_line(void *context, const tm_line *line, tm_error *err) {
    entry e = {.line = line->number};
    if (!parse_line(line->text, &e))
        return tm_line_fail(line, err, "'%.300s' should be RANK HOST", line->text);
    return tm_vec_append(context, &e, 1) ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_rank, entry, rank);

static int by_rank_and_line(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = by_rank(a, b);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static tm_status read_map(const char *map, tm_vec *out, tm_error *err) {
    TM_TRY(tm_lines_each(map, add_line, out, err));
    const entry *entries = out->data;
    tm_vec_sort(out, by_rank_and_line);
    for (size_t i = 1; i < out->n; i++)
        if (entries[i].rank == entries[i - 1].rank)
            return tm_fail(err, TM_ERR_INPUT, map, -1,
                           "line %" PRId64 ": rank %" PRId64
                           " already has a host from line %" PRId64,
                           entries[i].line, entries[i].rank, entries[i - 1].line);
    return TM_OK;
}

/* Returns the name id of a rank's host; TM_NAME_FAILED when out of memory. */
static uint32_t name_host(const tm_loaded *loaded, const tm_timeline *timeline,
                          const entry *entries, size_t n) {
    entry wanted = {.rank = timeline->rank};
    const entry *found = n ? bsearch(&wanted, entries, n, sizeof wanted, by_rank) : NULL;
    if (found)
        return tm_names_intern_string(loaded->names, found->host);
    if (timeline->host != TM_NO_NAME || timeline->n_spans == 0)
        return timeline->host;
    char host[HOST_MAX];
    tm_text path = tm_names_text(loaded->names, timeline->spans[0].source);
    bool reported = tm_host_of_path(path.bytes, host, sizeof host);
    return reported ? tm_names_intern_string(loaded->names, host) : TM_NO_NAME;
}

static tm_status name_hosts(tm_loaded *loaded, const entry *entries, size_t n, tm_error *err) {
    for (size_t i = 0; i < loaded->n_timelines; i++) {
        uint32_t host = name_host(loaded, &loaded->timelines[i], entries, n);
        if (host == TM_NAME_FAILED)
            return tm_fail_memory(err);
        loaded->timelines[i].host = host;
    }
    return TM_OK;
}

tm_status tm_host_names(MPI_Comm comm, const char *map, tm_loaded *loaded, tm_error *err) {
    int self;
    tm_vec entries = TM_VEC(entry);
    MPI_Comm_rank(comm, &self);
    tm_status status = self == 0 && map ? read_map(map, &entries, err) : TM_OK;
    status = tm_mpi_agree(comm, status, err);
    void *bytes = entries.data;
    size_t size = entries.n * sizeof(entry);
    if (status == TM_OK && map)
        status = tm_mpi_broadcast_bytes(comm, &bytes, &size, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, name_hosts(loaded, bytes, size / sizeof(entry), err), err);
    free(bytes);
    return status == TM_OK ? tm_mpi_infer_hosts(comm, loaded->names, loaded->timelines,
                                                loaded->n_timelines, err)
                           : status;
}
