#include "formats.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/page_mark.h"
#include "json.h"
#include "timeline/part.h"
#include "unread.h"

static const tm_format *const formats[] = {
#define TM_FORMAT(name) &tm_format_##name,
#include "readers/formats.def"
#undef TM_FORMAT
};

enum { N_FORMATS = sizeof formats / sizeof *formats };

const tm_format *const *tm_formats(size_t *n) {
    *n = N_FORMATS;
    return formats;
}

const tm_format *tm_format_find(const char *name) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

/* Reads up to `room` bytes; fewer only if the content ends or a compressed stream is cut. */
static tm_status read_head(tm_source *source, char *head, size_t room, size_t *size,
                           tm_error *err) {
    size_t n;
    *size = 0;
    do {
        tm_status status = tm_source_read(source, head + *size, room - *size, &n, err);
        if (status != TM_OK)
            return *size > 0 && tm_source_cut_short(source) ? TM_OK : status;
        *size += n;
    } while (n > 0 && *size < room);
    return TM_OK;
}

/* Describes a profiler's output that is not a trace; NULL if it is unknown or cannot be read. */
static const char *what_is_unread(const char *path) {
    enum { LOOKED_AT = 4096 };
    char head[LOOKED_AT + 1] = "";
    size_t size = 0;
    tm_source *source;
    tm_error unread;
    if (tm_source_open(path, &source, &unread) != TM_OK)
        return NULL;
    if (read_head(source, head, LOOKED_AT, &size, &unread) != TM_OK)
        size = 0;
    head[size] = '\0';
    tm_source_close(source);
    return tm_unread_what(path, head, size);
}

tm_status tm_format_fail_unknown(const char *path, tm_error *err) {
    char known[TM_MESSAGE_MAX / 2] = "";
    const char *what = what_is_unread(path);
    if (what)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "%s", what);
    for (size_t i = 0; i < N_FORMATS; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? ", " : "",
                 formats[i]->name);
    return tm_fail(err, TM_ERR_INPUT, path, -1,
                   "this is not a trace of a known format (%s; tmerge list describes them)", known);
}

static void tell(const char *head, size_t size, bool whole, tm_file_info *out) {
    /* A store is an HDF5 file. */
    if (tm_begins_with(head, size, "\x89HDF\r\n\x1a\n"))
        out->kind = TM_FILE_STORE;
    else if (tm_page_mark(head))
        out->kind = TM_FILE_PAGE;
    for (size_t i = 0; i < N_FORMATS && !tm_unread_is_nccl_example(head); i++)
        if (formats[i]->sniff(head, size, whole) &&
            (!formats[i]->accepts || formats[i]->accepts(out->path))) {
            out->kind = TM_FILE_TRACE;
            out->format = formats[i];
            out->has_units = formats[i]->list_units &&
                             (!formats[i]->has_units || formats[i]->has_units(head, size));
            if (formats[i]->peek_rank)
                out->rank = formats[i]->peek_rank(head, size);
            return;
        }
}

tm_status tm_file_sniff(const char *path, tm_file_info *out, tm_error *err) {
    /* Compression makes Kineto's JSON about twelve times smaller. This rough estimate is good
     * enough to distribute the work. */
    enum { COMPRESSION_GUESS = 12 };
    tm_source *source;
    TM_TRY(tm_source_open(path, &source, err));
    char *head = malloc(TM_SNIFF_BYTES + TM_JSON_PADDING);
    size_t size = 0;
    tm_status status =
        head ? read_head(source, head, TM_SNIFF_BYTES, &size, err) : tm_fail_memory(err);
    if (status == TM_OK) {
        bool plain = strcmp(tm_source_encoding(source), "plain") == 0;
        memset(head + size, 0, TM_SNIFF_BYTES + TM_JSON_PADDING - size);
        *out = (tm_file_info){.path = path, .kind = TM_FILE_OTHER, .rank = -1};
        out->size_bytes = tm_source_size(source);
        out->weight = plain ? out->size_bytes : out->size_bytes * COMPRESSION_GUESS;
        tell(head, size, size < TM_SNIFF_BYTES, out);
        out->has_parts = plain && out->size_bytes > 0 && out->format && out->format->read_part;
    }
    free(head);
    tm_source_close(source);
    return status;
}

tm_status tm_file_list_units(const tm_file_info *info, bool known, tm_vec *units, bool *foreign,
                             tm_error *err) {
    tm_source *source;
    *foreign = false;
    if (!info->has_units || !info->format->list_units)
        return TM_OK;
    TM_TRY(tm_source_open(info->path, &source, err));
    tm_status status = info->format->list_units(source, known, units, foreign, err);
    tm_source_close(source);
    return status;
}

static tm_status start_trace(const tm_format *format, const char *path, tm_names *names,
                             tm_trace *out, tm_error *err) {
    tm_trace_init(out);
    out->source = tm_names_intern_string(names, path);
    out->format = tm_names_intern_string(names, format->name);
    if (out->source == TM_NAME_FAILED || out->format == TM_NAME_FAILED)
        return tm_fail_memory(err);
    return TM_OK;
}

/* Interns the name that the caller gives the file, never the path of a temporary copy. */
static tm_status read_open(const tm_format *format, tm_source *source, const tm_trace_file *which,
                           tm_names *names, tm_trace *out, tm_error *err) {
    const char *name = which->name ? which->name : tm_source_path(source);
    TM_TRY(start_trace(format, name, names, out, err));
    out->device_categories = which->device_categories;
    if (which->like)
        tm_trace_reserve(out, which->like, which->factor);
    tm_status status = which->unit ? format->read_unit(source, which->unit, names, out, err)
                                   : format->read(source, names, out, err);
    out->device_categories = NULL;
    tm_trace_trim(out);
    return status;
}

tm_status tm_trace_read_source(const tm_format *format, tm_source *source, const tm_unit *unit,
                               tm_names *names, tm_trace *out, tm_error *err) {
    return read_open(format, source, &(tm_trace_file){.unit = unit}, names, out, err);
}

/* If the format is unknown, the file is opened twice: detecting the format consumes bytes that the
 * reader needs, and a source can be read only once. */
tm_status tm_trace_read(const tm_trace_file *file, tm_names *names, const tm_source_watch *watch,
                        tm_trace *out, tm_error *err) {
    const char *path = file->path;
    tm_file_info info = {.kind = TM_FILE_TRACE, .format = file->format};
    tm_source *source;
    tm_trace_init(out);
    if (!info.format)
        TM_TRY(tm_file_sniff(path, &info, err));
    if (info.kind != TM_FILE_TRACE)
        return tm_format_fail_unknown(path, err);
    TM_TRY(tm_source_open(path, &source, err));
    if (file->spare_core)
        tm_source_decode_ahead(source);
    if (watch)
        tm_source_set_watch(source, *watch);
    tm_status status = read_open(info.format, source, file, names, out, err);
    tm_source_close(source);
    return status;
}

tm_status tm_trace_read_units(const tm_trace_file *file, tm_names *names,
                              const tm_source_watch *watch, tm_trace *const *out, tm_error *err) {
    const char *name = file->name ? file->name : file->path;
    size_t n = file->n_units;
    tm_source *source;
    tm_status status = TM_OK;
    for (size_t k = 0; k < n; k++)
        tm_trace_init(out[k]);
    for (size_t k = 0; k < n && status == TM_OK; k++) {
        status = start_trace(file->format, name, names, out[k], err);
        out[k]->device_categories = file->device_categories;
    }
    if (status == TM_OK)
        status = tm_source_open(file->path, &source, err);
    if (status != TM_OK)
        return status;
    if (file->spare_core)
        tm_source_decode_ahead(source);
    if (watch)
        tm_source_set_watch(source, *watch);
    status = file->format->read_units(source, file->unit, n, names, out, err);
    for (size_t k = 0; k < n; k++) {
        out[k]->device_categories = NULL;
        tm_trace_trim(out[k]);
    }
    tm_source_close(source);
    return status;
}

int64_t tm_part_cut(int64_t size, int index, int n) {
    return size / n * index + size % n * index / n;
}

static tm_status open_at(const char *path, int64_t offset, tm_source **out, tm_error *err) {
    tm_source *source;
    TM_TRY(tm_source_open(path, &source, err));
    tm_status status = offset > 0 ? tm_source_skip(source, offset, err) : TM_OK;
    if (status == TM_OK)
        *out = source;
    else
        tm_source_close(source);
    return status;
}

/* Finds the offset at which part `index` starts. Index n is the end of the file; its offset is
 * -1. */
static tm_status find_begin(const char *path, const tm_file_info *info, int index, int n,
                            int64_t *begin, tm_error *err) {
    tm_source *source;
    int64_t cut = tm_part_cut(info->size_bytes, index, n);
    *begin = index == 0 ? 0 : -1;
    if (index == 0 || index == n)
        return TM_OK;
    TM_TRY(open_at(path, cut, &source, err));
    tm_status status = info->format->find_event(source, begin, err);
    tm_source_close(source);
    if (status == TM_OK && *begin < 0)
        return tm_fail(err, TM_ERR_INPUT, path, cut, "no event starts here");
    return status;
}

tm_status tm_part_read(const tm_trace_file *file, tm_names *names, const tm_source_watch *watch,
                       tm_part *out, tm_error *err) {
    const char *path = file->path;
    tm_file_info info = {.kind = TM_FILE_OTHER};
    tm_source *source;
    int64_t begin, stop;
    tm_trace_init(out->trace);
    TM_TRY(tm_file_sniff(path, &info, err));
    if (!info.has_parts)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "this file cannot be read in parts");
    TM_TRY(find_begin(path, &info, out->index, out->n, &begin, err));
    TM_TRY(find_begin(path, &info, out->index + 1, out->n, &stop, err));
    TM_TRY(open_at(path, begin, &source, err));
    if (watch)
        tm_source_set_watch(source, *watch);
    tm_status status = start_trace(info.format, path, names, out->trace, err);
    out->trace->device_categories = file->device_categories;
    if (status == TM_OK)
        status = info.format->read_part(source, stop, names, out, err);
    out->trace->device_categories = NULL;
    tm_trace_trim(out->trace);
    tm_source_close(source);
    return status;
}

tm_status tm_parts_finish(tm_part *whole, tm_names *names, tm_error *err) {
    const tm_format *format = tm_format_find(tm_names_text(names, whole->trace->format).bytes);
    assert(format && format->finish); /* a trace with parts has a format that is read in parts */
    return format->finish(whole, names, err);
}
