#include "perfetto_packet.h"

#include "base/inflate.h"

/* Returns whether a packet's field is known. Sets its type: a number, or bytes (a message or a
 * text). */
static bool is_known(uint32_t field, tm_wire_type *type) {
    *type = TM_WIRE_BYTES;
    switch (field) {
    case 3: /* trusted_uid */
    case PACKET_TIMESTAMP:
    case PACKET_SEQUENCE:
    case PACKET_FLAGS:
    case PACKET_CLEARED:
    case PACKET_DROPPED:
    case PACKET_CLOCK:
    case 79: /* trusted_pid */
    case 87: /* first_packet_on_sequence */
    case 98: /* machine_id */
        *type = TM_WIRE_VARINT;
        return true;
    case 1: /* ftrace_events */
    case 2: /* process_tree */
    case PACKET_SNAPSHOT:
    case PACKET_EVENT:
    case PACKET_INTERNED:
    case 33: /* trace_config */
    case 36: /* synchronization_marker */
    case PACKET_PROCESS:
    case PACKET_THREAD:
    case 45: /* system_info */
    case PACKET_COMPRESSED:
    case PACKET_GPU_COUNTER:
    case PACKET_GPU_STAGE:
    case PACKET_DEFAULTS:
    case PACKET_TRACK:
    case PACKET_COMPRESSED_ZSTD:
        return true;
    default:
        return false;
    }
}

static void take_number(tm_pf_packet *p, const tm_wire_field *field) {
    uint64_t value = field->value;
    if (field->number == PACKET_TIMESTAMP) {
        p->time = value;
        p->has_time = true;
    } else if (field->number == PACKET_CLOCK) {
        p->clock = (uint32_t)value;
        p->has_clock = true;
    } else if (field->number == PACKET_SEQUENCE) {
        p->sequence = (uint32_t)value;
    } else if (field->number == PACKET_FLAGS) {
        p->flags |= (uint32_t)value;
    } else if (field->number == PACKET_CLEARED && value) {
        p->flags |= STATE_CLEARED;
    } else if (field->number == PACKET_DROPPED) {
        p->dropped = value != 0;
    }
}

static tm_wire_message *part_of(tm_pf_packet *p, uint32_t field) {
    switch (field) {
    case PACKET_EVENT:
        return &p->event;
    case PACKET_GPU_STAGE:
        return &p->stage;
    case PACKET_GPU_COUNTER:
        return &p->gpu_counter;
    case PACKET_TRACK:
        return &p->track;
    case PACKET_SNAPSHOT:
        return &p->snapshot;
    case PACKET_DEFAULTS:
        return &p->defaults;
    case PACKET_INTERNED:
        return &p->interned;
    case PACKET_THREAD:
        return &p->thread;
    case PACKET_PROCESS:
        return &p->process;
    default:
        return NULL;
    }
}

/* Reads a packet's fields. If it contains compressed packets, also returns their bytes. */
static bool take_packet(tm_wire_message message, tm_pf_packet *out, tm_wire_field *packed) {
    tm_wire_field field;
    *out = (tm_pf_packet){.sequence = 0};
    packed->number = 0;
    while (tm_wire_next(&message, &field)) {
        if (field.type == TM_WIRE_VARINT) {
            take_number(out, &field);
            continue;
        }
        if (field.type != TM_WIRE_BYTES)
            continue;
        tm_wire_message *part = part_of(out, field.number);
        if (part)
            *part = tm_wire_inner(&field);
        else if (field.number == PACKET_COMPRESSED || field.number == PACKET_COMPRESSED_ZSTD)
            *packed = field;
    }
    return !tm_wire_damaged(&message);
}

tm_status tm_pf_walk_open(tm_source *source, tm_pf_walk *walk, tm_error *err) {
    *walk = (tm_pf_walk){.unpacked = TM_VEC(uint8_t)};
    return tm_wire_open(source, &walk->wire, err);
}

void tm_pf_walk_close(tm_pf_walk *walk) {
    tm_wire_close(&walk->wire);
    tm_vec_free(&walk->unpacked);
}

static tm_status unpack(tm_pf_walk *walk, const tm_wire_field *packed, const uint8_t *at,
                        tm_error *err) {
    tm_inflated result =
        packed->number == PACKET_COMPRESSED
            ? tm_inflate(packed->bytes, (size_t)packed->value, TM_WIRE_ITEM_MAX, &walk->unpacked)
            : tm_inflate_zstd(packed->bytes, (size_t)packed->value, TM_WIRE_ITEM_MAX,
                              &walk->unpacked);
    if (result == TM_INFLATE_NO_MEMORY)
        return tm_fail_memory(err);
    if (result == TM_INFLATE_LARGE)
        return tm_wire_fail(&walk->wire, at, "these compressed packets are larger than 64 MiB",
                            err);
    if (result == TM_INFLATE_DAMAGED)
        return tm_wire_fail(&walk->wire, at, "these compressed packets are damaged", err);
    walk->inner.p = walk->unpacked.data;
    walk->inner.end = walk->inner.p + walk->unpacked.n;
    return TM_OK;
}

/* Takes the next packet of the decompressed block. The packets in such a block contain no
 * compressed packets themselves. */
static bool next_inner(tm_pf_walk *walk, tm_pf_packet *out) {
    tm_wire_field field, packed;
    while (walk->inner.p && tm_wire_next(&walk->inner, &field))
        if (field.number == TRACE_PACKET && field.type == TM_WIRE_BYTES &&
            take_packet(tm_wire_inner(&field), out, &packed))
            return true;
    walk->inner.p = walk->inner.end = NULL;
    return false;
}

/* Ends the walk after a failure. If the file ends inside a packet, ignores this packet and reports
 * no error. */
static tm_status end_cut(tm_pf_walk *walk, const tm_error *found, bool *more, tm_error *err) {
    bool at_end = walk->wire.final || tm_source_cut_short(walk->wire.source);
    if (found->status == TM_ERR_INPUT && at_end) {
        walk->cut = true;
        *more = false;
        return TM_OK;
    }
    *err = *found;
    return found->status;
}

tm_status tm_pf_walk_next(tm_pf_walk *walk, tm_pf_packet *out, bool *more, tm_error *err) {
    tm_wire_field field, packed;
    tm_error found;
    *more = true;
    while (!next_inner(walk, out)) {
        tm_status status = tm_wire_field_head(&walk->wire, INT64_MAX, &field, more, &found);
        const bool bytes = status == TM_OK && *more && field.type == TM_WIRE_BYTES;
        if (bytes)
            status = tm_wire_take(&walk->wire, &field, &found);
        if (status != TM_OK)
            return end_cut(walk, &found, more, err);
        if (!*more)
            return TM_OK;
        if (!bytes || field.number != TRACE_PACKET)
            continue;
        if (!take_packet(tm_wire_inner(&field), out, &packed))
            return tm_wire_fail(&walk->wire, field.bytes,
                                "this is not a packet of a Perfetto trace", err);
        if (packed.number == 0)
            return TM_OK;
        walk->n_blocks++;
        if (walk->n_blocks > 1 && walk->n_blocks <= walk->first_block)
            continue;
        TM_TRY(unpack(walk, &packed, field.bytes, err));
    }
    return TM_OK;
}

/*
 * Returns whether a packet may have a field. Unknown fields are accepted, because newer writers add
 * fields.
 * @param sure  set to true if only a packet can have the field. (XLA's profiles begin with the same
 *              byte as a packet. But their planes have no fields with numbers from 8 on.)
 */
static bool may_be_of_packet(uint32_t field, unsigned type, bool *sure) {
    tm_wire_type of;
    bool known = is_known(field, &of);
    *sure = *sure || (known && of == type && field >= PACKET_TIMESTAMP);
    return !known || of == type;
}

/*
 * Returns whether a message may be a packet.
 * @param whole  whether the message is complete
 */
static bool may_be_packet(tm_wire_message message, bool whole, bool *sure) {
    tm_wire_field field;
    uint64_t tag;
    while (tm_wire_next(&message, &field))
        if (!may_be_of_packet(field.number, field.type, sure))
            return false;
    if (!tm_wire_damaged(&message))
        return true;
    return !whole && (!tm_wire_varint(message.p, message.end, &tag) ||
                      may_be_of_packet((uint32_t)(tag >> 3), tag & 7, sure));
}

/* If a packet is longer than the head, only its beginning is checked. */
static bool begins_packet(tm_wire_message rest, bool *sure) {
    uint64_t tag, size;
    const uint8_t *p = tm_wire_varint(rest.p, rest.end, &tag);
    p = p && tag == (TRACE_PACKET << 3 | TM_WIRE_BYTES) ? tm_wire_varint(p, rest.end, &size) : NULL;
    return p && may_be_packet((tm_wire_message){p, rest.end}, false, sure);
}

bool tm_pf_sniff(const char *head, size_t size, bool whole) {
    enum { LOOKED_AT = 16 };
    tm_wire_message rest = {(const uint8_t *)head, (const uint8_t *)head + size};
    tm_wire_field field;
    bool sure = false;
    (void)whole;
    for (int n = 0; n < LOOKED_AT; n++) {
        if (!tm_wire_next(&rest, &field))
            return sure || (begins_packet(rest, &sure) && sure);
        if (field.number == TRACE_PACKET &&
            (field.type != TM_WIRE_BYTES || !may_be_packet(tm_wire_inner(&field), true, &sure)))
            return false;
    }
    return sure;
}
