/* The wire format of protocol buffers: messages in memory, and in a bounded window over a
 * source. */
#ifndef TMERGE_READERS_WIRE_H
#define TMERGE_READERS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tmerge/names.h"
#include "tmerge/source.h"
#include "tmerge/status.h"
#include "window.h"

typedef enum tm_wire_type {
    TM_WIRE_VARINT = 0,
    TM_WIRE_FIXED64 = 1,
    TM_WIRE_BYTES = 2, /* a text or a message */
    TM_WIRE_FIXED32 = 5
} tm_wire_type;

typedef struct tm_wire_field {
    uint32_t number;
    uint8_t type;         /* tm_wire_type */
    uint64_t value;       /* the number as written; for TM_WIRE_BYTES, the length of the content */
    const uint8_t *bytes; /* for TM_WIRE_BYTES: the content, if it is in memory */
} tm_wire_field;

/** The bytes of a message in memory that are not taken yet. Borrowed. */
typedef struct tm_wire_message {
    const uint8_t *p, *end;
} tm_wire_message;

/** Reads a varint of any length: the general case of tm_wire_varint. */
const uint8_t *tm_wire_long_varint(const uint8_t *p, const uint8_t *end, uint64_t *out);

/**
 * Reads a varint of up to eight bytes without a loop. Eight bytes must be readable.
 *
 * @return  position after the varint; NULL if the varint is longer. Always NULL on big-endian
 *          machines.
 */
static inline const uint8_t *tm_wire_short_varint(const uint8_t *p, uint64_t *out) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t x;
    memcpy(&x, p, sizeof x);
    uint64_t stops = ~x & UINT64_C(0x8080808080808080);
    if (stops) {
        x &= (stops ^ (stops - 1)) &
             UINT64_C(0x7F7F7F7F7F7F7F7F); /* the bits up to the last byte of the varint */
        x = (x & UINT64_C(0x007F007F007F007F)) | (x & UINT64_C(0x7F007F007F007F00)) >> 1;
        x = (x & UINT64_C(0x00003FFF00003FFF)) | (x & UINT64_C(0x3FFF00003FFF0000)) >> 2;
        *out = (x & UINT64_C(0x0FFFFFFF)) | (x & UINT64_C(0x0FFFFFFF00000000)) >> 4;
        return p + (__builtin_ctzll(stops) / 8 + 1);
    }
#else
    (void)p;
    (void)out;
#endif
    return NULL;
}

/** Reads a varint that ends at @p end at the latest. Returns NULL if the varint is longer than ten
 * bytes or not complete. Fast for the most common lengths, which are one and two bytes. */
static inline const uint8_t *tm_wire_varint(const uint8_t *p, const uint8_t *end, uint64_t *out) {
    if (end - p >= 1 && p[0] < 0x80) {
        *out = p[0];
        return p + 1;
    }
    if (end - p >= 2 && p[1] < 0x80) {
        *out = (uint64_t)(p[0] & 0x7F) | (uint64_t)p[1] << 7;
        return p + 2;
    }
    const uint8_t *after = end - p >= 8 ? tm_wire_short_varint(p, out) : NULL;
    return after ? after : tm_wire_long_varint(p, end, out);
}

static inline const uint8_t *tm_wire_fixed(const uint8_t *p, const uint8_t *end, size_t size,
                                           uint64_t *out) {
    if ((size_t)(end - p) < size)
        return NULL;
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out |= (uint64_t)p[i] << 8 * i;
    return p + size;
}

/**
 * Takes the next field of a message.
 *
 * @return  false at the end of the message. Also false at an invalid field, that is, a varint that
 *          is too long, an unknown type, or a length beyond the end; message->p is then not
 *          message->end.
 */
static inline bool tm_wire_next(tm_wire_message *message, tm_wire_field *out) {
    uint64_t tag;
    const uint8_t *end = message->end;
    const uint8_t *p = message->p < end ? tm_wire_varint(message->p, end, &tag) : NULL;
    if (!p || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
        return false;
    out->number = (uint32_t)(tag >> 3);
    out->type = (uint8_t)(tag & 7);
    if (out->type == TM_WIRE_VARINT || out->type == TM_WIRE_BYTES)
        p = tm_wire_varint(p, end, &out->value);
    else if (out->type == TM_WIRE_FIXED64 || out->type == TM_WIRE_FIXED32)
        p = tm_wire_fixed(p, end, out->type == TM_WIRE_FIXED64 ? 8 : 4, &out->value);
    else
        return false;
    if (p && out->type == TM_WIRE_BYTES) {
        out->bytes = p;
        p = out->value <= (uint64_t)(end - p) ? p + out->value : NULL;
    }
    if (!p)
        return false;
    message->p = p;
    return true;
}

/** Whether tm_wire_next stopped before the end. */
static inline bool tm_wire_damaged(const tm_wire_message *message) {
    return message->p != message->end;
}

/** tm_wire_inner returns the bytes of a TM_WIRE_BYTES field as a message. tm_wire_text returns them
 * as a text. */
static inline tm_wire_message tm_wire_inner(const tm_wire_field *field) {
    return (tm_wire_message){field->bytes, field->bytes + field->value};
}
static inline tm_text tm_wire_text(const tm_wire_field *field) {
    return (tm_text){(const char *)field->bytes, (size_t)field->value};
}

enum {
    /* number of bytes after a window's end that are readable; their content is undefined */
    TM_WIRE_SLACK = 16,
    TM_WIRE_ITEM_MAX = 1 << 26 /* maximum size of a message that is held in memory: 64 MiB */
};

/** A bounded window over a source. */
typedef struct tm_wire {
    tm_source *source; /* borrowed */
    uint8_t *buffer;   /* owned */
    size_t capacity;
    int64_t offset;         /* offset of buffer[0] in the decoded content */
    const uint8_t *p, *end; /* bytes that were read and not yet taken */
    bool final;             /* the content ends at `end` */
    int64_t size;           /* size of the decoded content; INT64_MAX if unknown */
} tm_wire;

/** Starts a window. The source must be unread. TM_OK; TM_ERR_FAULT. */
tm_status tm_wire_open(tm_source *source, tm_wire *out, tm_error *err) TM_MUST_CHECK;
void tm_wire_close(tm_wire *wire);

/** Returns the offset of a byte of the window in the decoded content. */
static inline int64_t tm_wire_at(const tm_wire *wire, const uint8_t *p) {
    return wire->offset + (p - wire->buffer);
}

/** Makes the next @p n bytes from wire->p on available in the window, or fewer at the end of the
 * content. wire->p may move. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_wire_peek(tm_wire *wire, size_t n, tm_error *err) TM_MUST_CHECK;

/** Moves to any byte of the content, forwards or back. A compressed source is decoded up to this
 * byte. To move back, it is decoded again from its start. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_wire_seek(tm_wire *wire, int64_t offset, tm_error *err) TM_MUST_CHECK;

/**
 * Takes the next field of a message that may be larger than the window. If the field is a number,
 * reads the number. If the field is bytes, reads only their length; the bytes are then at wire->p.
 *
 * @param end   offset of the message's end
 * @param more  false at the end of the message
 * @return      TM_OK; TM_ERR_INPUT, also for a field that ends after @p end; TM_ERR_FAULT
 */
tm_status tm_wire_field_head(tm_wire *wire, int64_t end, tm_wire_field *out, bool *more,
                             tm_error *err) TM_MUST_CHECK;

/** Takes the bytes of a field after tm_wire_field_head returned their length. The bytes are valid
 * until the window is used again. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_wire_take(tm_wire *wire, tm_wire_field *field, tm_error *err) TM_MUST_CHECK;

/** Fails with an error at the position of a byte of the window. */
tm_status tm_wire_fail(const tm_wire *wire, const uint8_t *at, const char *why, tm_error *err);

#endif
