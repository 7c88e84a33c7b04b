/* Traces that are read in parts: what a part contains, and how parts are joined. */
#ifndef TMERGE_PART_H
#define TMERGE_PART_H

#include "join.h"

/** The name of a process or thread. Tracks get names only when all tracks are known. */
typedef struct tm_label {
    uint32_t pid, tid, text; /* name ids */
    bool process; /* true: name of a process, which applies to all of its tracks; false: name of a
                     thread */
} tm_label;

typedef enum tm_mark_kind {
    TM_MARK_PENDING, /* `event` may be device work; if it is, the mark has category, correlation,
                        bytes and stream */
    TM_MARK_LINK,    /* `event` belongs to the operator with id `value` */
    TM_MARK_STREAM,  /* `stream` belongs to a track */
    TM_MARK_DEVICES  /* `text` is a category from which the kind of the devices is found */
} tm_mark_kind;

/** Something in a file that can be interpreted only when the whole trace has been read. */
typedef struct tm_mark {
    int64_t value;           /* PENDING: correlation id; LINK: the operator's id */
    int64_t bytes;           /* PENDING: bytes of a copy; -1 unknown */
    int64_t stream;          /* PENDING, STREAM: number of a stream */
    uint32_t event;          /* TM_NO_EVENT if the mark is about no event */
    uint32_t text, pid, tid; /* name ids */
    int32_t device;
    uint8_t kind;     /* tm_mark_kind */
    uint8_t category; /* PENDING: tm_category of the event if it is device work */
    uint16_t unused;  /* must be 0, because marks are sent as bytes */
} tm_mark;

/** The start or the end of a flow. pid and tid are hashes of the ids as written. */
typedef struct tm_flow {
    uint64_t id;   /* hash of the flow's id as written */
    int64_t ts_ns; /* relative to the trace's base time */
    uint32_t pid, tid;
    uint32_t end; /* 1: end, 0: start */
    uint32_t unused;
} tm_flow;

/** A part of a file. The parts together are equal to the file read as a whole if the first part
 * starts at the start of the file, and each further part starts exactly where the previous part
 * ends. */
typedef struct tm_part {
    int index, n;    /* index of the part, 0 to n - 1 */
    tm_trace *trace; /* borrowed. Before tm_part_finish, the starts of its events do not include the
                        base time, and its tracks have no names */
    tm_vec labels;   /* vector of tm_label, in file order */
    tm_vec metadata; /* vector of char: ,"key":value for each top-level value except the events */
    tm_vec marks;    /* vector of tm_mark, in file order */
    tm_vec flows; /* vector of tm_flow: a sample of the flows, which are those with (id & flow_mask)
                     == 0 */
    uint64_t flow_mask;
    int64_t base_ns; /* base time; -1 if not found so far */
    int64_t begin;   /* file offset: 0, or the start of an event */
    int64_t end;     /* file offset of the next part's first event; -1 if this part ends at the end
                        of the file */
    bool in_object;  /* the events are inside an object; known only in the first and in the last
                        part */
} tm_part;

/** Initialises part 0 of 1: the whole file. The caller initialises and keeps @p trace. */
void tm_part_init(tm_part *part, tm_trace *trace);

/** Frees everything except the trace. */
void tm_part_free(tm_part *part);

/** Returns whether a part starts where the previous part ended, in the same container as the first
 * part. If so, and if all earlier parts were read correctly, this part was read correctly, too. */
bool tm_part_follows(const tm_part *first, const tm_part *before, const tm_part *part);

/** Completes the trace: names the tracks, and adds the base time to every start. */
void tm_part_finish(tm_part *whole);

/**
 * Serialises a part for another process of the same program. Includes all texts of the part's
 * dictionary, but no events and no attribute rows.
 * @param out  vector of char: the serialised part is appended
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_part_pack(const tm_part *part, const tm_names *names, tm_vec *out,
                       tm_error *err) TM_MUST_CHECK;

/** State while a part is joined to the parts before it. */
typedef struct tm_part_join {
    tm_join rows;      /* appends the part's events and attribute rows */
    uint32_t *name_of; /* owned */
} tm_part_join;

/**
 * Starts to append a part to the parts before it. The caller must then append the part's events and
 * attribute rows with out->rows.
 *
 * @param into   the parts before it
 * @param names  the dictionary of @p into
 * @param bytes  the bytes that tm_part_pack made, aligned as by malloc
 * @param out    free with tm_part_join_end in any case
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_part_join_begin(tm_part_join *out, tm_part *into, tm_names *names, const void *bytes,
                             tm_error *err) TM_MUST_CHECK;
void tm_part_join_end(tm_part_join *join);

#endif
