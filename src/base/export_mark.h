/* Marks by which tmerge recognises its exports: Chrome JSON with several ranks, and Perfetto traces
 * with their original tracks. */
#ifndef TMERGE_BASE_EXPORT_MARK_H
#define TMERGE_BASE_EXPORT_MARK_H

/** First bytes of an export. If it has several ranks, TM_EXPORT_RANKS follows. */
#define TM_EXPORT_FIRST "{\"tmerge_export\": 1,\n"

/** Key of the list of ranks. */
#define TM_EXPORT_RANKS "tmerge_ranks"

/** Key of an object with the metadata of each rank's trace. The object comes after the events. */
#define TM_EXPORT_MEMBERS "tmerge_members"

/** Start of a process's name: its rank. The original name follows, cut to TM_EXPORT_PROCESS_MAX
 * bytes. */
#define TM_EXPORT_PROCESS "rank %lld: "
enum { TM_EXPORT_PROCESS_MAX = 40 };

/** First packet of a Perfetto export: sequence 1, first_packet_on_sequence, and nothing else. */
#define TM_EXPORT_PACKET "\x0a\x05\x50\x01\xb8\x05\x01"

/** Sequence of the packets without a rank. The packets of each rank are adjacent, and have their
 * own sequence. */
enum { TM_EXPORT_SEQUENCE = 1 };

/** Fields of track descriptors that Perfetto does not know and skips. The track of a rank's process
 * has the rank and its metadata: the content of TM_EXPORT_MEMBERS without braces, with a comma
 * after each member. Tracks of threads, streams and counters have the fields from
 * TM_EXPORT_TRACK_PID on, as the store records them. */
enum {
    TM_EXPORT_TRACK_RANK = 9001,
    TM_EXPORT_TRACK_MEMBERS,
    TM_EXPORT_TRACK_PID,
    TM_EXPORT_TRACK_TID,
    TM_EXPORT_TRACK_PROCESS_NAME,
    TM_EXPORT_TRACK_THREAD_NAME,
    TM_EXPORT_TRACK_DEVICE, /* this field and the next one are omitted if they are -1 */
    TM_EXPORT_TRACK_STREAM,
    TM_EXPORT_TRACK_COUNTER, /* name of the counter's events */
    TM_EXPORT_TRACK_SERIES
};

#endif
