#include "inspector_record.h"

#include <stddef.h>

#include "readers/number.h"
#include "timeline/trace.h"

/* The objects in a record. An object is recognised by its key, wherever it is nested. */
typedef enum object { TOP, HEADER, METADATA, PERF, TIMES, CHANNEL } object;

typedef enum value { ENTER, TEXT, INTEGER } value;

/* The members to read. Keys of collectives and of transfers have different prefixes. */
static const struct {
    object in;
    value is;
    const char *key;
    size_t place; /* offset of the member in tm_inspector_record, or the object to read next */
} members[] = {
#define AT(field) offsetof(tm_inspector_record, field)
    {TOP, ENTER, "header", HEADER},
    {TOP, ENTER, "metadata", METADATA},
    {TOP, ENTER, "coll_perf", PERF},
    {TOP, ENTER, "p2p_perf", PERF},
    {HEADER, TEXT, "id", AT(communicator)},
    {HEADER, TEXT, "comm_name", AT(description)},
    {HEADER, INTEGER, "rank", AT(rank)},
    {HEADER, INTEGER, "n_ranks", AT(n_ranks)},
    {METADATA, TEXT, "inspector_output_format_version", AT(version)},
    {METADATA, INTEGER, "dump_timestamp_us", AT(dump_us)},
    {METADATA, TEXT, "hostname", AT(host)},
    {METADATA, INTEGER, "pid", AT(pid)},
    {PERF, TEXT, "coll", AT(function)},
    {PERF, TEXT, "p2p", AT(function)},
    {PERF, INTEGER, "coll_sn", AT(sn)},
    {PERF, INTEGER, "p2p_sn", AT(sn)},
    {PERF, INTEGER, "p2p_peer", AT(peer)},
    {PERF, INTEGER, "coll_msg_size_bytes", AT(bytes)},
    {PERF, INTEGER, "p2p_msg_size_bytes", AT(bytes)},
    {PERF, INTEGER, "coll_exec_time_us", AT(exec_us)},
    {PERF, INTEGER, "p2p_exec_time_us", AT(exec_us)},
    {PERF, TEXT, "coll_timing_source", AT(source)},
    {PERF, TEXT, "p2p_timing_source", AT(source)},
    {PERF, ENTER, "event_trace_ts", TIMES},
    {TIMES, ENTER, "kernel_events", CHANNEL},
    {CHANNEL, INTEGER, "kernel_start_ts", AT(channel_us[0])},
    {CHANNEL, INTEGER, "kernel_stop_ts", AT(channel_us[1])},
};

enum { N_MEMBERS = sizeof members / sizeof *members };

static size_t member_of(object in, const tm_json_text *key) {
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (members[i].in == in && strlen(members[i].key) == key->size &&
            memcmp(members[i].key, key->bytes, key->size) == 0)
            return i;
    return N_MEMBERS;
}

static const char *read_integer(tm_json_cursor *cursor, const char *p, int64_t *out) {
    const int64_t most = INT64_C(1) << 62;
    const char *start = p;
    if (*p < '0' || *p > '9')
        return tm_json_skip_value(cursor, p);
    p = tm_json_number(cursor, p);
    if (p && (!tm_number_int(start, (size_t)(p - start), out) || *out > most))
        *out = -1;
    return p;
}

static const char *read_text(tm_json_cursor *cursor, const char *p, tm_json_text *out) {
    return *p == '"' ? tm_json_string(cursor, p + 1, out) : tm_json_skip_value(cursor, p);
}

static const char *read_members(tm_json_cursor *cursor, const char *p, object in,
                                tm_inspector_record *out);

/* Extends the times of the operation by the times of a channel. If the operation used n channels,
 * NCCL lists the first n channels, whether they were used or not. So some channels contain only
 * zeros. */
static void add_channel(tm_inspector_record *out) {
    int64_t start = out->channel_us[0], stop = out->channel_us[1];
    if (start <= 0 || stop < start)
        return;
    out->start_us = out->start_us == 0 || start < out->start_us ? start : out->start_us;
    out->stop_us = stop > out->stop_us ? stop : out->stop_us;
}

static const char *read_channels(tm_json_cursor *cursor, const char *p, tm_inspector_record *out) {
    if (*p != '[')
        return tm_json_skip_value(cursor, p);
    do {
        p = tm_json_space(p + 1);
        /* If no object starts here, the list is empty, or it contains something else. */
        if (*p != '{')
            break;
        out->channel_us[0] = out->channel_us[1] = -1;
        p = read_members(cursor, p + 1, CHANNEL, out);
        if (!p)
            return NULL;
        add_channel(out);
        p = tm_json_space(p);
    } while (*p == ',');
    return *p == ']' ? p + 1 : tm_json_fail(cursor, p, "a comma or ] should follow the channel");
}

static const char *read_member(tm_json_cursor *cursor, const char *p, size_t member,
                               tm_inspector_record *out) {
    char *place = (char *)out + members[member].place;
    if (members[member].is == TEXT)
        return read_text(cursor, p, (tm_json_text *)(void *)place);
    if (members[member].is == INTEGER)
        return read_integer(cursor, p, (int64_t *)(void *)place);
    if (members[member].place == CHANNEL)
        return read_channels(cursor, p, out);
    return *p == '{' ? read_members(cursor, p + 1, (object)members[member].place, out)
                     : tm_json_skip_value(cursor, p);
}

/* Reads the members of an object. p is after the opening brace. The recursion ends, because objects
 * are only entered in a fixed order of nesting. */
static const char *read_members(tm_json_cursor *cursor, const char *p, object in,
                                tm_inspector_record *out) {
    bool more = true;
    tm_json_text key;
    for (bool first = true;; first = false) {
        p = tm_json_member(cursor, p, first, &key, &more);
        if (!p || !more)
            return p;
        size_t member = member_of(in, &key);
        p = member < N_MEMBERS ? read_member(cursor, p, member, out)
                               : tm_json_skip_value(cursor, p);
        if (!p)
            return NULL;
    }
}

const char *tm_inspector_record_parse(tm_json_cursor *cursor, const char *p,
                                      tm_inspector_record *out) {
    *out = (tm_inspector_record){.rank = -1,
                                 .n_ranks = -1,
                                 .pid = -1,
                                 .dump_us = -1,
                                 .sn = -1,
                                 .peer = -1,
                                 .bytes = -1,
                                 .exec_us = -1};
    return read_members(cursor, p + 1, TOP, out); /* skips the brace */
}

bool tm_inspector_begins(tm_json_cursor *cursor, const char *p) {
    tm_json_text key;
    bool more;
    return *p == '{' && tm_json_member(cursor, p + 1, true, &key, &more) && more &&
           member_of(TOP, &key) < N_MEMBERS;
}

bool tm_inspector_has_form(const tm_inspector_record *r, bool cut) {
    return r->communicator.size > 2 && memcmp(r->communicator.bytes, "0x", 2) == 0 &&
           (cut || (r->version.size > 0 && r->function.size > 0));
}

bool tm_inspector_is_record(const tm_inspector_record *r) {
    return r->version.size > 0 && r->communicator.size > 2 && r->function.size > 0 &&
           r->n_ranks > 0 && r->n_ranks <= TM_GROUP_RANKS_MAX && r->rank >= 0 &&
           r->rank < r->n_ranks && r->exec_us >= 0 && r->exec_us <= TM_DAY_NS / 1000;
}
