/* State that packets refer to: sequences with their interned data, and clocks. Each pass over a
 * file goes through the same states. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_STATE_H
#define TMERGE_PERFETTO_STATE_H

#include "base/arena.h"
#include "base/keys.h"
#include "base/vec.h"
#include "perfetto_packet.h"
#include "tmerge/names.h"

typedef struct tm_pf_sequence {
    uint32_t id;
    /* generation of the sequence's interned data; changes when the writer clears its state */
    uint32_t generation;
    bool valid; /* no state of the sequence was lost */
    bool has_clock, has_track, has_thread;
    uint32_t clock;    /* clock of packets that do not give one */
    uint64_t track;    /* track of events that do not give one */
    int64_t legacy_us; /* time of the previous legacy event */
    /* track of the thread to which all events of the sequence belong; only old writers state it */
    uint64_t thread;
} tm_pf_sequence;

typedef struct tm_pf_state {
    bool texts;       /* whether interned data is kept; not needed if only times are read */
    tm_keys ids;      /* keys of type uint32_t: ids of sequences */
    tm_vec sequences; /* vector of tm_pf_sequence, in the order of `ids` */
    uint32_t last_generation;
    tm_keys interned; /* keys of type tm_pf_entry */
    tm_vec entries;   /* vector of tm_text: JSON strings with quotes, or messages */
    tm_arena arena;   /* memory for the texts of entries */
    /* keys of type uint32_t[2]: sequence and id of each clock on which times are relative */
    tm_keys counting;
    tm_vec counted; /* vector of tm_pf_counted, in the order of `counting` */
    tm_vec offsets; /* vector of tm_pf_offset, in the order of the file */
    uint32_t clock; /* id of the trace's clock, to which all times are converted */
    bool has_epoch;
    int64_t epoch_ns; /* time of day minus the trace's clock */
    tm_vec scratch;   /* vector of char */
} tm_pf_state;

/** Starts with nothing known.
 * @param texts  whether to keep interned data */
void tm_pf_state_init(tm_pf_state *state, bool texts);
void tm_pf_state_free(tm_pf_state *state);

/**
 * Updates the state from a packet.
 * @param sequence  the packet's sequence, borrowed until the next call
 * @param usable    false if the packet needs state that was lost
 * @return          false if out of memory
 */
bool tm_pf_state_take(tm_pf_state *state, const tm_pf_packet *packet, tm_pf_sequence **sequence,
                      bool *usable);

/**
 * Computes the time of a packet on the trace's clock. Call it once per packet.
 * @return  false if its clock is unknown or the time is absurd
 */
bool tm_pf_time(tm_pf_state *state, const tm_pf_packet *packet, tm_pf_sequence *sequence,
                int64_t *time_ns);

/** Returns an interned text of a sequence; size 0 if there is none. */
tm_text tm_pf_interned(const tm_pf_state *state, const tm_pf_sequence *sequence, uint32_t table,
                       uint64_t id);

#endif
