#include "uneven.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixes.h"
#include "table/shown.h"

/* If the ratios of layers and of work differ by at most this share, layers explain the work. */
static const double SAME = 0.03;

/* Sums over the stages that differ, or over the other stages. */
typedef struct side {
    size_t n;
    double work_ns, usual_ns, own_ns, ranks;
    /* sum, maximum and minimum of the stages' numbers of layers; a minimum of 0: unknown for some
     * stage */
    int64_t layers, most, least;
} side;

typedef struct sides {
    side differ, other;
    /* `each`: layers of every stage after an even split; 0: impossible. `moved`: layers to move for
     * it. */
    int64_t each, moved;
    char names[96]; /* such as "stage 2" or "stages 0 and 1" */
} sides;

static void add(side *s, const tm_table *table, size_t row) {
    const tm_cell *layers = tm_table_cell(table, row, "layers");
    const int64_t n = layers->null ? 0 : layers->value.i;
    s->work_ns += (double)tm_table_cell(table, row, "work_ns")->value.i;
    s->usual_ns += (double)tm_table_cell(table, row, "usual_ns")->value.i;
    s->own_ns += (double)tm_table_cell(table, row, "own_ns")->value.i;
    s->ranks += (double)tm_table_cell(table, row, "ranks")->value.i;
    s->layers += n;
    s->most = n > s->most ? n : s->most;
    s->least = s->n == 0 || n < s->least ? n : s->least;
    s->n++;
}

static bool differs(const tm_table *table, size_t row) {
    return tm_table_cell(table, row, "differs")->value.i != 0;
}

static void name(const tm_table *table, size_t n_differ, char *out, size_t size) {
    size_t named = 0, used = (size_t)snprintf(out, size, "stage%s", n_differ > 1 ? "s" : "");
    for (size_t i = 0; i < table->n_rows && used < size; i++) {
        if (!differs(table, i))
            continue;
        const char *before = named == 0 ? " " : named + 1 == n_differ ? " and " : ", ";
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, before,
                                 tm_table_cell(table, i, "stage")->value.i);
        named++;
    }
}

/* Counts the layers to move so that all stages have equally many. */
static void count_moved(const tm_table *table, sides *s) {
    const int64_t n = (int64_t)table->n_rows, all = s->differ.layers + s->other.layers;
    const double by_layers = (double)s->differ.layers / (double)s->differ.n /
                             ((double)s->other.layers / (double)s->other.n);
    const double by_work =
        s->differ.work_ns / (double)s->differ.n / (s->other.work_ns / (double)s->other.n);
    if (all % n != 0 || fabs(by_layers / by_work - 1.0) > SAME)
        return;
    s->each = all / n;
    for (size_t i = 0; i < table->n_rows; i++) {
        const int64_t own = tm_table_cell(table, i, "layers")->value.i;
        s->moved += own > s->each ? own - s->each : 0;
    }
}

static bool read(const tm_tables *tables, sides *s) {
    const tm_table *table = tm_tables_find(tables, "whatif.split");
    *s = (sides){0};
    for (size_t i = 0; i < table->n_rows; i++)
        add(differs(table, i) ? &s->differ : &s->other, table, i);
    if (s->differ.n == 0 || s->other.n == 0)
        return false;
    name(table, s->differ.n, s->names, sizeof s->names);
    if (s->differ.least > 0 && s->other.least > 0)
        count_moved(table, s);
    return true;
}

/* Returns the mean time of the stages that differ / the mean time of the other stages. */
static double times(const sides *s, double differ, double other) {
    return other > 0.0 ? differ / (double)s->differ.n / (other / (double)s->other.n)
                       : (double)INFINITY;
}

void tm_uneven_text(const tm_tables *tables, char out[TM_UNEVEN_MAX]) {
    char layers[80] = "";
    sides s;
    out[0] = '\0';
    if (!read(tables, &s))
        return;
    if (s.differ.least > 0 && s.differ.least == s.differ.most && s.other.least == s.other.most &&
        s.other.least > 0 && s.other.least != s.differ.least)
        snprintf(layers, sizeof layers, " (%" PRId64 " layers in a pass, not %" PRId64 ")",
                 s.differ.least, s.other.least);
    snprintf(out, TM_UNEVEN_MAX, "%.80s %s %.2f times the work of the other%s%s", s.names,
             s.differ.n > 1 ? "have" : "has", times(&s, s.differ.work_ns, s.other.work_ns),
             s.other.n > 1 ? "s" : "", layers);
}

void tm_uneven_remedy(const tm_tables *tables, char out[TM_UNEVEN_MAX]) {
    sides s;
    snprintf(out, TM_UNEVEN_MAX, "an even split");
    if (read(tables, &s) && s.moved > 0)
        snprintf(out, TM_UNEVEN_MAX, "moving %" PRId64 " layer%s", s.moved, s.moved > 1 ? "s" : "");
}

void tm_uneven_why(const tm_tables *tables, char out[TM_UNEVEN_MAX]) {
    /* minimum share of the difference in work that a reason must explain */
    const double much = 0.5;
    char own[32];
    sides s;
    out[0] = '\0';
    if (!read(tables, &s))
        return;
    const double more = times(&s, s.differ.work_ns, s.other.work_ns) - 1.0;
    const double usual = times(&s, s.differ.usual_ns, s.other.usual_ns) - 1.0;
    const bool known = s.differ.least > 0 && s.other.least > 0;
    if (usual / more < much)
        snprintf(out, TM_UNEVEN_MAX,
                 "The same kernels run as often in %.90s but take %s time: the layers there are %s "
                 "than launch shapes show, or the GPUs are %s",
                 s.names, more > 0.0 ? "more" : "less", more > 0.0 ? "larger" : "smaller",
                 more > 0.0 ? "slower" : "faster");
    else if (more > 0.0 && s.differ.own_ns >= much * more * s.other.usual_ns / (double)s.other.n) {
        tm_shown_duration(llround(s.differ.own_ns / (double)s.differ.n), own, sizeof own);
        snprintf(out, TM_UNEVEN_MAX,
                 "%s of its work is in kernels that no other stage runs, such as a model's head or "
                 "embedding",
                 own);
    } else if (known && s.moved == 0)
        snprintf(out, TM_UNEVEN_MAX,
                 "%" PRId64 " layers cannot be divided evenly between %zu stages",
                 s.differ.layers + s.other.layers, s.differ.n + s.other.n);
}

/* Returns whether device numbers, and no name, show a host of the job. */
static bool are_inferred(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    bool inferred = false;
    for (size_t i = 0; i < ranks->n_rows; i++)
        inferred = inferred || tm_table_cell(ranks, i, "host_inferred")->value.i;
    return inferred;
}

size_t tm_network_item(const tm_table *items) {
    const size_t row = tm_fixes_find(items, "network", NULL);
    return row < items->n_rows ? row : tm_fixes_find(items, "link", NULL);
}

/* The place of slow transfers. */
typedef struct place {
    char name[128];      /* such as "host3", "host0 and host1" or "ranks 1 and 2" */
    const char *where;   /* word before the name: "between" */
    bool across, inside; /* the transfers are between hosts, within a host */
} place;

static bool is_host(const tm_tables *tables, const char *name) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    bool found = false;
    for (size_t i = 0; i < ranks->n_rows && !found; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        found = !host->null && strcmp(host->value.text, name) == 0;
    }
    return found;
}

static bool read_place(const tm_tables *tables, place *out) {
    const tm_table *items = tm_tables_find(tables, "whatif.item");
    const size_t row = tm_network_item(items);
    if (row == items->n_rows)
        return false;
    const char *names = tm_table_cell(items, row, "name")->value.text;
    const char *last = strrchr(names, ',');
    const bool several = tm_table_cell(items, row, "ranks")->value.i > 1;
    out->across = tm_fixes_is(items, row, "network");
    /* within a host of one rank, there are no transfers */
    out->inside = !out->across && several && is_host(tables, names);
    const char *word = out->across || out->inside ? "" : several ? "ranks " : "rank ";
    out->where = out->inside   ? "within"
                 : out->across ? (last ? "between" : "that cross")
                 : several     ? "between"
                               : "from and to";
    if (last)
        snprintf(out->name, sizeof out->name, "%s%.*s and%.40s", word,
                 (int)(last - names < 60 ? last - names : 60), names, last + 1);
    else
        snprintf(out->name, sizeof out->name, "%s%.100s", word, names);
    return true;
}

void tm_network_text(const tm_tables *tables, char out[TM_NETWORK_TEXT_MAX]) {
    const tm_table *slow = tm_tables_find(tables, "whatif.network");
    place at;
    out[0] = '\0';
    if (slow->n_rows == 0 || !read_place(tables, &at))
        return;
    const double own = tm_table_cell(slow, 0, "busbw_gbps")->value.r;
    const double others = tm_table_cell(slow, 0, "others_busbw_gbps")->value.r;
    const bool inferred = (at.across || at.inside) && are_inferred(tables);
    snprintf(out, TM_NETWORK_TEXT_MAX,
             "Transfers %s %s%s run at %.2f times the bandwidth of other transfers (%.1f "
             "instead of %.1f GB/s)",
             at.where, at.name, inferred ? " (hosts by device numbers)" : "", own / others, own,
             others);
}

void tm_network_look(const tm_tables *tables, char out[TM_NETWORK_TEXT_MAX]) {
    place at;
    out[0] = '\0';
    if (!read_place(tables, &at))
        return;
    if (at.across)
        snprintf(out, TM_NETWORK_TEXT_MAX,
                 "Look at the network of %s (cards, cables, switch ports)", at.name);
    else
        snprintf(out, TM_NETWORK_TEXT_MAX, "Look at what connects the GPUs of %s (NVLink, PCIe)",
                 at.name);
}
