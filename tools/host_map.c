#include "host_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "mpi/agree.h"
#include "mpi/bytes.h"

enum { HOST_MAX = 256 };

/* An entry of the map. Sent as bytes. */
typedef struct entry {
    int64_t rank;
    char host[HOST_MAX];
} entry;

/* Cuts a line into its rank and host; false where it is no such line. */
static bool parse_line(char *line, entry *out) {
    char *end = NULL;
    *out = (entry){0};
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

static int by_rank(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static tm_status read_lines(FILE *file, const char *map, tm_vec *out, tm_error *err) {
    char line[4096];
    int64_t offset = 0;
    while (fgets(line, sizeof line, file)) {
        size_t size = strlen(line);
        entry e;
        const char *text = line + strspn(line, " \t\r\n");
        if (*text != '\0' && *text != '#') {
            if (!parse_line(line, &e))
                return tm_fail(err, TM_ERR_INPUT, map, offset, "a line should be RANK HOST");
            if (!tm_vec_append(out, &e, 1))
                return tm_fail_memory(err);
        }
        offset += (int64_t)size;
    }
    if (ferror(file))
        return tm_fail(err, TM_ERR_INPUT, map, offset, "this file cannot be read");
    entry *entries = out->data;
    if (out->n > 1)
        qsort(entries, out->n, sizeof *entries, by_rank);
    for (size_t i = 1; i < out->n; i++)
        if (entries[i].rank == entries[i - 1].rank)
            return tm_fail(err, TM_ERR_INPUT, map, -1, "rank %" PRId64 " stands there twice",
                           entries[i].rank);
    return TM_OK;
}

static tm_status read_map(const char *map, tm_vec *out, tm_error *err) {
    FILE *file = fopen(map, "r");
    if (!file)
        return tm_fail(err, TM_ERR_INPUT, map, -1, "%s", strerror(errno));
    tm_status status = read_lines(file, map, out, err);
    fclose(file);
    return status;
}

/* The host's name id of a timeline; TM_NAME_FAILED when memory is out. */
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
    bool told = tm_host_of_path(path.bytes, host, sizeof host);
    return told ? tm_names_intern_string(loaded->names, host) : TM_NO_NAME;
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
    return status;
}
