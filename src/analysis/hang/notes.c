#include "notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "tables.h"
#include "tmerge/names.h"

enum { KEPT_OPEN = 4, TEXT = 512, FORM_TEXT = 160 };

/* Texts that describe a form. They are taken from the first call that has the form. */
typedef struct form_text {
    uint64_t form;
    uint32_t op, backend, inputs, outputs;
} form_text;

typedef struct progress_row {
    uint64_t group;
    int64_t rank;
    int64_t first, last; /* numbers of the first and last operation; if the ring buffer lost
                            operations, `first` is the first complete operation */
    int64_t open;        /* first operation that has not ended; INT64_MAX: none */
    int64_t doubt; /* first operation that may have failed or not ended. For NCCL, it is `open`. For
                      gloo, it is at most `last`, because a failed gloo operation looks like one
                      that ended. */
    int64_t done;  /* last operation whose end proves that all ranks came; -1: none */
    size_t from; /* index of the first call that counts; earlier calls belong to a previous group */
    bool cut;
    int64_t ended_ns; /* latest end of the calls seen by make_ready; 0: none */
    int64_t size; /* number of ranks of the group, derived from sizes of operations; 0: unknown */
    size_t forms; /* index in tm_hang_notes.forms of the element for operation `first`; the next
                     operations follow. An element is 1 + an index into form_texts; 0: no record. */
} progress_row;

typedef struct kept {
    uint64_t group;
    int64_t rank, seq;
    uint64_t form;
    int64_t created_ns, timeout_ns;
    int64_t ready_ns; /* when the call can wait for other ranks; 0: unknown */
    int64_t before;   /* number of earlier calls of the rank with the same group and operation; -1:
                         unknown */
    uint32_t op, backend, inputs, outputs, frames;
    tm_flight_state state;
    bool is_p2p;
} kept;

typedef struct dump {
    int64_t rank, left_out, calls, written_ns;
    const char *path;
    uint32_t version;
    bool cut, wrapped, unreadable;
    bool any;  /* whether `last` is set */
    kept last; /* the last call of the dump, in any group */
} dump;

typedef struct known_group {
    uint64_t key;
    uint32_t name, desc, ranks;
} known_group;

struct tm_hang_notes {
    tm_names *texts;
    tm_vec dumps, progress, kept, groups, forms, form_texts;
    tm_keys form_keys, group_keys; /* keys of uint64_t */
    tm_vec progress_of; /* [groups of the dump] vector of size_t: index of the row, or NO_ROW */
    tm_keys p2p_keys;   /* keys of uint64_t: one for each group and operation of the current dump's
                           sends and receives */
    tm_vec p2p_counts;  /* [p2p_keys] vector of int64_t: number of calls so far */
};

static const size_t NO_ROW = SIZE_MAX;

tm_hang_notes *tm_hang_notes_create(void) {
    tm_hang_notes *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    *n = (tm_hang_notes){.texts = tm_names_create(),
                         .dumps = TM_VEC(dump),
                         .progress = TM_VEC(progress_row),
                         .kept = TM_VEC(kept),
                         .groups = TM_VEC(known_group),
                         .forms = TM_VEC(uint32_t),
                         .form_texts = TM_VEC(form_text),
                         .form_keys = TM_KEYS(uint64_t),
                         .group_keys = TM_KEYS(uint64_t),
                         .progress_of = TM_VEC(size_t),
                         .p2p_keys = TM_KEYS(uint64_t),
                         .p2p_counts = TM_VEC(int64_t)};
    if (n->texts)
        return n;
    free(n);
    return NULL;
}

void tm_hang_notes_destroy(tm_hang_notes *n) {
    if (!n)
        return;
    tm_names_destroy(n->texts);
    TM_VECS_FREE(&n->dumps, &n->progress, &n->kept, &n->groups, &n->forms, &n->form_texts);
    tm_keys_free(&n->form_keys);
    tm_keys_free(&n->group_keys);
    tm_vec_free(&n->progress_of);
    tm_keys_free(&n->p2p_keys);
    tm_vec_free(&n->p2p_counts);
    free(n);
}

static const char *text_of(const tm_hang_notes *n, uint32_t id) {
    return tm_names_text(n->texts, id).bytes;
}

static bool intern(tm_hang_notes *n, const char *text, uint32_t *out) {
    *out = tm_names_intern_string(n->texts, text);
    return *out != TM_NAME_FAILED;
}

static bool intern_part(tm_hang_notes *n, const tm_flight *f, const tm_flight_call *c,
                        tm_flight_part part, uint32_t *out) {
    char text[TEXT];
    tm_flight_text(f, c, part, text, part == TM_FLIGHT_FRAMES ? TEXT : FORM_TEXT);
    return intern(n, text, out);
}

/* Interns a group's ranks as "0 1 2", which the job part parses. */
static bool intern_ranks(tm_hang_notes *n, const tm_flight_group *g, uint32_t *out) {
    enum { DIGITS = 20 };
    tm_vec text = TM_VEC(char);
    bool ok = tm_vec_reserve(&text, g->n_ranks * DIGITS + 1);
    for (size_t i = 0; i < g->n_ranks && ok; i++)
        text.n += (size_t)snprintf((char *)text.data + text.n, DIGITS, "%s%lld", i > 0 ? " " : "",
                                   (long long)g->ranks[i]);
    *out = ok ? tm_names_intern(n->texts, text.data, text.n) : TM_NAME_FAILED;
    tm_vec_free(&text);
    return *out != TM_NAME_FAILED;
}

static bool add_group(tm_hang_notes *n, const tm_flight_group *g) {
    const size_t known = n->group_keys.keys.n;
    const uint32_t number = tm_keys_add(&n->group_keys, &g->key);
    known_group made = {.key = g->key};
    if (number < known)
        return true;
    return number != TM_NO_KEY && intern(n, g->name, &made.name) &&
           intern(n, g->desc, &made.desc) && intern_ranks(n, g, &made.ranks) &&
           tm_vec_append(&n->groups, &made, 1);
}

/* Returns whether an operation has ended, so that it waits for no rank. gloo's operations stay
 * "scheduled", but are retired when they end, even by an error. A retired operation of NCCL may
 * have timed out. */
static bool is_over(const tm_flight_call *c) {
    return c->state == TM_FLIGHT_COMPLETED || (c->is_retired && strcmp(c->backend, "gloo") == 0);
}

bool tm_hang_synchronises(const char *op) {
    const bool all =
        strncmp(op, "all", 3) == 0 || strncmp(op, "_all", 4) == 0 || strncmp(op, "ALL", 3) == 0;
    /* in an all_to_all, a rank may have nothing to send to some ranks */
    return (all && !strstr(op, "to_all") && !strstr(op, "toall") && !strstr(op, "TOALL")) ||
           strstr(op, "barrier") || strstr(op, "reduce_scatter");
}

/* Returns whether the call proves that all ranks came. Ends of gloo's operations prove nothing,
 * because these operations are also retired after errors. */
static bool proves_all_came(const tm_flight_call *c) {
    return c->state == TM_FLIGHT_COMPLETED && strcmp(c->backend, "gloo") != 0 &&
           tm_hang_synchronises(c->op);
}

static bool keep(tm_hang_notes *n, const tm_flight *f, const tm_flight_call *c, uint64_t key,
                 int64_t rank, kept *out) {
    *out = (kept){.group = key,
                  .rank = rank,
                  .seq = c->seq,
                  .form = c->form,
                  .created_ns = c->created_ns,
                  .timeout_ns = c->timeout_ns,
                  .before = -1,
                  .state = is_over(c) ? TM_FLIGHT_COMPLETED : c->state,
                  .is_p2p = c->is_p2p};
    return intern(n, c->op, &out->op) && intern(n, c->backend, &out->backend) &&
           intern_part(n, f, c, TM_FLIGHT_INPUTS, &out->inputs) &&
           intern_part(n, f, c, TM_FLIGHT_OUTPUTS, &out->outputs) &&
           intern_part(n, f, c, TM_FLIGHT_FRAMES, &out->frames);
}

/* Finds or adds a form. Sets @p out to its number, which starts at 1. The texts are from the first
 * call with the form. */
static bool form_number(tm_hang_notes *n, const tm_flight *f, const tm_flight_call *c,
                        uint64_t form, uint32_t *out) {
    const size_t known = n->form_keys.keys.n;
    const uint32_t number = tm_keys_add(&n->form_keys, &form);
    form_text made = {.form = form};
    *out = number + 1;
    if (number < known)
        return true;
    return number != TM_NO_KEY && intern(n, c->op, &made.op) &&
           intern(n, c->backend, &made.backend) &&
           intern_part(n, f, c, TM_FLIGHT_INPUTS, &made.inputs) &&
           intern_part(n, f, c, TM_FLIGHT_OUTPUTS, &made.outputs) &&
           tm_vec_append(&n->form_texts, &made, 1);
}

/* State while a dump is read. A dump's progress rows are contiguous, and so are its forms. */
typedef struct reading {
    tm_hang_notes *notes;
    const tm_flight *flight;
    const tm_flight_group *groups;
    const tm_flight_call *calls;
    size_t n_groups, n_calls;
    int64_t rank;
    bool wrapped, cut;
} reading;

/* maximum number of operations of a progress row whose forms are kept */
enum { SPAN_MAX = 1 << 20 };

static progress_row *progress_of(const reading *r, size_t group) {
    const size_t at = ((const size_t *)r->notes->progress_of.data)[group];
    return at == NO_ROW ? NULL : (progress_row *)r->notes->progress.data + at;
}

static void start_progress(const reading *r, progress_row *l, size_t from) {
    const tm_flight_call *c = &r->calls[from];
    *l = (progress_row){.group = r->groups[c->group].key,
                        .rank = r->rank,
                        .first = c->seq,
                        .last = c->seq,
                        .open = INT64_MAX,
                        .doubt = INT64_MAX,
                        .done = -1,
                        .from = from,
                        .cut = r->cut};
}

static bool make_lanes(reading *r) {
    tm_hang_notes *n = r->notes;
    n->progress_of.n = 0;
    size_t *of = tm_vec_append(&n->progress_of, NULL, r->n_groups);
    for (size_t g = 0; of && g < r->n_groups; g++)
        of[g] = NO_ROW;
    for (size_t i = 0; of && i < r->n_calls; i++) {
        const tm_flight_call *c = &r->calls[i];
        progress_row *l = progress_of(r, c->group);
        if (c->is_p2p)
            continue;
        if (!l) {
            of[c->group] = n->progress.n;
            if (!(l = tm_vec_push(&n->progress)))
                return false;
            start_progress(r, l, i);
        }
        if (c->seq < l->last) /* numbers restart if the program made the group again */
            start_progress(r, l, i);
        l->first = c->seq < l->first ? c->seq : l->first;
        l->last = c->seq > l->last ? c->seq : l->last;
        l->open = !is_over(c) && c->seq < l->open ? c->seq : l->open;
        l->doubt = strcmp(c->backend, "gloo") == 0 && l->last < l->open ? l->last : l->open;
        l->size = c->group_size > l->size ? c->group_size : l->size;
    }
    return of != NULL || r->n_groups == 0;
}

/* Finds, for each group, the last operation whose end proves that all ranks came. Searches
 * backwards, because that operation is usually near the end. */
static void find_done(const reading *r) {
    for (size_t i = r->n_calls; i-- > 0;) {
        const tm_flight_call *c = &r->calls[i];
        progress_row *l = c->is_p2p ? NULL : progress_of(r, c->group);
        if (l && i >= l->from && c->seq > l->done && proves_all_came(c))
            l->done = c->seq;
    }
}

static bool reserve_forms(const reading *r) {
    for (size_t g = 0; g < r->n_groups; g++) {
        progress_row *l = progress_of(r, g);
        if (!l)
            continue;
        if (l->last - l->first >= SPAN_MAX)
            l->first = l->last - SPAN_MAX + 1;
        const size_t size = (size_t)(l->last - l->first + 1);
        l->forms = r->notes->forms.n;
        uint32_t *forms = tm_vec_append(&r->notes->forms, NULL, size);
        if (!forms)
            return false;
        memset(forms, 0, size * sizeof *forms);
    }
    return true;
}

/* Records the form of a call. Coalesced calls share a number. Their form is a hash of the forms of
 * all of them. */
static bool note_form(const reading *r, const tm_flight_call *c) {
    progress_row *l = progress_of(r, c->group);
    if (c->seq < l->first || (size_t)(c - r->calls) < l->from)
        return true;
    const size_t at = l->forms + (size_t)(c->seq - l->first);
    const uint32_t before = ((const uint32_t *)r->notes->forms.data)[at];
    uint64_t form = c->form;
    uint32_t number;
    if (before > 0) {
        const uint64_t both[] = {((const form_text *)r->notes->form_texts.data)[before - 1].form,
                                 form};
        form = tm_hash_words(0, both, 2) | 2;
    }
    if (!form_number(r->notes, r->flight, c, form, &number))
        return false;
    ((uint32_t *)r->notes->forms.data)[at] = number;
    return true;
}

static uint64_t form_at(const tm_hang_notes *n, const progress_row *l, int64_t seq) {
    if (seq < l->first || seq > l->last)
        return 0;
    const uint32_t number = ((const uint32_t *)n->forms.data)[l->forms + (size_t)(seq - l->first)];
    return number > 0 ? ((const form_text *)n->form_texts.data)[number - 1].form : 0;
}

/* Counts a send or receive. Sets *before to the number of earlier calls with the same group and
 * operation; -1 if unknown. Returns false if out of memory. */
static bool count_p2p(const reading *r, const tm_flight_call *c, int64_t *before) {
    const uint64_t key = tm_hash_mixed(r->groups[c->group].key, c->op, strlen(c->op));
    int64_t *n = tm_keys_value(&r->notes->p2p_keys, &r->notes->p2p_counts, &key);
    *before = n && !r->wrapped ? *n : -1;
    if (n)
        ++*n;
    return n != NULL;
}

/* Returns when a collective can wait for other ranks: a group's collectives run one after another,
 * so at the earliest when those before it were seen to end. Calls must be given in their order. */
static int64_t make_ready(progress_row *l, const tm_flight_call *c) {
    const int64_t ended_ns = l->ended_ns;
    l->ended_ns = c->completed_ns > ended_ns ? c->completed_ns : ended_ns;
    return c->created_ns > 0 && ended_ns > c->created_ns ? ended_ns : c->created_ns;
}

/* Keeps the full data of each group's last call and of its first calls that have not ended. Also
 * keeps the full data of the dump's last call. */
static bool keep_calls(const reading *r, dump *d) {
    tm_hang_notes *n = r->notes;
    const size_t first = n->kept.n;
    size_t n_p2p = 0;
    kept made;
    tm_keys_free(&n->p2p_keys);
    n->p2p_counts.n = 0;
    for (size_t i = 0; i < r->n_calls; i++) {
        const tm_flight_call *c = &r->calls[i];
        int64_t before = -1;
        if (c->is_p2p && !count_p2p(r, c, &before))
            return false;
        progress_row *l = progress_of(r, c->group);
        const int64_t ready_ns = c->is_p2p || i < l->from ? c->created_ns : make_ready(l, c);
        const bool wanted =
            c->is_p2p ? !is_over(c) && n_p2p++ < TM_HANG_KEPT_P2P
                      : i >= l->from && (c->seq == l->last ||
                                         (c->seq >= l->open && c->seq < l->open + KEPT_OPEN));
        const bool last = i + 1 == r->n_calls;
        if (!wanted && !last)
            continue;
        if (!keep(n, r->flight, c, r->groups[c->group].key, r->rank, &made))
            return false;
        made.before = before;
        made.ready_ns = ready_ns;
        if (!c->is_p2p && form_at(n, l, c->seq))
            made.form = form_at(n, l, c->seq);
        if (wanted && !tm_vec_append(&n->kept, &made, 1))
            return false;
        d->last = made;
        d->any = last;
    }
    /* The first of several coalesced calls represents all of them. */
    kept *v = n->kept.data;
    size_t w = first;
    for (size_t i = first; i < n->kept.n; i++) {
        bool again = false;
        for (size_t k = first; k < w && !again && !v[i].is_p2p; k++)
            again =
                v[k].group == v[i].group && v[k].seq == v[i].seq && !v[i].is_p2p && !v[k].is_p2p;
        if (!again)
            v[w++] = v[i];
    }
    n->kept.n = w;
    return true;
}

/* If the ring buffer has wrapped, drops the first operation of each group, whose record may be
 * incomplete. */
static void leave_partial(const reading *r) {
    for (size_t g = 0; g < r->n_groups && r->wrapped; g++) {
        progress_row *l = progress_of(r, g);
        if (l && l->first < l->last) {
            l->first++;
            l->forms++;
        }
    }
}

bool tm_hang_notes_add(tm_hang_notes *n, const tm_flight *flight, const char *path, int64_t rank,
                       int64_t written_ns) {
    reading r = {.notes = n, .flight = flight, .rank = rank, .cut = tm_flight_is_cut(flight)};
    r.groups = tm_flight_groups(flight, &r.n_groups);
    r.calls = tm_flight_calls(flight, &r.n_calls);
    r.wrapped = r.n_calls > 0 && r.calls[0].record > 0;
    dump d = {.rank = rank,
              .path = path,
              .left_out = tm_flight_left_out(flight),
              .calls = (int64_t)r.n_calls,
              .written_ns = written_ns,
              .cut = r.cut,
              .wrapped = r.wrapped};
    bool ok = intern(n, tm_flight_version(flight), &d.version);
    for (size_t g = 0; g < r.n_groups && ok; g++)
        ok = add_group(n, &r.groups[g]);
    ok = ok && make_lanes(&r) && reserve_forms(&r);
    if (ok)
        find_done(&r);
    for (size_t i = 0; i < r.n_calls && ok; i++)
        ok = r.calls[i].is_p2p || note_form(&r, &r.calls[i]);
    ok = ok && keep_calls(&r, &d);
    leave_partial(&r);
    return ok && tm_vec_append(&n->dumps, &d, 1);
}

bool tm_hang_notes_add_unreadable(tm_hang_notes *n, const char *path, int64_t rank) {
    dump d = {.rank = rank, .path = path, .unreadable = true};
    return intern(n, "", &d.version) && tm_vec_append(&n->dumps, &d, 1);
}

TM_ORDER_BY(by_group, tm_hang_span, group);

void tm_hang_spans_join(tm_vec *spans) {
    tm_hang_span *v = spans->data;
    size_t w = 0;
    if (spans->n > 0)
        tm_sort(v, spans->n, sizeof *v, by_group);
    for (size_t i = 0; i < spans->n; i++) {
        if (w == 0 || v[w - 1].group != v[i].group) {
            v[w++] = v[i];
            continue;
        }
        tm_hang_span *s = &v[w - 1];
        s->first = v[i].first > s->first ? v[i].first : s->first;
        s->last = v[i].last < s->last ? v[i].last : s->last;
        s->open = v[i].open < s->open ? v[i].open : s->open;
    }
    spans->n = w;
}

bool tm_hang_notes_spans(const tm_hang_notes *n, tm_vec *spans) {
    const progress_row *l = n->progress.data;
    for (size_t i = 0; i < n->progress.n; i++) {
        if (l[i].cut) /* the dump is cut short, so it is unknown how far the rank came */
            continue;
        const tm_hang_span span = {l[i].group, l[i].first, l[i].last, l[i].doubt};
        if (!tm_vec_append(spans, &span, 1))
            return false;
    }
    tm_hang_spans_join(spans);
    return true;
}

static const tm_hang_span *find_span(const tm_vec *spans, uint64_t group) {
    const tm_hang_span key = {.group = group};
    return spans->n > 0 ? bsearch(&key, spans->data, spans->n, sizeof key, by_group) : NULL;
}

TM_ORDER_BY(by_seq, tm_hang_form, group, seq);

/* Sorts by operation, and merges the forms of each operation. */
static void join_forms(tm_vec *forms) {
    tm_hang_form *v = forms->data;
    size_t w = 0;
    if (forms->n > 0)
        tm_sort(v, forms->n, sizeof *v, by_seq);
    for (size_t i = 0; i < forms->n; i++) {
        if (w == 0 || by_seq(&v[w - 1], &v[i]) != 0)
            v[w++] = v[i];
        else if (v[w - 1].form != v[i].form)
            v[w - 1].form = TM_HANG_MIXED;
    }
    forms->n = w;
}

bool tm_hang_notes_forms(const tm_hang_notes *n, const tm_vec *spans, tm_vec *forms) {
    /* number of forms at which they are merged, to save memory: most are the same on all ranks */
    enum { JOIN_AT = 1 << 18 };
    const progress_row *l = n->progress.data;
    size_t joined = 0;
    for (size_t i = 0; i < n->progress.n; i++) {
        const tm_hang_span *s = find_span(spans, l[i].group);
        if (!s || s->open == INT64_MAX)
            continue;
        for (int64_t seq = s->open > s->first ? s->open : s->first; seq <= s->last; seq++) {
            const tm_hang_form form = {l[i].group, seq, form_at(n, &l[i], seq)};
            if (form.form != 0 && !tm_vec_append(forms, &form, 1))
                return false;
        }
        if (forms->n > 2 * joined + JOIN_AT) {
            join_forms(forms);
            joined = forms->n;
        }
    }
    join_forms(forms);
    return true;
}

void tm_hang_forms_keep_mixed(tm_vec *forms) {
    tm_hang_form *v = forms->data;
    size_t w = 0;
    join_forms(forms);
    for (size_t i = 0; i < forms->n; i++)
        if (v[i].form == TM_HANG_MIXED && (w == 0 || v[w - 1].group != v[i].group))
            v[w++] = v[i];
    forms->n = w;
}

static tm_status add_dump(const tm_hang_notes *n, const dump *d, tm_table *t, tm_error *err) {
    tm_cell *row = tm_table_add_row(t);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HD_RANK], d->rank);
    tm_cell_set_bool(&row[HD_CUT], d->cut);
    tm_cell_set_int(&row[HD_LEFT_OUT], d->left_out);
    tm_cell_set_int(&row[HD_CALLS], d->calls);
    tm_cell_set_bool(&row[HD_WRAPPED], d->wrapped);
    tm_cell_set_bool(&row[HD_UNREADABLE], d->unreadable);
    if (d->written_ns > 0)
        tm_cell_set_int(&row[HD_WRITTEN], d->written_ns);
    TM_TRY(tm_table_set_text(t, &row[HD_PATH], d->path, err));
    TM_TRY(tm_table_set_text(t, &row[HD_VERSION], tm_hang_or_null(text_of(n, d->version)), err));
    if (!d->any)
        return TM_OK;
    tm_cell_set_int(&row[HD_LAST_GROUP], (int64_t)d->last.group);
    tm_cell_set_int(&row[HD_LAST_SEQ], d->last.seq);
    tm_cell_set_int(&row[HD_LAST_STATE], d->last.state);
    if (d->last.created_ns > 0)
        tm_cell_set_int(&row[HD_LAST_NS], d->last.created_ns);
    TM_TRY(tm_table_set_text(t, &row[HD_LAST_OP], text_of(n, d->last.op), err));
    TM_TRY(tm_table_set_text(t, &row[HD_LAST_BACKEND], tm_hang_or_null(text_of(n, d->last.backend)),
                             err));
    return tm_table_set_text(t, &row[HD_FRAMES], tm_hang_or_null(text_of(n, d->last.frames)), err);
}

static tm_status add_group_row(const tm_hang_notes *n, const known_group *g, tm_table *t,
                               tm_error *err) {
    tm_cell *row = tm_table_add_row(t);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HG_GROUP], (int64_t)g->key);
    TM_TRY(tm_table_set_text(t, &row[HG_NAME], text_of(n, g->name), err));
    TM_TRY(tm_table_set_text(t, &row[HG_DESC], tm_hang_or_null(text_of(n, g->desc)), err));
    return tm_table_set_text(t, &row[HG_RANKS], tm_hang_or_null(text_of(n, g->ranks)), err);
}

static tm_status add_progress(const progress_row *l, tm_table *t, tm_error *err) {
    tm_cell *row = tm_table_add_row(t);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HP_GROUP], (int64_t)l->group);
    tm_cell_set_int(&row[HP_RANK], l->rank);
    tm_cell_set_int(&row[HP_FIRST], l->first);
    tm_cell_set_int(&row[HP_LAST], l->last);
    if (l->open < INT64_MAX)
        tm_cell_set_int(&row[HP_OPEN], l->open);
    tm_cell_set_known(&row[HP_DONE], l->done);
    if (l->size > 0)
        tm_cell_set_int(&row[HP_SIZE], l->size);
    return TM_OK;
}

static tm_status add_call(const tm_hang_notes *n, const kept *k, tm_table *t, tm_error *err) {
    tm_cell *row = tm_table_add_row(t);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HC_GROUP], (int64_t)k->group);
    tm_cell_set_int(&row[HC_RANK], k->rank);
    tm_cell_set_bool(&row[HC_P2P], k->is_p2p);
    tm_cell_set_int(&row[HC_SEQ], k->seq);
    tm_cell_set_int(&row[HC_FORM], (int64_t)k->form);
    tm_cell_set_int(&row[HC_STATE], k->state);
    if (k->created_ns > 0)
        tm_cell_set_int(&row[HC_CREATED], k->created_ns);
    if (k->ready_ns > 0)
        tm_cell_set_int(&row[HC_READY], k->ready_ns);
    if (k->timeout_ns > 0)
        tm_cell_set_int(&row[HC_TIMEOUT], k->timeout_ns);
    tm_cell_set_known(&row[HC_BEFORE], k->before);
    TM_TRY(tm_table_set_text(t, &row[HC_OP], text_of(n, k->op), err));
    TM_TRY(tm_table_set_text(t, &row[HC_BACKEND], tm_hang_or_null(text_of(n, k->backend)), err));
    TM_TRY(tm_table_set_text(t, &row[HC_INPUTS], tm_hang_or_null(text_of(n, k->inputs)), err));
    TM_TRY(tm_table_set_text(t, &row[HC_OUTPUTS], tm_hang_or_null(text_of(n, k->outputs)), err));
    return tm_table_set_text(t, &row[HC_FRAMES], tm_hang_or_null(text_of(n, k->frames)), err);
}

/* Adds a call whose full data were not kept. The texts are those of its form. Adds nothing if the
 * form is unknown. */
static tm_status add_formed(const tm_hang_notes *n, const progress_row *l, int64_t seq, tm_table *t,
                            tm_error *err) {
    const uint64_t form = form_at(n, l, seq);
    const uint32_t number = form ? tm_keys_find(&n->form_keys, &form) : TM_NO_KEY;
    if (number == TM_NO_KEY)
        return TM_OK;
    const form_text *f = (const form_text *)n->form_texts.data + number;
    const kept k = {.group = l->group,
                    .rank = l->rank,
                    .seq = seq,
                    .form = form,
                    .op = f->op,
                    .backend = f->backend,
                    .inputs = f->inputs,
                    .outputs = f->outputs,
                    .before = -1,
                    .state = seq < l->open ? TM_FLIGHT_COMPLETED : TM_FLIGHT_SCHEDULED};
    return add_call(n, &k, t, err);
}

static bool is_kept(const tm_hang_notes *n, const progress_row *l, int64_t seq, size_t *from) {
    const kept *k = n->kept.data; /* calls and progress rows are in the order of dumps */
    while (*from < n->kept.n && k[*from].rank != l->rank)
        ++*from;
    for (size_t i = *from; i < n->kept.n && k[i].rank == l->rank; i++)
        if (k[i].group == l->group && k[i].seq == seq && !k[i].is_p2p)
            return true;
    return false;
}

/* Adds two calls of each progress row, unless they were kept: of the group's first operation in
 * which ranks differ, and of the first that some rank has not reached. */
static tm_status add_wanted(const tm_hang_notes *n, const tm_vec *spans, const tm_vec *mixed,
                            tm_table *t, tm_error *err) {
    const progress_row *l = n->progress.data;
    size_t from = 0;
    for (size_t i = 0; i < n->progress.n; i++) {
        const tm_hang_span *s = find_span(spans, l[i].group);
        const tm_hang_form *m = mixed->data;
        int64_t wanted[2] = {s ? s->last + 1 : -1, -1};
        for (size_t k = 0; k < mixed->n; k++)
            wanted[1] = m[k].group == l[i].group ? m[k].seq : wanted[1];
        for (int w = 0; w < 2; w++)
            if (wanted[w] >= l[i].first && wanted[w] <= l[i].last &&
                !is_kept(n, &l[i], wanted[w], &from))
                TM_TRY(add_formed(n, &l[i], wanted[w], t, err));
    }
    return TM_OK;
}

tm_status tm_hang_notes_rows(const tm_hang_notes *n, const tm_vec *spans, const tm_vec *mixed,
                             tm_tables *out, tm_error *err) {
    tm_table *dumps = tm_tables_find(out, tm_hang_dump_def.name);
    tm_table *groups = tm_tables_find(out, tm_hang_group_def.name);
    tm_table *progress = tm_tables_find(out, tm_hang_progress_def.name);
    tm_table *calls = tm_tables_find(out, tm_hang_call_def.name);
    for (size_t i = 0; i < n->dumps.n; i++)
        TM_TRY(add_dump(n, (const dump *)n->dumps.data + i, dumps, err));
    for (size_t i = 0; i < n->groups.n; i++)
        TM_TRY(add_group_row(n, (const known_group *)n->groups.data + i, groups, err));
    for (size_t i = 0; i < n->progress.n; i++)
        TM_TRY(add_progress((const progress_row *)n->progress.data + i, progress, err));
    for (size_t i = 0; i < n->kept.n; i++)
        TM_TRY(add_call(n, (const kept *)n->kept.data + i, calls, err));
    return add_wanted(n, spans, mixed, calls, err);
}
