/* Output files and buffers. A file gets its name only when it is complete, so that no reader sees a
 * partial file. Until then it has a temporary name in the same folder. */
#include "file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>
#include <zstd.h>

/* Size of the pieces in which compressed bytes are written. */
#define CHUNK_BYTES ((size_t)1 << 18)

/* isal_deflate counts input in 32 bits. */
#define GZIP_INPUT_BYTES ((size_t)1 << 30)

/* The encoder's default level: fast, and used by most tools that write traces. */
#define ZSTD_LEVEL 3

/* A sink of one kind; fields of other kinds are zero. */
struct tms_sink {
    int fd; /* -1: memory */
    char *path;
    char *temporary;
    int error; /* errno of the first failure; 0: none */
    tms_compression compress;
    uint8_t *chunk; /* [CHUNK_BYTES] compressed bytes; NULL for plain output */
    struct isal_zstream *gzip;
    uint8_t *gzip_level;
    ZSTD_CCtx *zstd;
    char *memory; /* [memory_capacity] content of a memory sink; memory_size bytes of it are used */
    size_t memory_size;
    size_t memory_capacity;
};

/* Keeps only the first failure, because it may cause further ones. */
static void set_error(tms_sink *sink, int error) {
    if (sink->error == 0) {
        sink->error = error != 0 ? error : EIO;
    }
}

/* Writes all bytes, although a write may be short or interrupted. */
static void write_file(tms_sink *sink, const void *data, size_t size) {
    const char *p = data;

    while (size > 0 && sink->error == 0) {
        ssize_t n = write(sink->fd, p, size);

        if (n >= 0) {
            p += n;
            size -= (size_t)n;
        } else if (errno != EINTR) {
            set_error(sink, errno);
        }
    }
}

/* Doubles the memory when necessary, so that each byte is copied once on average. */
static void write_memory(tms_sink *sink, const void *data, size_t size) {
    if (size > sink->memory_capacity - sink->memory_size) {
        size_t capacity = sink->memory_capacity * 2 + size;
        char *memory = realloc(sink->memory, capacity);

        if (memory == NULL) {
            set_error(sink, ENOMEM);
            return;
        }
        sink->memory = memory;
        sink->memory_capacity = capacity;
    }
    memcpy(sink->memory + sink->memory_size, data, size);
    sink->memory_size += size;
}

/* Compresses a piece. If @p last is set, also ends the stream. */
static void write_gzip(tms_sink *sink, const void *data, size_t size, bool last) {
    struct isal_zstream *gzip = sink->gzip;

    /* The library only reads its input, although the field is not const. */
    memcpy(&gzip->next_in, &data, sizeof data);
    gzip->avail_in = (uint32_t)size;
    gzip->end_of_stream = last;
    /* Room left in the output means that all input was consumed. */
    do {
        gzip->next_out = sink->chunk;
        gzip->avail_out = (uint32_t)CHUNK_BYTES;
        if (isal_deflate(gzip) != COMP_OK) {
            set_error(sink, EIO);
        }
        write_file(sink, sink->chunk, CHUNK_BYTES - gzip->avail_out);
    } while (sink->error == 0 && gzip->avail_out == 0);
}

/* Compresses a piece. If @p last is set, also ends the frame. */
static void write_zstd(tms_sink *sink, const void *data, size_t size, bool last) {
    ZSTD_inBuffer in = {data, size, 0};
    ZSTD_EndDirective mode = last ? ZSTD_e_end : ZSTD_e_continue;
    bool done = false;

    while (!done && sink->error == 0) {
        ZSTD_outBuffer out = {sink->chunk, CHUNK_BYTES, 0};
        size_t left = ZSTD_compressStream2(sink->zstd, &out, &in, mode);

        if (ZSTD_isError(left)) {
            set_error(sink, EIO);
            return;
        }
        write_file(sink, sink->chunk, out.pos);
        /* At the end of a frame, zstd returns the number of bytes that it still has to write. */
        done = last ? left == 0 : in.pos == in.size;
    }
}

void tms_sink_write(tms_sink *sink, const void *data, size_t size) {
    const char *p = data;

    if (sink->error != 0 || size == 0) {
        return;
    }
    if (sink->fd < 0) {
        write_memory(sink, data, size);
        return;
    }
    switch (sink->compress) {
    case TMS_COMPRESS_GZIP:
        for (; size > GZIP_INPUT_BYTES; p += GZIP_INPUT_BYTES, size -= GZIP_INPUT_BYTES) {
            write_gzip(sink, p, GZIP_INPUT_BYTES, false);
        }
        write_gzip(sink, p, size, false);
        break;
    case TMS_COMPRESS_ZSTD:
        write_zstd(sink, data, size, false);
        break;
    case TMS_COMPRESS_NONE:
    case TMS_COMPRESSION_COUNT:
        write_file(sink, data, size);
        break;
    }
}

static bool start_gzip(tms_sink *sink) {
    sink->gzip = malloc(sizeof *sink->gzip);
    sink->gzip_level = malloc(ISAL_DEF_LVL1_DEFAULT);
    if (sink->gzip == NULL || sink->gzip_level == NULL) {
        return false;
    }
    /* The header has no name and no time, so that equal options give equal bytes. */
    isal_deflate_init(sink->gzip);
    sink->gzip->gzip_flag = IGZIP_GZIP;
    sink->gzip->level = 1;
    sink->gzip->level_buf = sink->gzip_level;
    sink->gzip->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    return true;
}

/* The checksum lets a reader recognise a damaged file. */
static bool start_zstd(tms_sink *sink) {
    sink->zstd = ZSTD_createCCtx();
    return sink->zstd != NULL &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_checksumFlag, 1));
}

static bool start_compression(tms_sink *sink) {
    if (sink->compress == TMS_COMPRESS_NONE) {
        return true;
    }
    sink->chunk = malloc(CHUNK_BYTES);
    if (sink->chunk == NULL) {
        return false;
    }
    return sink->compress == TMS_COMPRESS_GZIP ? start_gzip(sink) : start_zstd(sink);
}

/* Frees everything except the file on disk. */
static void destroy(tms_sink *sink) {
    if (sink->fd >= 0) {
        (void)close(sink->fd);
    }
    (void)ZSTD_freeCCtx(sink->zstd);
    free(sink->gzip_level);
    free(sink->gzip);
    free(sink->chunk);
    free(sink->memory);
    free(sink->temporary);
    free(sink->path);
    free(sink);
}

/* The temporary name is in the same folder, because rename cannot cross file systems. */
static bool set_names(tms_sink *sink, const char *path) {
    size_t size = strlen(path) + sizeof ".tmp";

    sink->path = malloc(size);
    sink->temporary = malloc(size);
    if (sink->path == NULL || sink->temporary == NULL) {
        return false;
    }
    (void)snprintf(sink->path, size, "%s", path);
    (void)snprintf(sink->temporary, size, "%s.tmp", path);
    return true;
}

/* Makes a sink with the fields that all kinds use. */
static tms_status create(tms_sink **sink, tms_error *err) {
    tms_sink *made = calloc(1, sizeof *made);

    if (made == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for an output");
    }
    made->fd = -1;
    *sink = made;
    return TMS_OK;
}

tms_status tms_sink_open(tms_sink **sink, const char *path, tms_compression compress,
                         tms_error *err) {
    tms_sink *made = NULL;
    tms_status status = create(&made, err);

    if (status != TMS_OK) {
        return status;
    }
    made->compress = compress;
    if (!set_names(made, path) || !start_compression(made)) {
        destroy(made);
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for writing '%s'", path);
    }
    /* Overwrites a temporary file that an aborted run left. */
    made->fd = open(made->temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (made->fd < 0) {
        status = tms_fail(err, TMS_ERR_OUTPUT, "cannot write '%s': %s", made->temporary,
                          strerror(errno));
        destroy(made);
        return status;
    }
    *sink = made;
    return TMS_OK;
}

tms_status tms_sink_open_memory(tms_sink **sink, tms_error *err) {
    return create(sink, err);
}

bool tms_sink_failed(const tms_sink *sink) {
    return sink->error != 0;
}

const char *tms_sink_bytes(const tms_sink *sink, size_t *size) {
    *size = sink->memory_size;
    return sink->memory;
}

/* Ends the compressed stream, closes the file and renames it. */
static void finish_file(tms_sink *sink) {
    if (sink->compress == TMS_COMPRESS_GZIP && sink->error == 0) {
        write_gzip(sink, "", 0, true);
    } else if (sink->compress == TMS_COMPRESS_ZSTD && sink->error == 0) {
        write_zstd(sink, "", 0, true);
    }
    /* Some network disks report only here that they are full. */
    if (close(sink->fd) != 0) {
        set_error(sink, errno);
    }
    sink->fd = -1;
    if (sink->error == 0 && rename(sink->temporary, sink->path) != 0) {
        set_error(sink, errno);
    }
    if (sink->error != 0) {
        (void)unlink(sink->temporary);
    }
}

tms_status tms_sink_commit(tms_sink *sink, tms_error *err) {
    tms_status status = TMS_OK;

    if (sink->fd >= 0) {
        finish_file(sink);
    }
    if (sink->error != 0) {
        status = tms_fail(err, sink->path != NULL ? TMS_ERR_OUTPUT : TMS_ERR_FAULT,
                          "cannot write '%s': %s", sink->path != NULL ? sink->path : "memory",
                          strerror(sink->error));
    }
    destroy(sink);
    return status;
}

void tms_sink_abandon(tms_sink *sink) {
    if (sink == NULL) {
        return;
    }
    if (sink->temporary != NULL) {
        (void)unlink(sink->temporary);
    }
    destroy(sink);
}
