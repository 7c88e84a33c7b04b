#include "exports.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "entries.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "readers/converter.h"

enum { NAME_MAX_CHARS = 48 }; /* maximum length of an export's file name */

typedef struct exporter {
    MPI_Comm comm;
    int self;
    tm_share_readers readers;
    const tm_load_options *options;
    tm_table *left_out;
    tm_exports *out;
    tm_progress *progress;
    size_t *older; /* [n] indexed by input. If the input is a report that this process exports:
                      index of the report's outdated export, or n if there is none */
} exporter;

static const char *path_of(const exporter *x, size_t i) {
    return x->options->inputs[i].path;
}

/* Returns the process that exports a report; -1 for other files. Reports have similar sizes, so
 * the processes that can open them take turns. */
static int exporter_of(const exporter *x, size_t *n_reports, size_t i) {
    if (!tm_converter_of(path_of(x, i)))
        return -1;
    return tm_share_reader(&x->readers, x->options->inputs[i].seen, (*n_reports)++);
}

static bool is_mine(const exporter *x, size_t *n_reports, size_t i) {
    return exporter_of(x, n_reports, i) == x->self;
}

static bool has_hosts(const exporter *x) {
    return x->readers.n_hosts > 1;
}

/* Returns whether this host can open an input. */
static bool sees(const exporter *x, size_t i) {
    return !has_hosts(x) || tm_hosts_has(x->options->inputs[i].seen, x->options->hosts->self);
}

static const char *name_in(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Finds the input that is the export next to a report. Returns its index, and sets *info to the
 * file's stat data; returns n_inputs if there is none. */
static size_t find_export(const exporter *x, const char *report, struct stat *info) {
    size_t n = x->options->n_inputs, i = 0;
    char path[TM_PATH_MAX * 4];
    struct stat other;
    if (!tm_converter_trace(tm_converter_of(report), report, path, sizeof path) ||
        stat(path, info) != 0)
        return n;
    /* Compares names before calling stat: there may be thousands of inputs on a slow file
     * system. */
    while (i < n && (strcmp(name_in(path_of(x, i)), name_in(path)) != 0 || !sees(x, i) ||
                     stat(path_of(x, i), &other) != 0 || other.st_dev != info->st_dev ||
                     other.st_ino != info->st_ino))
        i++;
    return i;
}

static bool is_older(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec < b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* Decides how a report is read. A file that has a report's name but is something else, or that
 * cannot be opened, is handled like any other input. */
static void decide(exporter *x, size_t i) {
    const char *report = path_of(x, i);
    char program[TM_PATH_MAX];
    tm_file_info info = {.kind = TM_FILE_OTHER};
    struct stat own, other;
    if (tm_file_sniff(report, &info, NULL) != TM_OK || info.kind != TM_FILE_OTHER ||
        stat(report, &own) != 0)
        return;
    size_t export = find_export(x, report, &other);
    bool given = export < x->options->n_inputs;
    if (given && !is_older(&other, &own))
        x->out->states[i] = TM_EXPORT_GIVEN;
    else if (tm_converter_find(tm_converter_of(report), program, sizeof program))
        x->out->states[i] = TM_EXPORT_DONE;
    if (given && x->out->states[i] == TM_EXPORT_DONE) {
        x->out->states[export] = TM_EXPORT_OUTDATED;
        x->older[i] = export;
    }
}

/* Gives every process the states of all inputs. One process sets each state; on other processes the
 * state is 0 or an older, lower value. So the maximum is the current state. */
static tm_status share_states(const exporter *x, tm_error *err) {
    size_t n = x->out->n;
    if (n > INT32_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "more files than one run can take");
    MPI_Allreduce(MPI_IN_PLACE, x->out->states, (int)n, MPI_INT, MPI_MAX, x->comm);
    return TM_OK;
}

/* Makes a folder whose name shows that it belongs to tmerge, in case tmerge is killed.
 * @param out  unchanged if the folder cannot be made; then errno holds the reason */
static tm_status make_folder_at(const exporter *x, const char *place, int size_of_place, char **out,
                                tm_error *err) {
    size_t size = (size_t)size_of_place + sizeof ".tmerge-XXXXXX";
    char *folder = malloc(size);
    if (!folder)
        return tm_fail_memory(err);
    snprintf(folder, size, "%.*s.tmerge-XXXXXX", size_of_place, place);
    const tm_guard *guard = x->options->guard;
    if (guard)
        guard->hold();
    bool made = mkdtemp(folder) != NULL;
    int reason = errno;
    if (made && guard)
        guard->remove(folder);
    if (guard)
        guard->release();
    if (made)
        *out = folder;
    else
        free(folder);
    errno = reason;
    return TM_OK;
}

/* Makes the folder on the first process of each host. On other hosts, the path of the output may be
 * on another disk. */
static tm_status make_folder(const exporter *x, char **out, tm_error *err) {
    const char *beside = x->options->output ? x->options->output : "";
    TM_TRY(make_folder_at(x, beside, (int)(name_in(beside) - beside), out, err));
    int reason = errno;
    if (!*out && x->options->hosts && x->options->hosts->self > 0) {
        char place[TM_PATH_MAX];
        const char *temporary = getenv("TMPDIR");
        int n = snprintf(place, sizeof place, "%s/", temporary && *temporary ? temporary : "/tmp");
        if (n > 0 && (size_t)n < sizeof place)
            TM_TRY(make_folder_at(x, place, n, out, err));
    }
    return *out ? TM_OK
                : tm_fail(
                      err, TM_ERR_OUTPUT, x->options->output, -1,
                      "the folder for exports of reports, next to this file, cannot be created: %s",
                      strerror(reason));
}

/* Registers an export, and the journal that SQLite may leave next to it, for removal if tmerge is
 * killed. */
static void guard_export(const tm_guard *guard, const char *path, size_t size) {
    static const char journal[] = "-journal";
    char *name = malloc(size + sizeof journal);
    guard->remove(path);
    if (name) {
        snprintf(name, size + sizeof journal, "%s%s", path, journal);
        guard->remove(name);
    }
    free(name);
}

static tm_status name_exports(const exporter *x, tm_error *err) {
    const tm_guard *guard = x->options->guard;
    size_t size = strlen(x->out->folder) + NAME_MAX_CHARS;
    if (guard && x->self != 0)
        guard->remove(x->out->folder);
    for (size_t i = 0; i < x->out->n; i++) {
        if (x->out->states[i] != TM_EXPORT_DONE)
            continue;
        const tm_converter *converter = tm_converter_of(path_of(x, i));
        char *path = malloc(size);
        if (!path)
            return tm_fail_memory(err);
        /* A path in this host's folder: other hosts do not read it. */
        snprintf(path, size, "%s/%zu%s", x->out->folder, i, converter->trace_end);
        x->out->paths[i] = path;
        /* Every process registers all exports for removal, because the process that makes an export
         * may be killed. */
        if (guard)
            guard_export(guard, path, size);
    }
    return TM_OK;
}

static void tick(void *context) {
    const exporter *x = context;
    tm_progress_add(x->progress, 0, 0);
}

static int64_t size_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? info.st_size : 0;
}

static tm_status convert(const char *report, const char *path, const tm_child_watch *watch,
                         tm_error *err) {
    const tm_converter *converter = tm_converter_of(report);
    char program[TM_PATH_MAX];
    if (!tm_converter_find(converter, program, sizeof program))
        return tm_fail(err, TM_ERR_INPUT, report, -1,
                       "%s was found on the PATH before, but no longer is", converter->program);
    return converter->convert(program, report, path, watch, err);
}

static tm_status export_one(exporter *x, size_t i, tm_error *err) {
    const tm_child_watch watch = {x->options->guard, tick, x};
    const char *report = path_of(x, i);
    char text[TM_PATH_MAX + TM_MESSAGE_MAX + 64];
    tm_error failure;
    tm_status status = convert(report, x->out->paths[i], &watch, &failure);
    tm_progress_add(x->progress, size_of(report), 0);
    if (status != TM_OK && err)
        *err = failure;
    if (status != TM_ERR_INPUT || !x->options->skip_bad)
        return status;
    tm_error_text(&failure, text, sizeof text);
    x->out->states[i] = TM_EXPORT_BAD;
    if (x->older[i] < x->out->n)
        x->out->states[x->older[i]] = TM_EXPORT_KEPT;
    return tm_entries_leave_out(x->left_out, report, "unreadable", text, err);
}

static tm_status export_own(exporter *x, tm_error *err) {
    size_t n_reports = 0;
    int64_t total = 0;
    tm_status status = TM_OK;
    for (size_t i = 0; i < x->out->n && x->self == 0; i++)
        total += x->out->states[i] == TM_EXPORT_DONE ? size_of(path_of(x, i)) : 0;
    const tm_progress_work work = {"exporting", "B", total};
    TM_TRY(tm_progress_begin(x->comm, x->options->progress, &work, &x->progress, err));
    for (size_t i = 0; i < x->out->n && status == TM_OK; i++)
        if (is_mine(x, &n_reports, i) && x->out->states[i] == TM_EXPORT_DONE)
            status = export_one(x, i, err);
    tm_progress_end(x->progress);
    return tm_mpi_agree(x->comm, status, err);
}

/* With several hosts, an export is read on the host that made it. */
static tm_status mark_hosts(exporter *x, tm_error *err) {
    size_t n_reports = 0, n_words = tm_hosts_words(x->readers.n_hosts);
    for (size_t i = 0; i < x->out->n && has_hosts(x); i++) {
        int process = exporter_of(x, &n_reports, i);
        if (process < 0 || x->out->states[i] != TM_EXPORT_DONE)
            continue;
        int host = x->readers.host_of[process];
        x->out->seen[i] = calloc(n_words, sizeof **x->out->seen);
        if (!x->out->seen[i])
            return tm_fail_memory(err);
        x->out->seen[i][host / 64] |= UINT64_C(1) << host % 64;
    }
    return TM_OK;
}

static tm_status export_all(exporter *x, tm_error *err) {
    char *folder = NULL;
    size_t size = 0;
    bool leads = x->options->hosts ? x->options->hosts->leads : x->self == 0;
    MPI_Comm node = x->options->hosts ? x->options->hosts->node : x->comm;
    tm_status status = leads ? make_folder(x, &folder, err) : TM_OK;
    x->out->folder = folder;
    TM_TRY(tm_mpi_agree(x->comm, status, err));
    if (folder)
        size = strlen(folder) + 1;
    void *bytes = folder;
    status = tm_mpi_broadcast_bytes(node, &bytes, &size, err);
    x->out->folder = bytes;
    if (status == TM_OK)
        status = mark_hosts(x, err);
    TM_TRY(tm_mpi_agree(x->comm, status, err));
    TM_TRY(tm_mpi_agree(x->comm, name_exports(x, err), err));
    TM_TRY(export_own(x, err));
    return share_states(x, err);
}

tm_status tm_mpi_exports_make(MPI_Comm comm, const tm_load_options *options,
                              const tm_share_readers *readers, tm_table *left_out, tm_exports *out,
                              tm_error *err) {
    exporter x = {
        .comm = comm, .readers = *readers, .options = options, .left_out = left_out, .out = out};
    size_t n = options->n_inputs, n_reports = 0, n_exports = 0;
    *out = (tm_exports){.states = calloc(n + 1, sizeof *out->states),
                        .paths = calloc(n + 1, sizeof *out->paths),
                        .seen = calloc(n + 1, sizeof *out->seen),
                        .n = n};
    x.older = malloc((n + 1) * sizeof *x.older);
    bool ok = out->states && out->paths && out->seen && x.older;
    MPI_Comm_rank(comm, &x.self);
    tm_status status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        x.older[i] = n;
        if (is_mine(&x, &n_reports, i))
            decide(&x, i);
    }
    if (status == TM_OK && n_reports > 0)
        status = share_states(&x, err);
    for (size_t i = 0; i < n && status == TM_OK; i++)
        n_exports += out->states[i] == TM_EXPORT_DONE;
    if (status == TM_OK && n_exports > 0)
        status = export_all(&x, err);
    free(x.older);
    return status;
}

/* Removes the folder with all files that the programs left in it. */
static void remove_folder(const char *folder) {
    char path[TM_PATH_MAX * 2];
    DIR *dir = opendir(folder);
    const struct dirent *item;
    /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
    while (dir && (item = readdir(dir))) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        if (n > 0 && (size_t)n < sizeof path)
            (void)unlink(path); /* fails for "." and ".." */
    }
    if (dir)
        closedir(dir);
    (void)rmdir(folder);
}

void tm_exports_remove(tm_exports *exports, bool folder_too) {
    if (exports->folder && folder_too)
        remove_folder(exports->folder);
    for (size_t i = 0; exports->paths && i < exports->n; i++)
        free(exports->paths[i]);
    for (size_t i = 0; exports->seen && i < exports->n; i++)
        free(exports->seen[i]);
    free(exports->paths);
    free(exports->seen);
    free(exports->states);
    free(exports->folder);
    *exports = (tm_exports){0};
}
