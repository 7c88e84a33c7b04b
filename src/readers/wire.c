#include "wire.h"

#include <inttypes.h>
#include <stdlib.h>

/* maximum size of a field's head: tag and number, two varints */
enum { HEAD_MAX = 20, SKIPPED_AT_ONCE = 1 << 16 };

const uint8_t *tm_wire_long_varint(const uint8_t *p, const uint8_t *end, uint64_t *out) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && p < end; shift += 7) {
        uint8_t byte = *p++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = value;
            return shift < 63 || byte < 2 ? p : NULL; /* only one bit of the tenth byte is valid */
        }
    }
    return NULL;
}

tm_status tm_wire_fail(const tm_wire *wire, const uint8_t *at, const char *why, tm_error *err) {
    return tm_fail(err, TM_ERR_INPUT, tm_source_path(wire->source), tm_wire_at(wire, at), "%s",
                   why);
}

tm_status tm_wire_open(tm_source *source, tm_wire *out, tm_error *err) {
    bool plain = strcmp(tm_source_encoding(source), "plain") == 0;
    uint8_t *buffer = calloc(TM_WINDOW_BYTES + TM_WIRE_SLACK, 1);
    if (!buffer)
        return tm_fail_memory(err);
    *out =
        (tm_wire){.source = source,
                  .buffer = buffer,
                  .capacity = TM_WINDOW_BYTES,
                  .p = buffer,
                  .end = buffer,
                  .size = plain && tm_source_size(source) > 0 ? tm_source_size(source) : INT64_MAX};
    return TM_OK;
}

void tm_wire_close(tm_wire *wire) {
    free(wire->buffer);
    wire->buffer = NULL;
}

/* Moves the bytes that were not taken yet to the front of the window. If the window is smaller than
 * @p n bytes, enlarges it. */
static tm_status make_room(tm_wire *wire, size_t n, tm_error *err) {
    size_t held = (size_t)(wire->end - wire->p), capacity = wire->capacity;
    wire->offset = tm_wire_at(wire, wire->p);
    memmove(wire->buffer, wire->p, held);
    while (capacity < n)
        capacity *= 2;
    if (capacity > wire->capacity) {
        uint8_t *buffer = realloc(wire->buffer, capacity + TM_WIRE_SLACK);
        if (!buffer)
            return tm_fail_memory(err);
        wire->buffer = buffer;
        wire->capacity = capacity;
    }
    wire->p = wire->buffer;
    wire->end = wire->buffer + held;
    return TM_OK;
}

/* If reading fails, keeps the bytes read so far. The next read fails in the same way. */
static tm_status fill(tm_wire *wire, size_t n, tm_error *err) {
    if ((size_t)(wire->end - wire->p) >= n || wire->final)
        return TM_OK;
    TM_TRY(make_room(wire, n, err));
    size_t held = (size_t)(wire->end - wire->buffer), got = 1;
    tm_status status = TM_OK;
    while (held < wire->capacity && got > 0 && status == TM_OK) {
        got = 0;
        status =
            tm_source_read(wire->source, wire->buffer + held, wire->capacity - held, &got, err);
        held += got;
    }
    wire->end = wire->buffer + held;
    memset(wire->buffer + held, 0, TM_WIRE_SLACK);
    wire->final = status == TM_OK && got == 0;
    return held >= n ? TM_OK : status;
}

tm_status tm_wire_peek(tm_wire *wire, size_t n, tm_error *err) {
    tm_status status = fill(wire, n, err);
    return wire->p < wire->end && status != TM_ERR_FAULT ? TM_OK : status;
}

/*
 * Makes the next @p n bytes from wire->p on available in the window. wire->p may move.
 *
 * @return  TM_OK; TM_ERR_INPUT if the content has fewer bytes, or if @p n exceeds TM_WIRE_ITEM_MAX;
 *          TM_ERR_FAULT
 */
static tm_status hold(tm_wire *wire, size_t n, tm_error *err) {
    if (n > TM_WIRE_ITEM_MAX)
        return tm_wire_fail(wire, wire->p, "this event or value is larger than 64 MiB", err);
    TM_TRY(fill(wire, n, err));
    if ((size_t)(wire->end - wire->p) < n)
        return tm_wire_fail(wire, wire->end, "the file ends in the middle of a message", err);
    return TM_OK;
}

static void forget(tm_wire *wire, int64_t offset) {
    wire->offset = offset;
    wire->p = wire->end = wire->buffer;
    wire->final = false;
}

tm_status tm_wire_seek(tm_wire *wire, int64_t offset, tm_error *err) {
    int64_t ahead = offset - wire->offset;
    if (ahead >= 0 && ahead <= wire->end - wire->buffer) {
        wire->p = wire->buffer + ahead;
        return TM_OK;
    }
    if (wire->size != INT64_MAX) {
        TM_TRY(tm_source_skip(wire->source, offset, err));
        forget(wire, offset);
        return TM_OK;
    }
    if (offset < tm_source_offset(wire->source)) {
        TM_TRY(tm_source_rewind(wire->source, err));
        forget(wire, 0);
    } else {
        forget(wire, tm_source_offset(wire->source));
    }
    while (tm_wire_at(wire, wire->end) < offset) {
        wire->p = wire->end;
        TM_TRY(hold(wire, 1, err));
    }
    wire->p = wire->buffer + (offset - wire->offset);
    return TM_OK;
}

/* Whether the bytes end inside a varint. */
static bool is_cut(const uint8_t *p, const uint8_t *end) {
    const uint8_t *begin = p;
    while (p < end && *p >= 0x80)
        p++;
    return p == end && p - begin < 10;
}

/* Reports why no field could be read at the current position. */
static tm_status fail_head(tm_wire *wire, int64_t end, tm_error *err) {
    uint64_t tag = TM_WIRE_BYTES;
    const uint8_t *p = tm_wire_varint(wire->p, wire->end, &tag);
    unsigned type = tag & 7;
    bool cut =
        type == TM_WIRE_FIXED64 || type == TM_WIRE_FIXED32 ||
        ((type == TM_WIRE_VARINT || type == TM_WIRE_BYTES) && is_cut(p ? p : wire->p, wire->end));
    if (cut && end >= tm_wire_at(wire, wire->end))
        return tm_wire_fail(wire, wire->end, "the file ends in the middle of a message", err);
    return tm_wire_fail(wire, wire->p, "no field of a protocol buffer message starts here", err);
}

tm_status tm_wire_field_head(tm_wire *wire, int64_t end, tm_wire_field *out, bool *more,
                             tm_error *err) {
    int64_t at = tm_wire_at(wire, wire->p);
    *more = at < end;
    if (wire->end - wire->p < HEAD_MAX)
        TM_TRY(tm_wire_peek(wire, HEAD_MAX, err));
    /* If `end` is INT64_MAX, the message is the whole content, and ends where the content ends. */
    if (wire->p == wire->end && end == INT64_MAX)
        *more = false;
    if (!*more)
        return TM_OK;
    int64_t left = end - at;
    tm_wire_message rest = {wire->p, left < wire->end - wire->p ? wire->p + left : wire->end};
    uint64_t tag;
    const uint8_t *p = tm_wire_varint(rest.p, rest.end, &tag);
    if (!p || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3 || (tag & 7) != TM_WIRE_BYTES) {
        if (!tm_wire_next(&rest, out))
            return fail_head(wire, end, err);
        wire->p = rest.p;
        return TM_OK;
    }
    *out = (tm_wire_field){.number = (uint32_t)(tag >> 3), .type = TM_WIRE_BYTES};
    p = tm_wire_varint(p, rest.end, &out->value);
    if (!p)
        return fail_head(wire, end, err);
    left -= p - wire->p;
    if (out->value > (uint64_t)left)
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(wire->source), at,
                       "a field of %" PRIu64 " bytes starts here, but %s %" PRId64 " bytes later%s",
                       out->value, end == wire->size ? "the file ends" : "its message ends", left,
                       out->value > INT32_MAX ? "; protobuf's limit is 2 GB" : "");
    wire->p = p;
    return TM_OK;
}

tm_status tm_wire_take(tm_wire *wire, tm_wire_field *field, tm_error *err) {
    TM_TRY(hold(wire, (size_t)field->value, err));
    field->bytes = wire->p;
    wire->p += field->value;
    return TM_OK;
}
