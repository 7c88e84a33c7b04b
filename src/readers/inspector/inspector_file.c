#include "inspector_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "readers/window.h"

uint64_t tm_inspector_id_of(const tm_inspector_record *record) {
    const tm_json_text *text = &record->communicator;
    uint64_t id = 0;
    if (text->size <= 2 || text->size - 2 > TM_NCCL_DIGITS || memcmp(text->bytes, "0x", 2) != 0)
        return 0;
    for (size_t i = 2; i < text->size; i++) {
        const char c = text->bytes[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return 0;
        id = id << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return id;
}

/*
 * Reads the next record.
 * @param whole  set to whether a complete record was read; if so, the window is after the record
 */
static tm_status read_record(tm_window *window, tm_inspector_record *record, bool *whole,
                             tm_error *err) {
    *whole = false;
    while (*window->p == '{') {
        const char *end = tm_inspector_record_parse(&window->cursor, window->p, record);
        *whole = end != NULL;
        window->p = end ? end : window->p;
        if (end || window->cursor.fail < window->cursor.end || window->cursor.final)
            return TM_OK;
        TM_TRY(tm_window_refill(window, window->p, err));
    }
    return TM_OK;
}

/* Moves to the next line.
 * @param more  set to whether another line follows */
static tm_status next_line(tm_window *window, bool *more, tm_error *err) {
    const char *found;
    for (;;) {
        found = memchr(window->p, '\n', (size_t)(window->cursor.end - window->p));
        if (found || window->cursor.final)
            break;
        window->p = window->cursor.end;
        TM_TRY(tm_window_refill(window, window->p, err));
    }
    *more = found != NULL;
    window->p = found ? found + 1 : window->cursor.end;
    return TM_OK;
}

/* Reads all records. A damaged line, as after a full disk, does not affect the others. */
static tm_status read_records(tm_window *window, tm_inspector_each *each, void *context,
                              int64_t *n_others, bool *cut, tm_error *err) {
    tm_inspector_record record;
    bool whole, more = true;
    for (;;) {
        TM_TRY(tm_window_space(window, err));
        if (window->p == window->cursor.end)
            return TM_OK;
        TM_TRY(read_record(window, &record, &whole, err));
        if (!whole) {
            TM_TRY(next_line(window, &more, err));
            *cut = !more;
            *n_others += more;
        } else if (!tm_inspector_is_record(&record) || tm_inspector_id_of(&record) == 0) {
            *n_others += 1;
        } else if (!each(context, &record)) {
            return tm_fail_memory(err);
        }
    }
}

tm_status tm_inspector_read_file(tm_source *source, tm_inspector_each *each, void *context,
                                 bool *cut, int64_t *n_others, tm_error *err) {
    tm_window window;
    *cut = false;
    TM_TRY(tm_window_open(source, &window, err));
    tm_status status = read_records(&window, each, context, n_others, cut, err);
    *cut = *cut || window.cut;
    tm_window_close(&window);
    return status;
}

bool tm_inspector_add_member(tm_keys *members, const tm_inspector_record *record) {
    const tm_inspector_member member = {tm_inspector_id_of(record), record->rank, record->n_ranks};
    return tm_keys_add(members, &member) != TM_NO_KEY;
}

TM_ORDER_FALLING(by_size, tm_inspector_member, n_ranks, id, rank);

void tm_inspector_sort_members(tm_keys *members) {
    tm_vec_sort(&members->keys, by_size);
}
