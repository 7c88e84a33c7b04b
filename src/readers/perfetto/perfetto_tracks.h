/* Maps tracks to processes and threads of Chrome's form. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_TRACKS_H
#define TMERGE_PERFETTO_TRACKS_H

#include "base/arena.h"
#include "base/keys.h"
#include "perfetto_packet.h"
#include "tmerge/names.h"

typedef struct tm_pf_track {
    uint64_t parent; /* 0: none */
    int64_t pid, tid;
    int64_t multiplier; /* factor for the values of a counter */
    int64_t sum;        /* sum so far of an incremental counter */
    bool has_process, has_thread, incremental;
    tm_text name, process_name, thread_name; /* in quotes; the size is 0 if there is none */
    /* ids as JSON values; they are set at the end of the first pass */
    tm_text pid_text, tid_text;
    /* The following members are set only for an export by tmerge. */
    /* is_reported: the track is from the original trace; is_rank: the track stands for a rank */
    bool is_reported, is_rank;
    bool has_device, has_stream;
    int64_t rank, device, stream;
    tm_text members;         /* JSON metadata of a rank's trace */
    tm_text counter, series; /* in quotes */
} tm_pf_track;

typedef struct tm_pf_tracks {
    tm_keys ids;     /* keys of type uint64_t: ids of tracks */
    tm_vec tracks;   /* vector of tm_pf_track, in the order of `ids` */
    tm_vec scratch;  /* vector of char */
    tm_arena *arena; /* borrowed; memory for the texts */
} tm_pf_tracks;

#define TM_PF_TRACKS(texts)                                                                        \
    ((tm_pf_tracks){.ids = TM_KEYS(uint64_t),                                                      \
                    .tracks = TM_VEC(tm_pf_track),                                                 \
                    .scratch = TM_VEC(char),                                                       \
                    .arena = (texts)})

void tm_pf_tracks_free(tm_pf_tracks *tracks);

/** Finds the track with an id, or adds it. Returns its number; TM_NO_KEY if out of memory. */
uint32_t tm_pf_track_of(tm_pf_tracks *tracks, uint64_t id);

/** Reads a TrackDescriptor. Returns false if out of memory. */
bool tm_pf_tracks_take(tm_pf_tracks *tracks, tm_wire_message descriptor);

/**
 * Reads a ThreadDescriptor, with which an old writer describes the thread of a sequence.
 * @param id  set to the id of the thread's track
 */
bool tm_pf_tracks_take_thread(tm_pf_tracks *tracks, tm_wire_message descriptor, uint64_t *id);

/** Sets process and thread of all tracks. */
bool tm_pf_tracks_finish(tm_pf_tracks *tracks);

static inline tm_pf_track *tm_pf_track_at(tm_pf_tracks *tracks, uint32_t number) {
    return (tm_pf_track *)tracks->tracks.data + number;
}

#endif
