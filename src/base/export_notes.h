/* Keys of an event's details in exports. The details are everything but the event's name, category
 * and times. Perfetto exports use the names of the store's columns as keys; Chrome JSON uses
 * Kineto's keys. */
#ifndef TMERGE_BASE_EXPORT_NOTES_H
#define TMERGE_BASE_EXPORT_NOTES_H

/** The notes: id, Perfetto's word, Kineto's key (NULL if there is none), and kind of value. If two
 * notes have the same word, the first is for instants (changes of memory), and the second is for
 * events with a duration. */
#define TM_EXPORT_NOTES(X)                                                                         \
    X(TM_NOTE_STEP, "step", NULL, ANY)                                                             \
    X(TM_NOTE_CORRELATION, "correlation", "correlation", ANY)                                      \
    X(TM_NOTE_GRID, "grid", "grid", ANY)                                                           \
    X(TM_NOTE_BLOCK, "block", "block", ANY)                                                        \
    X(TM_NOTE_REGISTERS, "registers", "registers per thread", ANY)                                 \
    X(TM_NOTE_SHARED_MEMORY, "shared_memory_bytes", "shared memory", ANY)                          \
    X(TM_NOTE_BLOCKS_PER_SM, "blocks_per_sm", "blocks per SM", ANY)                                \
    X(TM_NOTE_WARPS_PER_SM, "warps_per_sm", "warps per SM", ANY)                                   \
    X(TM_NOTE_OCCUPANCY, "occupancy_pct", "est. achieved occupancy %", ANY)                        \
    X(TM_NOTE_MEMORY_BYTES, "bytes", "Bytes", MEMORY)                                              \
    X(TM_NOTE_BYTES, "bytes", "bytes", ANY)                                                        \
    X(TM_NOTE_BANDWIDTH, "bandwidth_gbps", "memory bandwidth (GB/s)", ANY)                         \
    X(TM_NOTE_COLLECTIVE, "collective", "Collective name", ANY)                                    \
    X(TM_NOTE_KIND, "kind", NULL, ANY)                                                             \
    X(TM_NOTE_DTYPE, "dtype", "dtype", ANY)                                                        \
    X(TM_NOTE_IN_ELEMENTS, "in_elements", "In msg nelems", ANY)                                    \
    X(TM_NOTE_OUT_ELEMENTS, "out_elements", "Out msg nelems", ANY)                                 \
    X(TM_NOTE_IN_SPLIT, "in_split", "In split size", ANY)                                          \
    X(TM_NOTE_OUT_SPLIT, "out_split", "Out split size", ANY)                                       \
    X(TM_NOTE_GROUP, "group", "Process Group Name", ANY)                                           \
    X(TM_NOTE_GROUP_DESCRIPTION, "group_description", "Process Group Description", ANY)            \
    X(TM_NOTE_GROUP_RANKS, "group_ranks", "Process Group Ranks", ANY)                              \
    X(TM_NOTE_GROUP_SIZE, "group_size", "Group size", ANY)                                         \
    X(TM_NOTE_RANK_START, "rank_start", "Global rank start", ANY)                                  \
    X(TM_NOTE_RANK_STRIDE, "rank_stride", "Global rank stride", ANY)                               \
    X(TM_NOTE_SRC_RANK, "src_rank", "Src Rank", ANY)                                               \
    X(TM_NOTE_DST_RANK, "dst_rank", "Dst Rank", ANY)                                               \
    X(TM_NOTE_SEQ, "seq", "Seq", ANY)                                                              \
    X(TM_NOTE_COMMS_ID, "comms_id", "Comms Id", ANY)                                               \
    X(TM_NOTE_WAIT, "wait_ns", NULL, ANY)                                                          \
    X(TM_NOTE_DEVICE_TYPE, "device_type", "Device Type", MEMORY)                                   \
    X(TM_NOTE_DEVICE, "device", "Device Id", MEMORY)                                               \
    X(TM_NOTE_ADDRESS, "address", "Addr", MEMORY)                                                  \
    X(TM_NOTE_ALLOCATED, "allocated_bytes", "Total Allocated", MEMORY)                             \
    X(TM_NOTE_RESERVED, "reserved_bytes", "Total Reserved", MEMORY)                                \
    X(TM_NOTE_SHAPES, "shapes", "Input Dims", JSON)                                                \
    X(TM_NOTE_TYPES, "types", "Input type", JSON)                                                  \
    X(TM_NOTE_CONCRETE, "concrete", "Concrete Inputs", JSON)                                       \
    X(TM_NOTE_SYNC_KIND, "sync_kind", "cuda_sync_kind", ANY)                                       \
    X(TM_NOTE_ON_STREAM, "on_stream", "wait_on_stream", ANY)                                       \
    X(TM_NOTE_ON_RECORD, "record_correlation", "wait_on_cuda_event_record_corr_id", ANY)           \
    X(TM_NOTE_SEQUENCE, "sequence", "Sequence number", ANY)                                        \
    X(TM_NOTE_THREAD, "thread", "Fwd thread id", ANY)                                              \
    X(TM_NOTE_STACK, "stack", "Call stack", ANY)

typedef enum tm_export_note {
    TM_NOTE_NONE, /* 0 is not a valid id in Perfetto */
#define TM_NOTE_ENUM(id, word, key, of) id,
    TM_EXPORT_NOTES(TM_NOTE_ENUM)
#undef TM_NOTE_ENUM
        TM_N_NOTES
} tm_export_note;

#endif
