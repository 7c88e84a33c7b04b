#include "tmerge/source.h"

#include <stdlib.h>
#include <string.h>

#include "input/decoder.h"

struct tm_source {
    tm_raw raw;
    const tm_encoding *encoding;
    tm_decoder *decoder;   /* owned */
    tm_decoder *ahead;     /* owned; decodes on a thread; NULL if no thread runs */
    bool wants_ahead;      /* the next read starts the thread */
    char *path;            /* owned */
    int64_t offset;        /* decoded bytes delivered */
    tm_source_watch watch; /* its callback may be NULL */
    bool ended;            /* the decoder reached the end and is not called again */
    bool failed;           /* the failure was returned at least once */
    tm_error failure;      /* the first failure; its status is TM_OK if there was none */
};

/* Detects the encoding. Plain comes last: it accepts everything else. */
static const tm_encoding *tell(const tm_raw *raw) {
    static const tm_encoding *const known[] = {&tm_encoding_gzip, &tm_encoding_zstd,
                                               &tm_encoding_plain};
    size_t n = 0, i = 0, last = sizeof known / sizeof *known - 1;
    const uint8_t *head = tm_raw_head(raw, &n);
    while (i < last && !known[i]->recognises(head, n))
        i++;
    return known[i];
}

tm_status tm_source_wrap(tm_raw *raw, const char *name, tm_source **out, tm_error *err) {
    tm_source *source = calloc(1, sizeof *source);
    if (!source) {
        tm_raw_close(raw);
        return tm_fail_memory(err);
    }
    source->raw = *raw;
    source->encoding = tell(&source->raw);
    source->decoder = source->encoding->open(&source->raw);
    size_t length = strlen(name) + 1;
    source->path = malloc(length);
    if (!source->decoder || !source->path) {
        tm_source_close(source);
        return tm_fail_memory(err);
    }
    memcpy(source->path, name, length);
    *out = source;
    return TM_OK;
}

tm_status tm_source_of_decoder(tm_decoder *decoder, const char *name, tm_source **out,
                               tm_error *err) {
    tm_source *source = calloc(1, sizeof *source);
    size_t length = strlen(name) + 1;
    if (!source) {
        decoder->close(decoder);
        return tm_fail_memory(err);
    }
    tm_raw_open_memory(&source->raw, "", 0);
    source->encoding = &tm_encoding_plain;
    source->decoder = decoder;
    source->path = malloc(length);
    if (!source->path) {
        tm_source_close(source);
        return tm_fail_memory(err);
    }
    memcpy(source->path, name, length);
    *out = source;
    return TM_OK;
}

tm_status tm_source_open(const char *path, tm_source **out, tm_error *err) {
    tm_raw raw;
    tm_error found;
    tm_status status = tm_raw_open(&raw, path, &found);
    if (status != TM_OK)
        return found.nothing ? tm_fail_nothing(err, path, -1, found.message)
                             : tm_fail(err, status, path, -1, "%s", found.message);
    return tm_source_wrap(&raw, path, out, err);
}

tm_status tm_source_open_memory(const void *bytes, size_t size, const char *name, tm_source **out,
                                tm_error *err) {
    if (size == 0)
        return tm_fail(err, TM_ERR_INPUT, name, -1, "file is empty");
    tm_raw raw;
    tm_raw_open_memory(&raw, bytes, size);
    return tm_source_wrap(&raw, name, out, err);
}

void tm_source_decode_ahead(tm_source *source) {
    source->wants_ahead = source->encoding != &tm_encoding_plain;
}

/* Ends decoding ahead. The decoder and the raw file then belong to the calling thread again. */
static void end_ahead(tm_source *source) {
    if (source->ahead)
        source->ahead->close(source->ahead);
    source->ahead = NULL;
}

void tm_source_close(tm_source *source) {
    if (!source)
        return;
    end_ahead(source);
    if (source->decoder)
        source->decoder->close(source->decoder);
    tm_raw_close(&source->raw);
    free(source->path);
    free(source);
}

static tm_status report_failure(tm_source *source, tm_error *err) {
    source->failed = true;
    return tm_fail(err, source->failure.status, source->path, source->offset, "%s",
                   source->failure.message);
}

tm_status tm_source_read(tm_source *source, void *buffer, size_t capacity, size_t *n,
                         tm_error *err) {
    if (source->failure.status != TM_OK)
        return report_failure(source, err);
    size_t got = 0;
    if (capacity > 0 && !source->ended) {
        if (source->wants_ahead && !source->ahead) {
            source->ahead = tm_ahead_open(source->decoder);
            source->wants_ahead = source->ahead != NULL;
        }
        tm_decoder *decoder = source->ahead ? source->ahead : source->decoder;
        tm_status status = decoder->read(decoder, buffer, capacity, &got, &source->failure);
        source->offset += (int64_t)got;
        if (status != TM_OK && got == 0)
            return report_failure(source, err);
        source->ended = status == TM_OK && got < capacity;
        tm_source_tell(source, tm_source_consumed(source));
    }
    *n = got;
    return TM_OK;
}

tm_status tm_source_skip(tm_source *source, int64_t offset, tm_error *err) {
    tm_error found;
    tm_status status =
        source->encoding == &tm_encoding_plain
            ? tm_raw_skip(&source->raw, offset, &found)
            : tm_fail(&found, TM_ERR_INPUT, NULL, -1, "is compressed: it can only be read whole");
    if (status != TM_OK)
        return tm_fail(err, status, source->path, -1, "%s", found.message);
    source->offset = offset;
    source->ended = false;
    return TM_OK;
}

tm_status tm_source_rewind(tm_source *source, tm_error *err) {
    tm_error found;
    bool was_ahead = source->ahead != NULL;
    end_ahead(source);
    tm_status status = tm_raw_skip(&source->raw, 0, &found);
    if (status != TM_OK && was_ahead)
        source->failure = found; /* the source cannot continue, because data decoded ahead is
                                    lost */
    if (status != TM_OK)
        return tm_fail(err, status, source->path, -1, "%s", found.message);
    source->decoder->close(source->decoder);
    source->decoder = source->encoding->open(&source->raw);
    source->offset = 0;
    source->ended = source->failed = false;
    source->failure.status = TM_OK;
    return source->decoder ? TM_OK : tm_fail_memory(err);
}

void tm_source_set_watch(tm_source *source, tm_source_watch watch) {
    source->watch = watch;
}

void tm_source_tell(const tm_source *source, int64_t consumed_bytes) {
    if (source->watch.moved)
        source->watch.moved(source->watch.context, consumed_bytes);
}

bool tm_source_cut_short(const tm_source *source) {
    return source->failed && source->decoder->cut_short;
}

const char *tm_source_path(const tm_source *source) {
    return source->path;
}

const char *tm_source_encoding(const tm_source *source) {
    return source->encoding->name;
}

int64_t tm_source_offset(const tm_source *source) {
    return source->offset;
}

int64_t tm_source_consumed(const tm_source *source) {
    return source->ahead ? tm_ahead_consumed(source->ahead) : source->raw.consumed;
}

int64_t tm_source_size(const tm_source *source) {
    return source->raw.size;
}
