/* What packets refer to: sequences with what they interned, and clocks. The same packets in the
 * same order give the same state, in each reading of a file. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_STATE_H
#define TMERGE_PERFETTO_STATE_H

#include "base/arena.h"
#include "base/keys.h"
#include "base/vec.h"
#include "perfetto_packet.h"
#include "tmerge/names.h"

typedef struct tm_pf_sequence {
    uint32_t id;
    uint32_t generation; /* of its interned data: another one after each clearing */
    bool valid;          /* nothing of its state was lost */
    bool has_clock, has_track, has_thread;
    uint32_t clock;    /* default of its packets */
    uint64_t track;    /* default of its events */
    int64_t legacy_us; /* time of the last legacy event */
    uint64_t thread;   /* legacy: the track of its thread */
} tm_pf_sequence;

typedef struct tm_pf_state {
    bool texts;       /* interned data are kept: not wanted where only times are */
    tm_keys ids;      /* of uint32_t: of sequences */
    tm_vec sequences; /* of tm_pf_sequence, in their order */
    uint32_t last_generation;
    tm_keys interned; /* of tm_pf_entry */
    tm_vec entries;   /* of tm_text, JSON strings with their quotes, or messages */
    tm_arena arena;   /* what they point to */
    tm_keys counting; /* of uint32_t[2]: sequence and clock that counts from the packet before */
    tm_vec counted;   /* of tm_pf_counted */
    tm_vec offsets;   /* of tm_pf_offset, in the order of the file */
    uint32_t clock;   /* of the trace: what times are brought to */
    bool has_epoch;
    int64_t epoch_ns; /* time of day minus the trace's clock */
    tm_vec scratch;   /* of char */
} tm_pf_state;

/** @param texts  what is interned is kept */
void tm_pf_state_init(tm_pf_state *state, bool texts);
void tm_pf_state_free(tm_pf_state *state);

/**
 * Takes from a packet what later ones refer to.
 * @param sequence  set to the packet's, borrowed until the next call
 * @param usable    whether the packet's content can be understood: not where it needs what was lost
 * @return          false when memory is out
 */
bool tm_pf_state_take(tm_pf_state *state, const tm_pf_packet *packet, tm_pf_sequence **sequence,
                      bool *usable);

/**
 * The time of a packet on the trace's clock; to be asked once for each.
 * @return  false where there is none: its clock is unknown, or the time is absurd
 */
bool tm_pf_time(tm_pf_state *state, const tm_pf_packet *packet, tm_pf_sequence *sequence,
                int64_t *time_ns);

/** What a sequence interned; size 0 where nothing was. */
tm_text tm_pf_interned(const tm_pf_state *state, const tm_pf_sequence *sequence, uint32_t table,
                       uint64_t id);

#endif
