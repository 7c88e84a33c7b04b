/* A trace that is read in parts: what each part says, and how the parts become the whole. */
#ifndef TMERGE_PART_H
#define TMERGE_PART_H

#include "join.h"

/** The name of a process or thread, given to tracks once all of them are known. */
typedef struct tm_label {
    uint32_t pid, tid, text; /* name ids */
    bool process;            /* names all tracks of a process */
} tm_label;

typedef enum tm_mark_kind {
    TM_MARK_PENDING, /* an event that may be work of a device: category, correlation, bytes, place
                      */
    TM_MARK_LINK,    /* an event, and in value the id of the operator that it belongs to */
    TM_MARK_STREAM,  /* the stream of a track */
    TM_MARK_DEVICES  /* in text, a category that tells what the devices are */
} tm_mark_kind;

/** What a reader cannot judge before it knows the whole trace. */
typedef struct tm_mark {
    int64_t value;           /* PENDING: correlation; LINK: id */
    int64_t bytes;           /* PENDING: of a copy; -1 unknown */
    int64_t stream;          /* PENDING, STREAM */
    uint32_t event;          /* TM_NO_EVENT where it is about none */
    uint32_t text, pid, tid; /* name ids */
    int32_t device;
    uint8_t kind;     /* tm_mark_kind */
    uint8_t category; /* PENDING: tm_category, if it is work of a device */
    uint16_t unused;  /* 0: its bytes are sent */
} tm_mark;

/** A flow's start, or its end. Its process and thread are hashes of their ids as written. */
typedef struct tm_flow {
    uint64_t id;   /* a hash of what is written */
    int64_t ts_ns; /* without the trace's base time */
    uint32_t pid, tid;
    uint32_t end; /* 1, else 0 */
    uint32_t unused;
} tm_flow;

/**
 * What was read from a part of a file. The parts are told apart by where they begin and end: where
 * each ends exactly where the next begins, and the first began at the file's start, the parts
 * together are what one reading of the whole finds.
 */
typedef struct tm_part {
    int index, n;    /* which part it is, 0 to n - 1 */
    tm_trace *trace; /* borrowed; begins lack the base time, tracks their names */
    tm_vec labels;   /* of tm_label, in file order */
    tm_vec metadata; /* of char: ,"key":value for each top-level value but the events */
    tm_vec marks;    /* of tm_mark, in file order */
    tm_vec flows;    /* of tm_flow: a sample, of ids that have no bit of flow_mask */
    uint64_t flow_mask;
    int64_t base_ns; /* the base time, -1 where it stands in no part so far */
    int64_t begin;   /* byte of the file: 0, or where an event begins */
    int64_t end;     /* where the next part's first event begins; -1: read to the end */
    bool in_object;  /* in the first and the last part: the events stand in an object */
} tm_part;

/** Part 0 of 1: the whole. @p trace is initialised by the caller and stays the caller's. */
void tm_part_init(tm_part *part, tm_trace *trace);

/** Frees all but the trace. */
void tm_part_free(tm_part *part);

/**
 * Whether a part goes on where the one before it ended, in what the first part says the events
 * stand in: then, if those before it read rightly, so did this one.
 */
bool tm_part_follows(const tm_part *first, const tm_part *before, const tm_part *part);

/** Names the tracks and moves every begin by the base time: then the trace is as it should be. */
void tm_part_finish(tm_part *whole);

/**
 * Writes all of a part but its events and attribute rows, with all texts of its dictionary: it can
 * be read by the same program in another process.
 *
 * @param out  of char; appended to
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_part_pack(const tm_part *part, const tm_names *names, tm_vec *out,
                       tm_error *err) TM_MUST_CHECK;

/** A part on its way into the parts before it. */
typedef struct tm_part_join {
    tm_join rows;      /* takes the events and attribute rows */
    uint32_t *name_of; /* owned */
} tm_part_join;

/**
 * Begins to put a part behind those before it; its events and attribute rows go to out->rows next.
 *
 * @param into   the parts before it
 * @param names  the dictionary of @p into
 * @param bytes  as tm_part_pack wrote them, aligned as malloc does
 * @param out    free it with tm_part_join_end, whatever comes of the call
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_part_join_begin(tm_part_join *out, tm_part *into, tm_names *names, const void *bytes,
                             tm_error *err) TM_MUST_CHECK;
void tm_part_join_end(tm_part_join *join);

#endif
