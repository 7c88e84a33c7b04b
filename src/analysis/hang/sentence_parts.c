#include "sentence_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tables.h"

const tm_hang_front *tm_hang_front_at(const tm_hang_world *w, size_t i) {
    return i < w->fronts.n ? (const tm_hang_front *)w->fronts.data + i : NULL;
}

const char *tm_hang_group_name(const tm_hang_world *w, size_t group) {
    const char *desc = tm_hang_text(w->groups, group, HG_DESC);
    return *desc ? desc : tm_hang_text(w->groups, group, HG_NAME);
}

size_t tm_hang_group_of(const tm_hang_world *w, int64_t key) {
    for (size_t g = 0; g < w->groups->n_rows; g++)
        if (tm_hang_int(w->groups, g, HG_GROUP, 0) == key)
            return g;
    return TM_HANG_NO_ROW;
}

const char *tm_hang_op_of(const tm_hang_world *w, const tm_hang_front *f) {
    return f->call == TM_HANG_NO_ROW ? "an operation" : tm_hang_text(w->calls, f->call, HC_OP);
}

void tm_hang_add_operation(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f) {
    tm_hang_add(t, "%s, number %" PRId64 " of group %s", tm_hang_op_of(w, f), f->seq,
                tm_hang_group_name(w, f->group));
}

/* Adds a call's operation, inputs and outputs. */
static void add_call(tm_hang_words *t, const tm_hang_world *w, size_t row) {
    const char *in = tm_hang_text(w->calls, row, HC_INPUTS);
    const char *out = tm_hang_text(w->calls, row, HC_OUTPUTS);
    tm_hang_add(t, "%s", tm_hang_text(w->calls, row, HC_OP));
    if (*in && strcmp(in, "[]") != 0)
        tm_hang_add(t, " of %s", in);
    if (*out && strcmp(out, "[]") != 0 && strcmp(in, out) != 0)
        tm_hang_add(t, " to %s", out);
}

bool tm_hang_add_forms(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f) {
    enum { SHOWN = 4 };
    int64_t forms[SHOWN];
    char first[TM_HANG_TEXT] = "";
    size_t n = 0;
    const int64_t *v = f->came.data;
    for (size_t i = 0; i < f->came.n && n < SHOWN; i++) {
        tm_vec same = TM_VEC(int64_t);
        const size_t row = tm_hang_call_of(w, f, v[i]);
        size_t k = 0;
        if (row == TM_HANG_NO_ROW)
            continue;
        const int64_t form = tm_hang_int(w->calls, row, HC_FORM, 0);
        while (k < n && forms[k] != form)
            k++;
        if (k < n)
            continue;
        for (size_t j = i; j < f->came.n; j++) {
            const size_t other = tm_hang_call_of(w, f, v[j]);
            if (other != TM_HANG_NO_ROW && tm_hang_int(w->calls, other, HC_FORM, 0) == form &&
                !tm_vec_append(&same, &v[j], 1)) {
                tm_vec_free(&same);
                return false;
            }
        }
        tm_hang_add(t, n > 0 ? "; " : "");
        tm_hang_add_ranks(t, &same);
        tm_hang_add(t, " call%s ", same.n == 1 ? "s" : "");
        const size_t from = t->n;
        add_call(t, w, row);
        if (n > 0 && strcmp(t->text + from, first) == 0)
            tm_hang_add(t, ", but the calls coalesced with it differ");
        else if (n == 0)
            snprintf(first, sizeof first, "%s", t->text + from);
        forms[n++] = form;
        tm_vec_free(&same);
    }
    return true;
}
