/* How an export to Chrome's JSON tells the ranks that it holds, where they are several, and one to
 * Perfetto what its tracks were. */
#ifndef TMERGE_BASE_EXPORT_MARK_H
#define TMERGE_BASE_EXPORT_MARK_H

/** The first bytes of an export. Behind them stands TM_EXPORT_RANKS where it holds several ranks.
 */
#define TM_EXPORT_FIRST "{\"tmerge_export\": 1,\n"

/** The member with the list of the ranks. */
#define TM_EXPORT_RANKS "tmerge_ranks"

/** The member, behind the events, with an object for each rank: what its trace says of itself. */
#define TM_EXPORT_MEMBERS "tmerge_members"

/** What the processes of a rank begin with, and how much of them then is of the rank's own trace.
 */
#define TM_EXPORT_PROCESS "rank %lld: "
enum { TM_EXPORT_PROCESS_MAX = 40 };

/** The first packet of an export to Perfetto: it says only that it is the first of its sequence. */
#define TM_EXPORT_PACKET "\x0a\x05\x50\x01\xb8\x05\x01"

/** The sequence of what is of no rank; each rank has one of its own, and its packets lie side by
 * side. */
enum { TM_EXPORT_SEQUENCE = 1 };

/** Fields of the descriptors of its tracks that Perfetto does not have, and passes over: of a
 * rank's process the rank and its members as in TM_EXPORT_MEMBERS, without braces and with commas
 * after them; of lanes and of the counters of traces what their track is in the store. */
enum {
    TM_EXPORT_TRACK_RANK = 9001,
    TM_EXPORT_TRACK_MEMBERS,
    TM_EXPORT_TRACK_PID,
    TM_EXPORT_TRACK_TID,
    TM_EXPORT_TRACK_PROCESS_NAME,
    TM_EXPORT_TRACK_THREAD_NAME,
    TM_EXPORT_TRACK_DEVICE, /* not where it is -1, as is */
    TM_EXPORT_TRACK_STREAM,
    TM_EXPORT_TRACK_COUNTER, /* the name of its events, and */
    TM_EXPORT_TRACK_SERIES
};

#endif
