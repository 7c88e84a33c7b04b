/* Marks by which tmerge recognises its exports: Chrome JSON with several ranks, and Perfetto traces
 * with their original tracks. */
#ifndef TMERGE_BASE_EXPORT_MARK_H
#define TMERGE_BASE_EXPORT_MARK_H

/** First bytes of an export. TM_EXPORT_RANKS follows if it holds several ranks. */
#define TM_EXPORT_FIRST "{\"tmerge_export\": 1,\n"

/** Member with the list of ranks. */
#define TM_EXPORT_RANKS "tmerge_ranks"

/** Member after the events with an object per rank: the metadata of its trace. */
#define TM_EXPORT_MEMBERS "tmerge_members"

/** Prefix of the names of a rank's processes, and the maximum length [B] of the original name after
 * it. */
#define TM_EXPORT_PROCESS "rank %lld: "
enum { TM_EXPORT_PROCESS_MAX = 40 };

/** First packet of a Perfetto export: sequence 1, first_packet_on_sequence, and nothing else. */
#define TM_EXPORT_PACKET "\x0a\x05\x50\x01\xb8\x05\x01"

/** Sequence of the packets without a rank. Each rank has its own sequence; its packets are
 * adjacent. */
enum { TM_EXPORT_SEQUENCE = 1 };

/** Fields of track descriptors that Perfetto does not know and skips. A rank's process has its rank
 * and the members of TM_EXPORT_MEMBERS, without braces, each with a comma after it. Sub-tracks and
 * counters have the store's data about the track. */
enum {
    TM_EXPORT_TRACK_RANK = 9001,
    TM_EXPORT_TRACK_MEMBERS,
    TM_EXPORT_TRACK_PID,
    TM_EXPORT_TRACK_TID,
    TM_EXPORT_TRACK_PROCESS_NAME,
    TM_EXPORT_TRACK_THREAD_NAME,
    TM_EXPORT_TRACK_DEVICE, /* this field and the next one are omitted if -1 */
    TM_EXPORT_TRACK_STREAM,
    TM_EXPORT_TRACK_COUNTER, /* name of its events */
    TM_EXPORT_TRACK_SERIES
};

#endif
