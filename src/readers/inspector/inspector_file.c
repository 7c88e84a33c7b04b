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

static tm_status read_record(tm_window *window, tm_inspector_record *record, tm_error *err) {
    for (;;) {
        const char *end = tm_inspector_record_parse(&window->cursor, window->p, record);
        if (end) {
            window->p = end;
            return TM_OK;
        }
        TM_TRY(tm_window_resume(window, window->p, err));
    }
}

static tm_status read_records(tm_window *window, tm_inspector_each *each, void *context,
                              int64_t *n_others, tm_error *err) {
    tm_inspector_record record;
    for (;;) {
        TM_TRY(tm_window_space(window, err));
        if (window->p == window->cursor.end)
            return TM_OK;
        if (*window->p != '{')
            return tm_window_fail(window, window->p, "a record should stand here", err);
        TM_TRY(read_record(window, &record, err));
        if (!tm_inspector_is_record(&record) || tm_inspector_id_of(&record) == 0) {
            *n_others += 1;
            continue;
        }
        if (!each(context, &record))
            return tm_fail_memory(err);
    }
}

tm_status tm_inspector_read_file(tm_source *source, tm_inspector_each *each, void *context,
                                 bool *cut, int64_t *n_others, tm_error *err) {
    tm_window window;
    TM_TRY(tm_window_open(source, &window, err));
    tm_status status = read_records(&window, each, context, n_others, err);
    *cut = window.cut || (status != TM_OK && window.ended);
    tm_window_close(&window);
    return status == TM_ERR_INPUT && *cut ? TM_OK : status;
}

bool tm_inspector_add_member(tm_keys *members, const tm_inspector_record *record) {
    const tm_inspector_member member = {tm_inspector_id_of(record), record->rank, record->n_ranks};
    return tm_keys_add(members, &member) != TM_NO_KEY;
}

static int by_size(const void *a, const void *b) {
    const tm_inspector_member *x = a, *y = b;
    int order = tm_order_i64(y->n_ranks, x->n_ranks);
    order = order ? order : tm_order_u64(x->id, y->id);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

void tm_inspector_sort_members(tm_keys *members) {
    if (members->keys.n > 1)
        qsort(members->keys.data, members->keys.n, members->keys.size, by_size);
}
