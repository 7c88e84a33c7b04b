#include "inputs.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "folders.h"
#include "list_lines.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "mpi/exchange/shuffle.h"
#include "mpi/load/inputs_merge.h"
#include "mpi/load/share.h"
#include "nested_traces.h"
#include "operands.h"
#include "rank_map.h"

/* Result of looking for the operands on one host. */
typedef struct sighting {
    int *absent;    /* [operands] 0 if the operand was found, else an errno or NO_MATCH */
    bool any;       /* whether at least one file may be a trace */
    tm_vec without; /* vector of char: folders without a trace, 0-terminated */
} sighting;

typedef struct lister {
    tm_vec *out; /* vector of char: for each input, a tm_input_head and the path */
    const tm_operand *operand;
    int64_t number; /* index of the operand */
    int64_t host;
    bool all_recordings;
    bool has_hosts; /* whether several hosts list inputs; each input then gets size, time and
                       digest, so that hosts can compare the inputs */
    sighting *seen;
} lister;

/* Value of sighting.absent if a pattern matched no file. No errno has this value. */
enum { NO_MATCH = INT_MAX - 1 };

/* Adds an input. @p match is the part of the path that matched the operand. */
static tm_status add_input(const lister *l, const char *path, const char *match, bool from_folder,
                           tm_error *err) {
    tm_input_head head = {.mapped_rank = -1,
                          .from_folder = from_folder,
                          .operand = l->number,
                          .match = (int64_t)strlen(match),
                          .host = l->host};
    l->seen->any = l->seen->any || !from_folder;
    if (l->has_hosts)
        TM_TRY(tm_identity_of(path, &head.identity, err));
    if (!tm_vec_append(l->out, &head, sizeof head) ||
        !tm_vec_append(l->out, path, strlen(path) + 1))
        return tm_fail_memory(err);
    return TM_OK;
}

static tm_status add_folder(const lister *l, const char *folder, tm_error *err) {
    tm_vec paths = TM_VEC(char *);
    bool any = false;
    tm_status status = tm_folder_list(folder, l->all_recordings, &paths, &any, err);
    l->seen->any = l->seen->any || any;
    if (status == TM_OK && !any && !tm_vec_append(&l->seen->without, folder, strlen(folder) + 1))
        status = tm_fail_memory(err);
    for (size_t i = 0; i < paths.n; i++) {
        char *path = ((char **)paths.data)[i];
        if (status == TM_OK)
            status = add_input(l, path, folder, true, err);
        free(path);
    }
    tm_vec_free(&paths);
    return status;
}

static tm_status add_path(const lister *l, const char *path, tm_error *err) {
    struct stat info;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return folder ? add_folder(l, path, err) : add_input(l, path, path, false, err);
}

static tm_status add_glob(const lister *l, tm_error *err) {
    glob_t found;
    int code = glob(l->operand->text, 0, NULL, &found);
    if (code == GLOB_NOMATCH) {
        l->seen->absent[l->number] = NO_MATCH;
        return TM_OK;
    }
    if (code != 0)
        return tm_operand_fail(l->operand, "this pattern cannot be expanded", err);
    tm_status status = TM_OK;
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, tm_path_order);
    for (size_t i = 0; i < found.gl_pathc && status == TM_OK; i++)
        status = add_path(l, found.gl_pathv[i], err);
    globfree(&found);
    return status;
}

static tm_status add_operand(const lister *l, tm_error *err) {
    struct stat info;
    const char *path = l->operand->text;
    if (stat(path, &info) == 0)
        return add_path(l, path, err);
    int error = errno;
    if (strpbrk(path, "*?["))
        return add_glob(l, err);
    l->seen->absent[l->number] = error;
    return TM_OK;
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return strcmp(a, b) == 0 ||
           (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/* Sets the rank of an input. Returns false if no input has this path. Sets @p was to the rank that
 * an earlier line gave the input. */
static bool map_input(tm_vec *inputs, const char *path, int64_t rank, int64_t *was) {
    bool found = false;
    *was = rank;
    for (size_t at = 0; at < inputs->n;) {
        char *bytes = (char *)inputs->data + at;
        tm_input_head head;
        memcpy(&head, bytes, sizeof head);
        if (same_file(bytes + sizeof head, path)) {
            *was = head.mapped_rank >= 0 ? head.mapped_rank : *was;
            head.mapped_rank = rank;
            memcpy(bytes, &head, sizeof head);
            found = true;
        }
        at += sizeof head + strlen(bytes + sizeof head) + 1;
    }
    return found;
}

static tm_status map_line(void *context, const tm_line *line, tm_error *err) {
    tm_vec *inputs = context;
    const char *path;
    int64_t rank, was;
    tm_rank_map_kind kind = tm_rank_map_line(line->text, &path, &rank);
    if (kind == TM_RANK_MAP_NOTHING)
        return TM_OK;
    if (kind == TM_RANK_MAP_BAD)
        return tm_line_fail(line, err, "'%.300s' should be PATH RANK", line->text);
    if (!map_input(inputs, path, rank, &was))
        return tm_line_fail(line, err, "%.300s is not among the inputs", path);
    return was == rank
               ? TM_OK
               : tm_line_fail(line, err, "%.300s already has rank %" PRId64 " from an earlier line",
                              path, was);
}

/* Lists the inputs that the operands name on this host. */
static tm_status list_own(const tm_hosts *hosts, const tm_operands *operands, bool all_recordings,
                          tm_vec *out, sighting *seen, tm_error *err) {
    lister l = {.out = out,
                .host = hosts->self,
                .all_recordings = all_recordings,
                .has_hosts = hosts->n > 1,
                .seen = seen};
    for (size_t i = 0; i < operands->n; i++) {
        l.operand = &operands->v[i];
        l.number = (int64_t)i;
        TM_TRY(add_operand(&l, err));
    }
    return TM_OK;
}

/* Returns the first list (@FILE) among the operands that can be read only once, such as a pipe;
 * NULL if there is none. tm_inputs_each must not read it, because tm_inputs_list reads it later. */
static const char *pipe_of(const tm_arguments *arguments) {
    for (size_t i = 0; i < arguments->n_operands; i++) {
        const char *list = tm_operand_list(arguments->operands[i]);
        if (list && !tm_is_file(list))
            return list;
    }
    return NULL;
}

/* Returns whether --all-recordings is given. Only merge has this option. */
static bool takes_all(const tm_arguments *arguments) {
    return tm_argument(arguments, "all-recordings") != NULL;
}

tm_status tm_inputs_each(const tm_arguments *arguments,
                         void (*each)(void *context, const char *path), void *context,
                         tm_error *err) {
    const tm_hosts alone = {.n = 1};
    const char *pipe = pipe_of(arguments);
    tm_vec bytes = TM_VEC(char);
    tm_operands operands = {0};
    sighting seen = {.without = TM_VEC(char)};
    if (pipe) {
        each(context, pipe);
        return TM_OK;
    }
    tm_status status = tm_operands_read(arguments, &operands, err);
    if (status == TM_OK) {
        seen.absent = calloc(operands.n + 1, sizeof *seen.absent);
        status = seen.absent ? list_own(&alone, &operands, takes_all(arguments), &bytes, &seen, err)
                             : tm_fail_memory(err);
    }
    for (size_t at = 0; at < bytes.n && status == TM_OK;) {
        const char *path = (const char *)bytes.data + at + sizeof(tm_input_head);
        each(context, path);
        at += sizeof(tm_input_head) + strlen(path) + 1;
    }
    tm_vec_free(&bytes);
    tm_vec_free(&seen.without);
    tm_operands_free(&operands);
    free(seen.absent);
    return status;
}

static tm_status check_absent(MPI_Comm comm, const tm_operands *operands, int *absent,
                              tm_error *err) {
    MPI_Allreduce(MPI_IN_PLACE, absent, (int)operands->n, MPI_INT, MPI_MIN, comm);
    for (size_t i = 0; i < operands->n; i++)
        if (absent[i])
            return tm_operand_fail(
                &operands->v[i],
                absent[i] == NO_MATCH ? "no file matches this pattern" : strerror(absent[i]), err);
    return TM_OK;
}

/* Fails if no input is a trace, but there are traces deeper below the folders. */
static tm_status check_any(MPI_Comm comm, const sighting *seen, tm_error *err) {
    int any = seen->any;
    tm_status status = TM_OK;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
    const char *folders = seen->without.data;
    for (size_t at = 0; at < seen->without.n && !any && status == TM_OK;
         at += strlen(folders + at) + 1)
        status = tm_elsewhere_fail(folders + at, err);
    return tm_mpi_agree(comm, status, err);
}

/* Returns whether the lists of all hosts are equal, apart from the host's number. */
static bool lists_alike(MPI_Comm comm, const tm_hosts *hosts, const tm_vec *own) {
    uint64_t digest = 0;
    for (size_t at = 0; hosts->leads && at < own->n;) {
        tm_input_head head;
        memcpy(&head, (const char *)own->data + at, sizeof head);
        const char *path = (const char *)own->data + at + sizeof head;
        head.host = 0;
        digest = tm_hash_mixed(tm_hash_mixed(digest, &head, sizeof head), path, strlen(path) + 1);
        at += sizeof head + strlen(path) + 1;
    }
    return tm_mpi_is_one(comm, digest, hosts->leads);
}

/* Merges the hosts' lists on process 0, and lists which hosts see each input. If all hosts see the
 * same inputs, @p seen stays empty. */
static tm_status bring_together(MPI_Comm comm, const tm_hosts *hosts, tm_vec *bytes, tm_vec *seen,
                                tm_error *err) {
    if (hosts->n == 1 || lists_alike(comm, hosts, bytes))
        return TM_OK;
    tm_vec all = TM_VEC(char);
    tm_status status = tm_mpi_shuffle(comm, bytes, tm_mpi_first_process, &all, err);
    if (status == TM_OK) {
        bytes->n = 0;
        status = tm_mpi_agree(comm, tm_inputs_merge(&all, hosts->n, bytes, seen, err), err);
    }
    tm_vec_free(&all);
    return status;
}

static tm_status unpack(tm_inputs *out, size_t size, const uint64_t *seen, tm_error *err) {
    const char *p = out->bytes, *end = p + size;
    while (p < end) {
        tm_input_head head;
        memcpy(&head, p, sizeof head);
        tm_input input = {p + sizeof head, head.from_folder != 0, head.mapped_rank, seen, false};
        const char *name = input.path + head.match;
        input.below = input.from_folder && strchr(name + strspn(name, "/"), '/');
        if (!tm_vec_append(&out->list, &input, 1))
            return tm_fail_memory(err);
        p += sizeof head + strlen(input.path) + 1;
        seen = seen ? seen + tm_hosts_words(out->hosts.n) : NULL;
    }
    return TM_OK;
}

static tm_status spread(MPI_Comm comm, const tm_vec *bytes, const tm_vec *seen, tm_inputs *out,
                        tm_error *err) {
    size_t size = bytes->n, seen_size = seen->n * seen->size;
    out->bytes = bytes->data;
    out->seen = seen->data;
    TM_TRY(tm_mpi_broadcast_bytes(comm, &out->bytes, &size, err));
    TM_TRY(tm_mpi_broadcast_bytes(comm, &out->seen, &seen_size, err));
    return tm_mpi_agree(comm, unpack(out, size, seen_size > 0 ? out->seen : NULL, err), err);
}

static tm_status list_all(MPI_Comm comm, const tm_arguments *arguments, const tm_operands *operands,
                          tm_inputs *out, tm_error *err) {
    const char *rank_map = tm_argument(arguments, "rank-map");
    int self;
    MPI_Comm_rank(comm, &self);
    tm_vec bytes = TM_VEC(char), seen = TM_VEC(uint64_t);
    sighting sighted = {.without = TM_VEC(char)};
    sighted.absent = calloc(operands->n + 1, sizeof *sighted.absent);
    tm_status status = sighted.absent ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; sighted.absent && i < operands->n; i++)
        sighted.absent[i] = out->hosts.leads ? 0 : INT_MAX;
    if (status == TM_OK && out->hosts.leads)
        status = list_own(&out->hosts, operands, takes_all(arguments), &bytes, &sighted, err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        status = check_absent(comm, operands, sighted.absent, err);
    if (status == TM_OK)
        status = check_any(comm, &sighted, err);
    if (status == TM_OK)
        status = bring_together(comm, &out->hosts, &bytes, &seen, err);
    if (status == TM_OK) {
        status = self == 0 && rank_map ? tm_lines_each(rank_map, map_line, &bytes, err) : TM_OK;
        status = tm_mpi_agree(comm, status, err);
    }
    free(sighted.absent);
    tm_vec_free(&sighted.without);
    if (self != 0 || status != TM_OK) {
        tm_vec_free(&bytes);
        tm_vec_free(&seen);
    }
    return status == TM_OK ? spread(comm, &bytes, &seen, out, err) : status;
}

tm_status tm_inputs_list(MPI_Comm comm, const tm_arguments *arguments, tm_inputs *out,
                         tm_error *err) {
    tm_operands operands = {0};
    *out = (tm_inputs){.list = TM_VEC(tm_input)};
    tm_status status = tm_mpi_hosts_find(comm, &out->hosts, err);
    if (status == TM_OK)
        status = tm_mpi_operands_read(comm, arguments, &operands, err);
    if (status == TM_OK)
        status = list_all(comm, arguments, &operands, out, err);
    tm_operands_free(&operands);
    if (status != TM_OK)
        tm_inputs_free(out);
    return status;
}

void tm_inputs_free(tm_inputs *inputs) {
    tm_vec_free(&inputs->list);
    free(inputs->bytes);
    free(inputs->seen);
    inputs->bytes = inputs->seen = NULL;
    tm_mpi_hosts_free(&inputs->hosts);
}
