#include "hang_inputs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/hang/fronts.h"
#include "analysis/hang/last_events.h"
#include "analysis/hang/notes.h"
#include "analysis/hang/ras.h"
#include "identity/rank_from_path.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "mpi/load/share.h"
#include "tmerge/flight.h"
#include "tmerge/reader.h"

/* What is known about a dump before it is read. */
typedef struct candidate {
    int64_t rank;      /* from --rank-map, else from the file's name; -1 unknown */
    int64_t newest_ns; /* time of the dump's newest operation; set only if its rank has several
                          inputs */
    size_t next;       /* next input of the same rank; NONE: there is no further one */
    bool is_first;     /* the first input of its rank */
} candidate;

static const size_t NONE = SIZE_MAX;

typedef struct reader {
    const tm_input *inputs;
    size_t n;
    const tm_hosts *hosts;
    int64_t n_ranks; /* number of ranks of the job, given by the user; 0: not given */
    int self, n_processes;
    candidate *candidates; /* [n] owned */
    tm_table *left_out;
    tm_flight *flight;
    tm_hang_notes *notes;
    int64_t n_read;
} reader;

/* Returns the rank in --rank-map or, if the file is not listed there, the rank in its name: the
 * number after a word such as "rank" (nccl_trace_rank_3), or the number at the end (trace7.json).
 * Returns -1 if there is none. */
static int64_t rank_of_name(const tm_input *input) {
    static const char *const endings[] = {".zst", ".gz",  ".json", ".pickle",
                                          ".pkl", ".bin", ".dump"};
    const char *slash = strrchr(input->path, '/'), *base = slash ? slash + 1 : input->path;
    size_t n = strlen(base), digits = 0;
    const int64_t reported =
        input->mapped_rank >= 0 ? input->mapped_rank : tm_rank_of_path(input->path);
    if (reported >= 0)
        return reported;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t size = strlen(endings[i]);
        if (n > size && strncmp(base + n - size, endings[i], size) == 0)
            n -= size;
    }
    while (digits < n && digits < 9 && isdigit((unsigned char)base[n - digits - 1]))
        digits++;
    return digits > 0 ? strtoll(base + n - digits, NULL, 10) : -1;
}

static tm_status leave_out(reader *r, const char *path, const char *reason, const char *why,
                           tm_error *err) {
    tm_cell *row = tm_table_add_row(r->left_out);
    if (!row)
        return tm_fail_memory(err);
    TM_TRY(tm_table_set_text(r->left_out, &row[0], path, err));
    TM_TRY(tm_table_set_text(r->left_out, &row[1], reason, err));
    return tm_table_set_text(r->left_out, &row[2], why, err);
}

/* Returns the modification time of a file; 0 if unknown. */
static int64_t written_ns(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec
                                  : 0;
}

/* Returns the largest number of ranks that the job can have, judging by a dump: the maximum of the
 * size of the largest group in the dump, the number given by the user, and a limit that grows with
 * the number of dumps; at most TM_HANG_RANKS_MAX. */
static int64_t most_ranks(const reader *r) {
    size_t n;
    int64_t most = tm_hang_most_ranks(r->n);
    const tm_flight_group *g = tm_flight_groups(r->flight, &n);
    for (size_t i = 0; i < n; i++)
        most = (int64_t)g[i].n_ranks > most ? (int64_t)g[i].n_ranks : most;
    most = most > r->n_ranks ? most : r->n_ranks;
    return most < TM_HANG_RANKS_MAX ? most : TM_HANG_RANKS_MAX;
}

/* Fails if a dump's rank is unknown, or too large for the job. */
static tm_status check_rank(const reader *r, const char *path, int64_t rank, tm_error *why) {
    const int64_t most = most_ranks(r);
    if (rank < 0)
        return tm_fail(why, TM_ERR_INPUT, path, -1,
                       "neither the dump nor its name gives its rank: give --rank-map FILE with "
                       "lines PATH RANK");
    return rank < most ? TM_OK
                       : tm_fail(why, TM_ERR_INPUT, path, -1,
                                 "rank %" PRId64 ", but nothing shows more than %" PRId64
                                 " ranks: if the rank is right, give --world-size N",
                                 rank, most);
}

/* Reads a dump. If the file cannot be read or is not a dump, it is left out. If its rank is known,
 * the rank is still recorded as a rank with an unreadable dump, because that is evidence, too. */
static tm_status read_one(reader *r, size_t i, tm_error *err) {
    tm_source *source = NULL;
    const char *path = r->inputs[i].path;
    tm_error why = {.offset = -1};
    tm_status status = tm_source_open(path, &source, &why);
    if (status == TM_OK)
        status = tm_flight_read(r->flight, source, &why);
    tm_source_close(source);
    if (status == TM_ERR_FAULT) {
        *err = why;
        return status;
    }
    const int64_t reported = status == TM_OK ? tm_flight_rank(r->flight) : -1;
    const int64_t rank =
        reported >= 0 && r->inputs[i].mapped_rank < 0 ? reported : r->candidates[i].rank;
    if (status == TM_OK)
        status = check_rank(r, path, rank, &why);
    if (status != TM_OK) {
        char text[TM_PATH_MAX + TM_MESSAGE_MAX];
        tm_error_text(&why, text, sizeof text);
        if (rank >= 0 && rank < most_ranks(r) &&
            !tm_hang_notes_add_unreadable(r->notes, path, rank))
            return tm_fail_memory(err);
        return leave_out(r, path, "unreadable", text, err);
    }
    r->n_read++;
    return tm_hang_notes_add(r->notes, r->flight, path, rank, written_ns(path))
               ? TM_OK
               : tm_fail_memory(err);
}

static int by_number(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Finds inputs of the same rank: a recorder may write a pickle and a JSON file, and an old dump may
 * be next to a newer one. */
static tm_status find_doubles(reader *r, tm_error *err) {
    int64_t(*of)[2] = malloc((r->n + 1) * sizeof *of);
    if (!of)
        return tm_fail_memory(err);
    for (size_t i = 0; i < r->n; i++) {
        of[i][0] = r->candidates[i].rank = rank_of_name(&r->inputs[i]);
        of[i][1] = (int64_t)i;
    }
    qsort(of, r->n, sizeof *of, by_number);
    for (size_t i = 0; i < r->n; i++) {
        candidate *c = &r->candidates[of[i][1]];
        c->is_first = i == 0 || of[i][0] < 0 || of[i][0] != of[i - 1][0];
        c->next = NONE;
        if (!c->is_first)
            r->candidates[of[i - 1][1]].next = (size_t)of[i][1];
    }
    free(of);
    return TM_OK;
}

/* Returns the time at which the dump's last operation was issued or completed; -1 if the dump
 * cannot be read. */
static int64_t newest_ns(const reader *r, size_t i) {
    tm_source *source = NULL;
    tm_error why = {.offset = -1};
    int64_t newest = -1;
    size_t n = 0;
    if (tm_source_open(r->inputs[i].path, &source, &why) == TM_OK &&
        tm_flight_read(r->flight, source, &why) == TM_OK) {
        const tm_flight_call *calls = tm_flight_calls(r->flight, &n);
        newest = 0;
        for (size_t k = 0; k < n; k++) {
            newest = calls[k].created_ns > newest ? calls[k].created_ns : newest;
            newest = calls[k].completed_ns > newest ? calls[k].completed_ns : newest;
        }
    }
    tm_source_close(source);
    return newest;
}

/* Reads the newest dump of a rank. */
static tm_status read_rank(reader *r, size_t i, tm_error *err) {
    candidate *c = r->candidates;
    size_t best = i;
    int64_t newest = -1;
    if (c[i].next == NONE)
        return read_one(r, i, err);
    for (size_t k = i; k != NONE; k = c[k].next) {
        c[k].newest_ns = newest_ns(r, k);
        best = c[k].newest_ns > newest ? k : best;
        newest = c[best].newest_ns > newest ? c[best].newest_ns : newest;
    }
    for (size_t k = i; k != NONE; k = c[k].next) {
        char text[2 * TM_PATH_MAX + 64];
        const int64_t ns = c[k].newest_ns;
        const bool older = ns >= 0 && ns < newest;
        if (k == best)
            continue;
        snprintf(text, sizeof text, "%s: %s of its rank is read instead: %s", r->inputs[k].path,
                 ns < 0  ? "not a dump; a dump"
                 : older ? "a newer dump"
                         : "another dump",
                 r->inputs[best].path);
        TM_TRY(leave_out(r, r->inputs[k].path,
                         ns < 0  ? "unreadable"
                         : older ? "older"
                                 : "double",
                         text, err));
    }
    return read_one(r, best, err);
}

/* Reads an answer of RAS. If the answer cannot be read, leaves it out and sets *out to NULL. */
static tm_status read_answer(reader *r, const char *path, tm_ras **out, tm_error *err) {
    tm_source *source = NULL;
    tm_error why = {.offset = -1};
    char text[TM_PATH_MAX + TM_MESSAGE_MAX];
    *out = tm_ras_create();
    if (!*out)
        return tm_fail_memory(err);
    tm_status status = tm_source_open(path, &source, &why);
    if (status == TM_OK)
        status = tm_ras_read(*out, source, &why);
    tm_source_close(source);
    r->n_read += status == TM_OK;
    if (status == TM_OK)
        return TM_OK;
    tm_ras_destroy(*out);
    *out = NULL;
    if (status == TM_ERR_FAULT) {
        *err = why;
        return status;
    }
    tm_error_text(&why, text, sizeof text);
    return leave_out(r, path, "unreadable", text, err);
}

/* Reads one or two answers of RAS, on a process that can open the first answer. */
static tm_status read_answers(reader *r, const tm_vec *answers, tm_tables *out, tm_error *err) {
    const tm_share_readers readers = {r->n_processes, r->hosts->n, r->hosts->of};
    const tm_input *v = answers->data;
    tm_ras *read[TM_HANG_ANSWERS_MAX] = {NULL};
    tm_status status = TM_OK;
    if (answers->n == 0 || tm_share_reader(&readers, v[0].seen, 0) != r->self)
        return TM_OK;
    for (size_t i = 0; i < answers->n && status == TM_OK; i++)
        status = read_answer(r, v[i].path, &read[i], err);
    tm_ras *first = read[0] ? read[0] : read[1];
    if (status == TM_OK && first)
        status = tm_hang_ras_rows(first, read[0] ? read[1] : NULL, out, err);
    tm_ras_destroy(read[0]);
    tm_ras_destroy(read[1]);
    return status;
}

static tm_status read_own(reader *r, tm_error *err) {
    const tm_share_readers readers = {r->n_processes, r->hosts->n, r->hosts->of};
    for (size_t i = 0; i < r->n; i++)
        if (r->candidates[i].is_first && tm_share_reader(&readers, r->inputs[i].seen, i) == r->self)
            TM_TRY(read_rank(r, i, err));
    return TM_OK;
}

static int owner_of(const void *record, int n_processes) {
    return (int)(((const tm_hang_form *)record)->group % (uint64_t)n_processes);
}

/* Gathers on every process the progress of each group, and the operations in which ranks differ. */
static tm_status bring_together(MPI_Comm comm, const tm_hang_notes *notes, tm_vec *spans,
                                tm_vec *mixed, tm_error *err) {
    tm_vec own = TM_VEC(tm_hang_span), forms = TM_VEC(tm_hang_form), owned = TM_VEC(tm_hang_form);
    tm_status status = tm_hang_notes_spans(notes, &own) ? TM_OK : tm_fail_memory(err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, spans, err);
    if (status == TM_OK) {
        tm_hang_spans_join(spans);
        status = tm_hang_notes_forms(notes, spans, &forms) ? TM_OK : tm_fail_memory(err);
        status = tm_mpi_agree(comm, status, err);
    }
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &forms, owner_of, &owned, err);
    if (status == TM_OK) {
        tm_hang_forms_keep_mixed(&owned);
        status = tm_mpi_everywhere(comm, &owned, mixed, err);
    }
    if (status == TM_OK)
        tm_hang_forms_keep_mixed(mixed);
    TM_VECS_FREE(&own, &forms, &owned);
    return status;
}

static tm_status read_all(MPI_Comm comm, reader *r, const tm_vec *answers, tm_tables *out,
                          tm_error *err) {
    tm_vec spans = TM_VEC(tm_hang_span), mixed = TM_VEC(tm_hang_form);
    r->flight = tm_flight_create();
    r->notes = tm_hang_notes_create();
    tm_status status = r->flight && r->notes && r->candidates ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = find_doubles(r, err);
    if (status == TM_OK)
        status = read_own(r, err);
    if (status == TM_OK)
        status = read_answers(r, answers, out, err);
    if (status == TM_OK)
        status = tm_hang_seen_ask(out, err);
    status = tm_mpi_agree(comm, status, err);
    tm_flight_destroy(r->flight);
    if (status == TM_OK)
        status = bring_together(comm, r->notes, &spans, &mixed, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, tm_hang_notes_rows(r->notes, &spans, &mixed, out, err), err);
    tm_hang_notes_destroy(r->notes);
    tm_vec_free(&spans);
    tm_vec_free(&mixed);
    return status;
}

enum { IS_DUMP, IS_ANSWER, IS_TRACE, IS_OTHER };

/* Returns the kind of an input. An unreadable file counts as a dump, so that the reader of dumps
 * reports the error. */
static unsigned char kind_of(const tm_input *input) {
    enum { HEAD = 4096 };
    char head[HEAD];
    size_t n = 0;
    tm_source *source = NULL;
    tm_file_info info = {.kind = TM_FILE_OTHER};
    tm_error unread;
    tm_flight_guess guess = TM_FLIGHT_YES;
    if (tm_source_open(input->path, &source, &unread) == TM_OK &&
        tm_source_read(source, head, HEAD, &n, &unread) == TM_OK)
        guess = tm_flight_is_dump(head, n);
    tm_source_close(source);
    if (tm_ras_is_answer(head, n))
        return IS_ANSWER;
    if (guess == TM_FLIGHT_YES)
        return IS_DUMP;
    if (tm_file_sniff(input->path, &info, &unread) == TM_OK && info.kind == TM_FILE_TRACE)
        return IS_TRACE;
    return guess == TM_FLIGHT_NO && input->from_folder ? IS_OTHER : IS_DUMP;
}

tm_status tm_mpi_hang_split(MPI_Comm comm, const tm_input *inputs, size_t n, const tm_hosts *hosts,
                            tm_hang_inputs *out, tm_error *err) {
    int self, n_processes;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    const tm_share_readers readers = {n_processes, hosts->n, hosts->of};
    unsigned char *kinds = calloc(n + 1, 1);
    const tm_status status = tm_mpi_agree(comm, kinds ? TM_OK : tm_fail_memory(err), err);
    if (status != TM_OK) {
        free(kinds);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        if (tm_share_reader(&readers, inputs[i].seen, i) == self)
            kinds[i] = kind_of(&inputs[i]);
    MPI_Allreduce(MPI_IN_PLACE, kinds, (int)n, MPI_UNSIGNED_CHAR, MPI_MAX, comm);
    bool ok = true;
    tm_vec *const lists[] = {&out->dumps, &out->answers, &out->traces};
    for (size_t i = 0; i < n && ok; i++)
        ok = kinds[i] == IS_OTHER || tm_vec_append(lists[kinds[i]], &inputs[i], 1);
    free(kinds);
    return tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
}

tm_status tm_mpi_hang_read(MPI_Comm comm, const tm_hang_inputs *inputs, const tm_hosts *hosts,
                           int64_t n_ranks, tm_tables *out, tm_error *err) {
    const size_t n = inputs->dumps.n;
    tm_table *left_out = tm_tables_find(out, "job.left_out");
    reader r = {.inputs = inputs->dumps.data,
                .n = n,
                .hosts = hosts,
                .n_ranks = n_ranks,
                .left_out = left_out};
    MPI_Comm_rank(comm, &r.self);
    MPI_Comm_size(comm, &r.n_processes);
    r.candidates = calloc(n + 1, sizeof *r.candidates);
    tm_status status = read_all(comm, &r, &inputs->answers, out, err);
    free(r.candidates);
    MPI_Allreduce(MPI_IN_PLACE, &r.n_read, 1, MPI_INT64_T, MPI_SUM, comm);
    if (status == TM_OK && r.n_read == 0) {
        const bool reported = left_out->n_rows > 0;
        status = reported ? tm_fail(err, TM_ERR_INPUT, NULL, -1,
                                    "nothing can be read; the first error: %.400s",
                                    tm_table_row(left_out, 0)[2].value.text)
                          : TM_OK;
        status = tm_mpi_agree(comm, status, err);
    }
    return status;
}
