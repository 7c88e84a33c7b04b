/* Where in the program kernels are launched, if recorded. */
#include "advice_rules.h"

#include <stdio.h>
#include <string.h>

#include "table/levels.h"

/* A place in the program: an operator and the function that calls it (either may be NULL). amount:
 * how many kernels it launches, or the time of these kernels [ns]. */
typedef struct place {
    const char *op, *inside;
    int64_t amount;
} place;

/* Rows are sorted by time, longest first, so the places that do not fit launch little. */
enum { PLACES_MAX = 128 };

static const char *text_of(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? NULL : cell->value.text;
}

/* Returns the operator of a launch. Returns NULL if this is PyTorch's own record of a collective,
 * or if the cell contains the reason why there is no operator. */
static const char *operator_of(const tm_table *launchers, size_t row) {
    const char *name = text_of(launchers, row, "operator");
    return name && name[0] != '(' && strcmp(name, "record_param_comms") != 0 ? name : NULL;
}

/* Returns the function that calls the operator of a launch; NULL if it is a call of a communication
 * library, such as ncclGroupEnd, which only repeats what is launched. */
static const char *inside_of(const tm_table *launchers, size_t row) {
    const char *name = text_of(launchers, row, "inside");
    const bool library = name && (strncmp(name, "nccl", 4) == 0 || strncmp(name, "rccl", 4) == 0 ||
                                  strncmp(name, "Hccl", 4) == 0);
    return library && name[4] >= 'A' && name[4] <= 'Z' ? NULL : name;
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns the number or the time of a row's kernels, depending on @p which; 0 for copies and sets.
 */
static int64_t amount_of(const tm_facts *f, tm_launched which, size_t row) {
    const tm_table *launchers = tm_tables_find(f->tables, "kernels.launched");
    const tm_table *kernels = tm_tables_find(f->tables, "kernels.kernel");
    const char *name = tm_table_cell(launchers, row, "kernel")->value.text;
    size_t i = 0;
    while (i < kernels->n_rows && !is_same(text_of(kernels, i, "name"), name))
        i++;
    if (i == kernels->n_rows ||
        tm_table_cell(kernels, i, "communication")->value.i != (which == TM_LAUNCHED_COMMUNICATION))
        return 0;
    if (which == TM_LAUNCHED_COMMUNICATION)
        return tm_facts_int(f, "kernels.launched", row, "total_ns");
    return tm_facts_int(f, "kernels.launched", row, "mean_ns") < TM_SMALL_KERNEL_NS
               ? tm_facts_int(f, "kernels.launched", row, "calls")
               : 0;
}

/* Adds a row's amount to its place. Returns false if the array of places is full. */
static bool add_place(place *places, size_t *n, const place *own) {
    size_t i = 0;
    while (i < *n && !(is_same(places[i].op, own->op) && is_same(places[i].inside, own->inside)))
        i++;
    if (i == PLACES_MAX)
        return false;
    if (i == *n)
        places[(*n)++] = (place){own->op, own->inside, 0};
    places[i].amount += own->amount;
    return true;
}

/* Returns the place with the largest amount, and sets its share [%]. Places differ by operator, by
 * function, or by both. */
static place most_of(const tm_facts *f, tm_launched which, bool by_operator, bool by_inside,
                     double *share) {
    const tm_table *launchers = tm_tables_find(f->tables, "kernels.launched");
    place places[PLACES_MAX], most = {NULL, NULL, 0};
    size_t n = 0;
    int64_t all = 0;
    size_t end;
    for (size_t i = tm_table_level(launchers, "kernel", &end); i < end; i++) {
        const place own = {by_operator ? operator_of(launchers, i) : NULL,
                           by_inside ? inside_of(launchers, i) : NULL, amount_of(f, which, i)};
        all += own.amount;
        if (own.amount > 0 && (own.op || own.inside))
            (void)add_place(places, &n, &own);
    }
    for (size_t i = 0; i < n; i++)
        most = places[i].amount > most.amount ? places[i] : most;
    *share = tm_facts_percent(most.amount, all);
    return most;
}

void tm_facts_launcher(const tm_facts *f, tm_launched which, char *out, size_t size) {
    static const bool by[][2] = {{true, true}, {false, true}, {true, false}};
    const double least = 10.0; /* with a smaller share [%], no place stands out */
    double share = 0.0;
    place most = {NULL, NULL, 0};
    *out = '\0';
    for (size_t i = 0; i < sizeof by / sizeof *by && share < least; i++)
        most = most_of(f, which, by[i][0], by[i][1], &share);
    if (share < least)
        return;
    size_t at =
        (size_t)snprintf(out, size, " %.0f %% of %s launched", share,
                         which == TM_LAUNCHED_SHORT ? "the short ones are" : "communication is");
    if (most.op)
        at += (size_t)snprintf(out + at, size - at, " by \"%.80s\"", most.op);
    if (most.inside)
        at += (size_t)snprintf(out + at, size - at, " in \"%.80s\"", most.inside);
    snprintf(out + at, size - at, ".");
}
