#include "device_plane.h"

#include <string.h>

/* Ids of the lines that the profiler derives from other lines, as signed 32-bit integers. */
enum { DERIVED_FIRST = -559038737, DERIVED_LAST = DERIVED_FIRST + 289 }; /* from 0xdeadbeef */

/* Whether a line has a name. The name may be followed by " - from #16", which gives the line from
 * which this line was derived. */
static bool is_named(tm_text name, const char *known) {
    size_t size = strlen(known);
    static const char from[] = " - from #";
    return tm_text_begins(name, known) &&
           (name.size == size ||
            tm_text_begins((tm_text){name.bytes + size, name.size - size}, from));
}

static bool is_derived(const tm_xline *line) {
    static const char *const names[] = {
        "Steps",       "Framework Ops", "TensorFlow Ops", "Framework Name Scope",
        "XLA Modules", "XLA Ops",       "Source code",    "TensorFlow Name Scope",
        "Source Code", "Launch Stats",  "XLA TraceMe",    "Async XLA Ops",
    };
    int32_t id = (int32_t)(uint32_t)(uint64_t)line->id;
    if (id >= DERIVED_FIRST && id <= DERIVED_LAST)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(line->name, names[i]))
            return true;
    return false;
}

bool tm_xline_counts(tm_xkind kind, const tm_xline *line) {
    if (kind == TM_X_TPU)
        return tm_text_is(line->name, "XLA Ops") || tm_text_is(line->name, "Sparse Core Ops");
    return !is_derived(line);
}
