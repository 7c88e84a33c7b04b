#include "tmerge/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "table/levels.h"
#include "table/rows.h"

/* Sort order: rows are compared by the columns [first, end). Nulls come last, also in descending
 * order. */
typedef struct order {
    const tm_table_def *def;
    int first;
    int end;
    bool descending;
} order;

static bool is_letter(unsigned char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

/* A word of a text: a sequence of letters and digits. */
typedef struct word {
    const unsigned char *bytes;
    size_t letters; /* number of letters at the start */
    size_t number;  /* start of the trailing number, without leading zeros */
    size_t size;
    bool counts; /* true if the word has only letters, or letters followed by digits */
} word;

static word word_at(const unsigned char *text) {
    word w = {.bytes = text};
    while (is_letter(text[w.letters]))
        w.letters++;
    w.size = w.number = w.letters;
    while (is_digit(text[w.size]))
        w.size++;
    while (w.number + 1 < w.size && text[w.number] == '0')
        w.number++;
    w.counts = !is_letter(text[w.size]);
    while (is_letter(text[w.size]) || is_digit(text[w.size]))
        w.size++;
    return w;
}

/* Compares two words by the letters at their start. If these are equal, words that are only
 * letters, or letters and a number, come before all other words, and are compared by their numbers.
 * Two other words (hashes, addresses) are equal here: the caller compares them by bytes. */
static int compare_words(const word *a, const word *b) {
    const size_t least = a->letters < b->letters ? a->letters : b->letters;
    int result = memcmp(a->bytes, b->bytes, least);
    const size_t digits = a->size - a->number, others = b->size - b->number;
    if (result != 0 || a->letters != b->letters)
        return result != 0 ? result : tm_order_u64(a->letters, b->letters);
    if (a->counts != b->counts)
        return a->counts ? -1 : 1;
    if (a->counts && digits != others)
        return tm_order_u64(digits, others);
    return a->counts ? memcmp(a->bytes + a->number, b->bytes + b->number, digits) : 0;
}

/* Compares texts. Numbers at the end of words are compared as numbers: layer2 comes before layer10,
 * and group 2 before group 10. Everything else is compared by bytes, which in UTF-8 is the order of
 * code points. */
static int compare_texts(const char *a, const char *b) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    size_t at = 0;
    while (x[at] != '\0' && x[at] == y[at])
        at++;
    if (x[at] == y[at])
        return 0;
    while (at > 0 && (is_letter(x[at - 1]) || is_digit(x[at - 1])))
        at--;
    const word left = word_at(x + at), right = word_at(y + at);
    const int result = left.size > 0 && right.size > 0 ? compare_words(&left, &right) : 0;
    return result != 0 ? result : strcmp(a + at, b + at);
}

/* Compares two values that are not null. Reals are finite, so any two values have an order. */
static int compare_values(tm_type type, const tm_cell *a, const tm_cell *b) {
    switch (type) {
    case TM_REAL:
        return tm_order_real(a->value.r, b->value.r);
    case TM_TEXT:
        return compare_texts(a->value.text, b->value.text);
    case TM_INT:
    case TM_BOOL:
        break;
    }
    return tm_order_i64(a->value.i, b->value.i);
}

static int compare_from(const order *by, int first, const tm_cell *a, const tm_cell *b) {
    for (int c = first; c < by->end; c++) {
        int result = a[c].null - b[c].null;
        if (result == 0 && !a[c].null) {
            result = compare_values(by->def->columns[c].type, &a[c], &b[c]);
            result = by->descending ? -result : result;
        }
        if (result != 0)
            return result;
    }
    return 0;
}

static int compare_rows(const order *by, const tm_cell *a, const tm_cell *b) {
    return compare_from(by, by->first, a, b);
}

static bool is_sorted(const tm_table *table, const order *by) {
    for (size_t r = 1; r < table->n_rows; r++)
        if (compare_rows(by, tm_table_row(table, r - 1), tm_table_row(table, r)) > 0)
            return false;
    return true;
}

static void swap_rows(const tm_table *table, size_t a, size_t b) {
    tm_cell *x = tm_table_row(table, a);
    tm_cell *y = tm_table_row(table, b);
    for (size_t c = 0; c < tm_rows_width(table); c++) {
        tm_cell kept = x[c];
        x[c] = y[c];
        y[c] = kept;
    }
}

/* Sorts the rows by insertion. This is slow but needs no memory. It is used for short tables, and
 * when memory runs out. */
static void sort_by_insertion(const tm_table *table, const order *by) {
    for (size_t end = 1; end < table->n_rows; end++)
        for (size_t r = end; r > 0; r--) {
            if (compare_rows(by, tm_table_row(table, r - 1), tm_table_row(table, r)) <= 0)
                break;
            swap_rows(table, r - 1, r);
        }
}

/* Value of entry.first if the first key is null, a real or a text: whole rows are compared. */
#define UNREPORTED INT64_MAX

/* A row during sorting. `first` is a copy of the row's first key. Usually this key decides the
 * order, so the row itself need not be read. */
typedef struct entry {
    /* The first key, if it is an int or a bool; its complement for descending order. Otherwise
     * UNREPORTED. During a counting sort by all keys: the current key. */
    int64_t first;
    size_t row;
} entry;

static entry entry_of(const tm_table *table, const order *by, int column, size_t row) {
    const tm_cell *cell = &tm_table_row(table, row)[column];
    tm_type type = by->def->columns[column].type;
    if (type == TM_REAL || type == TM_TEXT || cell->null)
        return (entry){UNREPORTED, row};
    /* ~ reverses the order and, unlike -, cannot overflow. */
    return (entry){by->descending ? ~cell->value.i : cell->value.i, row};
}

static bool is_after(const tm_table *table, const order *by, const entry *a, const entry *b) {
    if (a->first != b->first)
        return a->first > b->first;
    return compare_from(by, by->first + (a->first != UNREPORTED), tm_table_row(table, a->row),
                        tm_table_row(table, b->row)) > 0;
}

/* Merges from[low, middle) and from[middle, high) into to[low, high). If rows are equal, the left
 * row comes first, which makes the sort stable. */
static void merge(const tm_table *table, const order *by, const entry *from, entry *to,
                  const size_t range[3]) {
    size_t left = range[0];
    size_t right = range[1];
    for (size_t at = range[0]; at < range[2]; at++) {
        bool take_left = right == range[2] ||
                         (left < range[1] && !is_after(table, by, &from[left], &from[right]));
        to[at] = from[take_left ? left++ : right++];
    }
}

/* Counting sort is used for at least COUNTED_LEAST rows whose keys span at most COUNTED_RANGE times
 * the number of rows. */
enum { COUNTED_LEAST = 256, COUNTED_RANGE = 4 };

/* Sorts entries by their first keys with a counting sort. Does so only if the keys have a small
 * range, as ids of names and ranks have. Otherwise, or when out of memory, leaves the entries
 * unchanged. Returns the array that has the entries. */
static entry *count_sort(size_t n, entry *entries, entry *spare) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t r = 0; r < n; r++) {
        least = entries[r].first < least ? entries[r].first : least;
        most = entries[r].first > most ? entries[r].first : most;
    }
    const uint64_t range = (uint64_t)most - (uint64_t)least + 1; /* 0 stands for all 2^64 values */
    if (n < COUNTED_LEAST || range == 0 || range > COUNTED_RANGE * (uint64_t)n)
        return entries;
    size_t *place = calloc(range + 1, sizeof *place);
    if (!place)
        return entries;
    for (size_t r = 0; r < n; r++)
        place[entries[r].first - least + 1]++;
    for (size_t k = 1; k < range; k++)
        place[k] += place[k - 1];
    for (size_t r = 0; r < n; r++)
        spare[place[entries[r].first - least]++] = entries[r];
    free(place);
    return spare;
}

/* Sorts entries by all keys, one key after another, from the last key to the first. Returns the
 * array that has the result. Returns NULL if a key is not a number or has a large range. */
static entry *count_sort_all(const tm_table *table, const order *by, entry *entries, entry *spare) {
    const size_t n = table->n_rows;
    for (size_t r = 0; r < n; r++)
        entries[r].row = r;
    for (int c = by->end; c-- > by->first;) {
        bool reported = true;
        for (size_t r = 0; r < n; r++) {
            entries[r] = entry_of(table, by, c, entries[r].row);
            reported = reported && entries[r].first != UNREPORTED;
        }
        if (!reported || count_sort(n, entries, spare) == entries)
            return NULL;
        entry *counted = spare;
        spare = entries;
        entries = counted;
    }
    return entries;
}

static bool are_sorted(const tm_table *table, const order *by, const entry *entries, size_t n) {
    for (size_t r = 1; r < n; r++)
        if (is_after(table, by, &entries[r - 1], &entries[r]))
            return false;
    return true;
}

/* Sorts entries, by counting all keys if possible. Otherwise sorts them by their first keys, and
 * then, if rows with equal first keys are not in order, by merging from the bottom up. Returns the
 * array that has the result. */
static entry *sort_entries(const tm_table *table, const order *by, entry *entries, entry *spare) {
    size_t n = table->n_rows;
    entry *all = count_sort_all(table, by, entries, spare);
    if (all)
        return all;
    for (size_t r = 0; r < n; r++)
        entries[r] = entry_of(table, by, by->first, r);
    if (count_sort(n, entries, spare) == spare) {
        entry *counted = spare;
        spare = entries;
        entries = counted;
        if (are_sorted(table, by, entries, n))
            return entries;
    }
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t low = 0; low < n; low += 2 * run) {
            size_t middle = low + run < n ? low + run : n;
            size_t high = middle + run < n ? middle + run : n;
            merge(table, by, entries, spare, (const size_t[3]){low, middle, high});
        }
        entry *sorted = spare;
        spare = entries;
        entries = sorted;
    }
    return entries;
}

/* Moves row sorted[r].row to position r, for all r. Works in place, because a table may take most
 * of a process's memory. Afterwards, sorted[r].row is r. @p kept is a buffer for one row. */
static void move_rows(const tm_table *table, entry *sorted, tm_cell *kept) {
    size_t row_bytes = tm_rows_width(table) * sizeof *kept;
    for (size_t first = 0; first < table->n_rows; first++) {
        size_t place = first;
        memcpy(kept, tm_table_row(table, first), row_bytes);
        while (sorted[place].row != first) { /* follow the cycle */
            size_t from = sorted[place].row;
            memcpy(tm_table_row(table, place), tm_table_row(table, from), row_bytes);
            sorted[place].row = place;
            place = from;
        }
        memcpy(tm_table_row(table, place), kept, row_bytes);
        sorted[place].row = place;
    }
}

/* Sorts entries and then moves each row once, because a row may have twenty cells. False if out of
 * memory; the table is then unchanged. */
static bool sort_by_merging(tm_table *table, const order *by) {
    size_t row_bytes = tm_rows_width(table) * sizeof(tm_cell);
    entry *entries = malloc(table->n_rows * sizeof *entries);
    entry *spare = malloc(table->n_rows * sizeof *spare);
    tm_cell *kept = malloc(row_bytes);
    bool done = entries && spare && kept;
    if (done)
        move_rows(table, sort_entries(table, by, entries, spare), kept);
    free(kept);
    free(spare);
    free(entries);
    return done;
}

/* Sorts the rows. This cannot fail: if memory runs out, it is only slow. */
static void sort_rows(tm_table *table, const order *by) {
    enum { SHORT_TABLE = 16 };
    /* This is the usual case, because rows are mostly appended in order. */
    if (is_sorted(table, by))
        return;
    if (table->n_rows <= SHORT_TABLE || !sort_by_merging(table, by))
        sort_by_insertion(table, by);
}

typedef struct int_keys {
    const int64_t *keys;
    int n;
} int_keys;

static int compare_keys(const tm_cell *row, const int_keys *by) {
    int found = 0;
    for (int c = 0; c < by->n && found == 0; c++)
        found = tm_order_i64(row[c].value.i, by->keys[c]);
    return found;
}

static bool is_before(const void *row, const void *keys) {
    return compare_keys(row, keys) < 0;
}

size_t tm_table_find_row(const tm_table *table, const int64_t *keys, int n_keys) {
    const int_keys by = {keys, n_keys};
    size_t row = tm_bisect(table->cells, table->n_rows, tm_rows_width(table) * sizeof *table->cells,
                           &by, is_before);
    bool found = row < table->n_rows && compare_keys(tm_table_row(table, row), &by) == 0;
    return found ? row : table->n_rows;
}

void tm_table_sort(tm_table *table) {
    const order by = {.def = table->def, .first = 0, .end = table->def->n_keys};
    sort_rows(table, &by);
}

void tm_table_order(tm_table *table, int column, bool smallest) {
    const order by = {
        .def = table->def, .first = column, .end = column + 1, .descending = !smallest};
    sort_rows(table, &by);
}

void tm_table_rank(tm_table *table, int column) {
    tm_table_order(table, column, false);
}

void tm_table_top(tm_table *table, size_t n) {
    if (table->def->top >= 0) /* a table without a column to rank by keeps its order */
        tm_table_rank(table, table->def->top);
    if (tm_table_has_levels(table->def))
        tm_table_top_each(table, 0, n);
    else if (table->n_rows > n)
        table->n_rows = n;
}

void tm_table_top_each(tm_table *table, int column, size_t n) {
    const order by = {.def = table->def, .first = column, .end = column + 1};
    size_t kept = 0, of_text = 0;
    sort_rows(table, &by);
    for (size_t r = 0; r < table->n_rows; r++) {
        const tm_cell *row = tm_table_row(table, r);
        /* Row r - 1 can be compared, although rows are overwritten: either it is unchanged, or it
         * was overwritten by the last row that was kept. */
        bool same = r > 0 && compare_rows(&by, tm_table_row(table, r - 1), row) == 0;
        of_text = same ? of_text + 1 : 0;
        if (of_text < n && kept++ < r)
            memcpy(tm_table_row(table, kept - 1), row, tm_rows_width(table) * sizeof *row);
    }
    table->n_rows = kept;
}
