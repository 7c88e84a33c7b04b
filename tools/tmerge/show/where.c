#include "where.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum op { EQUAL, DIFFERENT, AT_LEAST, AT_MOST, MORE, LESS, HOLDS } op;

/* Operators. An operator must come before its own beginnings: "<=" before "<". */
static const struct {
    const char *word;
    op op;
} ops[] = {{"!=", DIFFERENT}, {">=", AT_LEAST}, {"<=", AT_MOST}, {"==", EQUAL},
           {"=", EQUAL},      {">", MORE},      {"<", LESS},     {"~", HOLDS}};
enum { N_OPS = sizeof ops / sizeof *ops };

/* A condition as the user typed it. `at` is the position of the value in the text, from 1. */
typedef struct asked {
    const char *column, *value;
    size_t at;
    op op;
    bool quoted, alternative; /* alternative: "or" comes before the condition */
} asked;

/* A condition converted to the type of its column. */
typedef struct condition {
    const char *text;
    tm_type type;
    int column;
    op op;
    int64_t i;
    double r;
    bool null, exact, alternative; /* exact: the value is in i, and not in r */
} condition;

/* State of the parser: the whole text, the rest of the text, and the place to which the next word
 * is copied. */
typedef struct scan {
    const char *whole, *p;
    char *words;
    tm_error *err;
} scan;

static size_t place(const scan *s) {
    return (size_t)(s->p - s->whole) + 1;
}

static tm_status fail(const scan *s, const char *what) {
    return tm_fail(s->err, TM_ERR_USAGE, NULL, -1, "--where, character %zu: %s", place(s), what);
}

static void skip(scan *s) {
    s->p += strspn(s->p, " \t");
}

static const char *keep(scan *s, const char *from, size_t size) {
    char *word = s->words;
    memcpy(word, from, size);
    word[size] = '\0';
    s->words += size + 1;
    return word;
}

static tm_status take_column(scan *s, asked *a) {
    skip(s);
    size_t size = strcspn(s->p, " \t=!<>~'\"");
    if (size == 0)
        return fail(s, "a column is expected, such as in \"rank = 3 and wait_ns > 2ms\"");
    a->column = keep(s, s->p, size);
    s->p += size;
    return TM_OK;
}

static tm_status take_op(scan *s, asked *a) {
    skip(s);
    for (int i = 0; i < N_OPS; i++) {
        size_t size = strlen(ops[i].word);
        if (strncmp(s->p, ops[i].word, size) == 0) {
            a->op = ops[i].op;
            s->p += size;
            return TM_OK;
        }
    }
    return fail(s, "one of = != < <= > >= ~ is expected");
}

static tm_status take_value(scan *s, asked *a) {
    skip(s);
    a->at = place(s);
    a->quoted = *s->p == '\'' || *s->p == '"';
    const char quote[] = {*s->p, '\0'};
    const char *from = s->p + a->quoted;
    size_t size = a->quoted ? strcspn(from, quote) : strcspn(from, " \t");
    if (a->quoted && from[size] == '\0')
        return fail(s, "this quote has no end");
    if (!a->quoted && size == 0)
        return fail(s, "a value is expected");
    a->value = keep(s, from, size);
    s->p = from + size + a->quoted;
    return TM_OK;
}

/* Parses what comes after a condition: "and", "or", or the end of the text. */
static tm_status take_joint(scan *s, bool *more, bool *alternative) {
    skip(s);
    *more = *s->p != '\0';
    size_t size = strcspn(s->p, " \t");
    *alternative = size == 2 && strncmp(s->p, "or", 2) == 0;
    if (*more && !*alternative && !(size == 3 && strncmp(s->p, "and", 3) == 0))
        return fail(s, "\"and\" or \"or\" is expected; a value with blanks needs quotes");
    s->p += *more ? size : 0;
    return TM_OK;
}

tm_status tm_where_parse(const char *text, tm_where *out, tm_error *err) {
    *out = (tm_where){.asked = TM_VEC(asked), .is_given = text != NULL};
    if (!text)
        return TM_OK;
    out->text = malloc(2 * strlen(text) + 2); /* room for each word and its terminator */
    if (!out->text)
        return tm_fail_memory(err);
    scan s = {text, text, out->text, err};
    bool more = true, alternative = false;
    while (more) {
        asked a;
        memset(&a, 0, sizeof a);
        a.alternative = alternative;
        TM_TRY(take_column(&s, &a));
        TM_TRY(take_op(&s, &a));
        TM_TRY(take_value(&s, &a));
        TM_TRY(take_joint(&s, &more, &alternative));
        if (!tm_vec_append(&out->asked, &a, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

void tm_where_free(tm_where *where) {
    tm_vec_free(&where->asked);
    free(where->text);
    where->text = NULL;
}

size_t tm_where_n(const tm_where *where) {
    return where->asked.n;
}

const char *tm_where_column(const tm_where *where, size_t i) {
    return ((const asked *)where->asked.data)[i].column;
}

const char *tm_where_sought(const tm_where *where, size_t i) {
    const asked *a = (const asked *)where->asked.data + i;
    return a->op == EQUAL || a->op == HOLDS ? a->value : NULL;
}

/* Multiplies the value by @p ns. If the origin is not 0, adds the origin: the value is then a time
 * since the epoch. */
static void scale(double ns, int64_t origin_ns, condition *out) {
    out->r *= ns;
    if (origin_ns == 0 || !(fabs(out->r) < 1e18))
        return;
    out->i = origin_ns + llround(out->r);
    out->exact = true;
}

/* Parses a number. A time may have a unit. */
static bool read_number(const char *text, const tm_column *column, int64_t origin_ns,
                        condition *out) {
    static const struct {
        const char *word;
        double ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end = NULL;
    errno = 0;
    out->i = strtoll(text, &end, 10);
    out->exact = errno == 0 && end > text && *end == '\0';
    out->r = strtod(text, &end);
    if (end == text || !isfinite(out->r))
        return false;
    bool time = strcmp(column->unit, "ns") == 0;
    for (size_t u = 0; u < (time ? sizeof units / sizeof *units : 1); u++)
        if (strcmp(end, units[u].word) == 0) {
            scale(units[u].ns, u > 0 && tm_column_is_epoch(column) ? origin_ns : 0, out);
            return true;
        }
    return false;
}

static bool read_bool(const char *text, condition *out) {
    bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    out->exact = true;
    out->i = yes;
    return yes || strcmp(text, "no") == 0 || strcmp(text, "false") == 0;
}

static bool is_null(const asked *a) {
    return !a->quoted && strcmp(a->value, "null") == 0;
}

static tm_status bind(const asked *a, int64_t origin_ns, const tm_table_def *def, condition *out,
                      tm_error *err) {
    static const char *const kinds[] = {[TM_INT] = "a whole number",
                                        [TM_REAL] = "a number",
                                        [TM_TEXT] = "a text",
                                        [TM_BOOL] = "yes or no"};
    int column = tm_table_column(def, a->column);
    const tm_column *c = &def->columns[column];
    *out = (condition){.text = a->value,
                       .type = c->type,
                       .column = column,
                       .op = a->op,
                       .null = is_null(a),
                       .alternative = a->alternative};
    if (out->null && a->op != EQUAL && a->op != DIFFERENT)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--where, character %zu: null can only be compared with = and !=", a->at);
    bool good =
        out->null || c->type == TM_TEXT ||
        (c->type == TM_BOOL ? read_bool(a->value, out) : read_number(a->value, c, origin_ns, out));
    if (!good)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--where, character %zu: '%s' is not %s, but column %s of %s is%s", a->at,
                       a->value, kinds[c->type], a->column, def->name,
                       strcmp(c->unit, "ns") == 0 ? " (of ns, or as 5us, 5ms, 5s)" : "");
    if (a->op == HOLDS && c->type != TM_TEXT)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--where, character %zu: ~ searches texts, but column %s of %s is %s", a->at,
                       a->column, def->name, kinds[c->type]);
    return TM_OK;
}

tm_status tm_where_bind(const tm_where *where, const tm_table_def *def, tm_where_table *out,
                        tm_error *err) {
    out->conditions = TM_VEC(condition);
    const asked *a = where->asked.data;
    for (size_t i = 0; i < where->asked.n; i++) {
        condition bound;
        TM_TRY(bind(&a[i], where->origin_ns, def, &bound, err));
        if (!tm_vec_append(&out->conditions, &bound, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

void tm_where_unbind(tm_where_table *table) {
    tm_vec_free(&table->conditions);
}

/* Compares integers as integers, because times since the epoch are not exact as doubles. */
static int compare(const condition *c, const tm_cell *cell) {
    if (c->type == TM_TEXT)
        return strcmp(cell->value.text, c->text);
    if (c->type != TM_REAL && c->exact)
        return (cell->value.i > c->i) - (cell->value.i < c->i);
    double value = c->type == TM_REAL ? cell->value.r : (double)cell->value.i;
    return (value > c->r) - (value < c->r);
}

static bool holds(const condition *c, const tm_cell *row) {
    const tm_cell *cell = &row[c->column];
    if (c->null)
        return cell->null == (c->op == EQUAL);
    if (cell->null)
        return false;
    if (c->op == HOLDS)
        return strstr(cell->value.text, c->text) != NULL;
    int order = compare(c, cell);
    switch (c->op) {
    case EQUAL:
        return order == 0;
    case DIFFERENT:
        return order != 0;
    case AT_LEAST:
        return order >= 0;
    case AT_MOST:
        return order <= 0;
    case MORE:
        return order > 0;
    default:
        return order < 0;
    }
}

bool tm_where_meets(const tm_where *where, size_t i, const tm_cell *cell) {
    const asked *a = (const asked *)where->asked.data + i;
    return holds(&(condition){.text = a->value, .type = TM_TEXT, .op = a->op, .null = is_null(a)},
                 cell);
}

bool tm_where_takes(const tm_where_table *table, const tm_cell *row) {
    const condition *c = table->conditions.data;
    size_t n = table->conditions.n;
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        if (c[i].alternative && all)
            return true;
        all = (all || c[i].alternative) && holds(&c[i], row);
    }
    return all;
}
