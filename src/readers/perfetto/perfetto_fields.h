/* Field numbers of Perfetto's messages (protos/perfetto/trace in its repository), by message.
 * Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_FIELDS_H
#define TMERGE_PERFETTO_FIELDS_H

enum { TRACE_PACKET = 1 };

enum {
    PACKET_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLEARED = 41,
    PACKET_DROPPED = 42,
    /* Old writers use these two fields to describe the process and the thread of a sequence. */
    PACKET_PROCESS = 43,
    PACKET_THREAD = 44,
    PACKET_COMPRESSED = 50,
    PACKET_GPU_COUNTER = 52,
    PACKET_GPU_STAGE = 53,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_COMPRESSED_ZSTD = 133
};

enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* values of PACKET_FLAGS */

enum { CLOCK_REALTIME = 1, CLOCK_BOOTTIME = 6, CLOCK_OF_SEQUENCE = 64, CLOCK_GLOBAL = 128 };
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_INCREMENTAL = 3, CLOCK_UNIT_NS = 4 };

enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58, EVENT_DEFAULTS_TRACK = 11 };

enum {
    EVENT_DELTA_US = 1,
    EVENT_CATEGORY_ID = 3,
    EVENT_NOTE = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_TIME_US = 16,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_COUNTER_REAL = 44
};
enum { TYPE_NONE = 0, TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { LEGACY_NAME_ID = 1, LEGACY_PHASE = 2, LEGACY_DURATION_US = 3 };

/* A DebugAnnotation. */
enum {
    NOTE_NAME_ID = 1,
    NOTE_BOOL = 2,
    NOTE_UINT = 3,
    NOTE_INT = 4,
    NOTE_REAL = 5,
    NOTE_TEXT = 6,
    NOTE_POINTER = 7,
    NOTE_NESTED = 8,
    NOTE_JSON = 9,
    NOTE_NAME = 10,
    NOTE_DICT = 11,
    NOTE_ARRAY = 12,
    NOTE_TEXT_ID = 17
};

/* Fields of a nested value of an arg. Old writers use this form. */
enum {
    NESTED_TYPE = 1,
    NESTED_KEY = 2,
    NESTED_VALUE = 3,
    NESTED_ELEMENT = 4,
    NESTED_INT = 5,
    NESTED_REAL = 6,
    NESTED_BOOL = 7,
    NESTED_TEXT = 8,
    NESTED_IS_DICT = 1,
    NESTED_IS_ARRAY = 2
};

/* InternedData: each field is a table. Its entries have an id, and a text or other data. */
enum {
    TABLE_CATEGORY = 1,
    TABLE_NAME = 2,
    TABLE_NOTE_NAME = 3,
    TABLE_GPU_SPEC = 24,
    TABLE_NOTE_TEXT = 29,
    TABLE_GPU_COUNTERS = 47,
    TABLE_KERNEL = 1000,
    TABLE_ARGUMENT = 1001
};
enum { ENTRY_ID = 1, ENTRY_TEXT = 2, KERNEL_DEMANGLED = 3, COUNTERS_SPECS = 2, COUNTERS_GPU = 3 };

enum {
    TRACK_ID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_STATIC_NAME = 10,
    TRACK_ATRACE_NAME = 13
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5, THREAD_REFERENCE_US = 6 };
enum { COUNTER_MULTIPLIER = 4, COUNTER_INCREMENTAL = 5 };

enum {
    STAGE_DURATION = 2,
    STAGE_EXTRA = 6,
    STAGE_GPU = 11,
    STAGE_QUEUE_ID = 13,
    STAGE_STAGE_ID = 14,
    STAGE_NAME = 17,
    STAGE_KERNEL_ID = 19,
    STAGE_NAME_ID = 20,
    STAGE_LAUNCH = 21
};
enum { EXTRA_NAME = 1, EXTRA_VALUE = 2 };
enum { LAUNCH_GRID = 1, LAUNCH_BLOCK = 2, LAUNCH_ARGUMENT = 3 };
enum { ARGUMENT_NAME_ID = 1, ARGUMENT_NAME = 2, ARGUMENT_INT = 3, ARGUMENT_UINT = 4 };

enum { GPU_COUNTER_INLINE = 1, GPU_COUNTER_VALUE = 2, GPU_COUNTER_GPU = 3, GPU_COUNTER_ID = 4 };
enum { GPU_VALUE_ID = 1, GPU_VALUE_INT = 2, GPU_VALUE_REAL = 3 };
enum { SPECS_SPEC = 1, SPEC_ID = 1, SPEC_NAME = 2 };

#endif
