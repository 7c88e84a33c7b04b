/* Reads pages of `ncu --csv` into launches. */
#include "tmerge/ncu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "ncu/metrics.h"
#include "ncu/ncu_pages.h"
#include "ncu/ncu_records.h"

/* The raw metric values of a launch. */
typedef struct values {
    double slots[TM_N_SLOTS];
} values;

struct tm_ncu {
    tm_names *names; /* names of kernels */
    tm_names *keys;  /* "process, launch, name" of each launch; the id of this text is the index of
                        the launch + 1 */
    tm_vec launches; /* vector of tm_ncu_launch */
    tm_vec values;   /* vector of values, parallel to `launches` */
    tm_vec scratch;  /* vector of char */
    tm_ncu_pages pages;
};

enum {
    ID,
    PROCESS,
    NAME,
    SECTION,
    METRIC,
    UNIT,
    VALUE,
    GRID,
    BLOCK,
    RULE,
    RULE_TYPE,
    RULE_TEXT,
    SPEEDUP_TYPE,
    SPEEDUP,
    N_COLUMNS
};

typedef struct page {
    tm_records records;
    int column[N_COLUMNS];
    size_t n_columns;
    /* Only for a raw page: the tm_metric of each column. The factor includes the column's unit. */
    tm_vec metrics;
} page;

tm_ncu *tm_ncu_create(void) {
    tm_ncu *ncu = malloc(sizeof *ncu);
    if (!ncu)
        return NULL;
    *ncu = (tm_ncu){.names = tm_names_create(),
                    .keys = tm_names_create(),
                    .launches = TM_VEC(tm_ncu_launch),
                    .values = TM_VEC(values),
                    .scratch = TM_VEC(char)};
    ncu->pages = tm_ncu_pages_make(ncu->names);
    if (ncu->names && ncu->keys)
        return ncu;
    tm_ncu_destroy(ncu);
    return NULL;
}

void tm_ncu_destroy(tm_ncu *ncu) {
    if (!ncu)
        return;
    tm_names_destroy(ncu->names);
    tm_names_destroy(ncu->keys);
    TM_VECS_FREE(&ncu->launches, &ncu->values, &ncu->scratch);
    tm_ncu_pages_free(&ncu->pages);
    free(ncu);
}

const tm_ncu_launch *tm_ncu_launches(const tm_ncu *ncu, size_t *n) {
    *n = ncu->launches.n;
    return ncu->launches.data;
}

const tm_ncu_metric *tm_ncu_metrics(const tm_ncu *ncu, size_t *n) {
    *n = ncu->pages.metrics.n;
    return ncu->pages.metrics.data;
}

const tm_ncu_rule *tm_ncu_rules(const tm_ncu *ncu, size_t *n) {
    *n = ncu->pages.rules.n;
    return ncu->pages.rules.data;
}

/* Returns a column's text; "" if the page or the record lacks it. */
static const char *cell(const page *p, int column) {
    const int at = p->column[column];
    const bool has = at >= 0 && (size_t)at < tm_records_fields(&p->records);
    return has ? tm_records_field(&p->records, (size_t)at) : "";
}

/* Parses a shape like "(256, 1, 1)". All axes are -1 if the shape is missing. */
static tm_status read_axes(const page *p, int column, int64_t axes[3], tm_error *err) {
    const char *text = cell(p, column), *at = text;
    axes[0] = axes[1] = axes[2] = -1;
    if (!*text)
        return TM_OK;
    for (int axis = 0; axis < 3; axis++) {
        char *end = NULL;
        at += strspn(at, "(, ");
        const long long value = strspn(at, "0123456789") > 0 ? strtoll(at, &end, 10) : -1;
        if (value < 0 || value > INT32_MAX)
            return tm_fail(err, TM_ERR_INPUT, p->records.path,
                           (int64_t)tm_records_offset(&p->records, (size_t)p->column[column]),
                           "'%.40s' should be a shape like (256, 1, 1)", text);
        axes[axis] = value;
        at = end;
    }
    return TM_OK;
}

/* Finds the launch of a record, adding it if it is new. */
static tm_status find_launch(tm_ncu *ncu, const page *p, size_t *out, tm_error *err) {
    static const int parts[] = {PROCESS, ID, NAME};
    ncu->scratch.n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *text = cell(p, parts[i]);
        if (!tm_vec_append(&ncu->scratch, text, strlen(text) + 1))
            return tm_fail_memory(err);
    }
    const uint32_t key = tm_names_intern(ncu->keys, ncu->scratch.data, ncu->scratch.n);
    const uint32_t name = tm_names_intern_string(ncu->names, cell(p, NAME));
    if (key == TM_NAME_FAILED || name == TM_NAME_FAILED)
        return tm_fail_memory(err);
    *out = key - 1;
    if (*out < ncu->launches.n)
        return TM_OK;
    tm_ncu_launch launch = {.name = tm_names_text(ncu->names, name)};
    TM_TRY(read_axes(p, GRID, launch.grid, err));
    TM_TRY(read_axes(p, BLOCK, launch.block, err));
    values *v = tm_vec_push(&ncu->values);
    if (!v || !tm_vec_append(&ncu->launches, &launch, 1))
        return tm_fail_memory(err);
    for (int i = 0; i < TM_N_SLOTS; i++)
        v->slots[i] = (double)NAN;
    return TM_OK;
}

static tm_status set_value(tm_ncu *ncu, size_t launch, const page *p, size_t column,
                           tm_metric metric, tm_error *err) {
    const char *text = tm_records_field(&p->records, column);
    double value, *slot = &((values *)ncu->values.data)[launch].slots[metric.slot];
    if (!tm_value_parse(text, &value))
        return tm_fail(err, TM_ERR_INPUT, p->records.path,
                       (int64_t)tm_records_offset(&p->records, column), "'%.40s' is not a number",
                       text);
    if (isnan(value) || (metric.slot == TM_SLOT_TENSOR_USE && *slot > value))
        return TM_OK; /* several metrics count tensor core use: keep the largest */
    *slot = value * metric.factor;
    return TM_OK;
}

/* Takes a record of a details page: a metric, or a rule. */
static tm_status take_metric(tm_ncu *ncu, const page *p, tm_error *err) {
    size_t launch = 0;
    TM_TRY(find_launch(ncu, p, &launch, err));
    const tm_ncu_record record = {launch,
                                  cell(p, SECTION),
                                  cell(p, METRIC),
                                  cell(p, UNIT),
                                  cell(p, VALUE),
                                  cell(p, RULE),
                                  cell(p, RULE_TYPE),
                                  cell(p, RULE_TEXT),
                                  cell(p, SPEEDUP_TYPE),
                                  cell(p, SPEEDUP)};
    if (!tm_ncu_pages_take(&ncu->pages, &record))
        return tm_fail_memory(err);
    if (!*cell(p, METRIC))
        return TM_OK;
    tm_metric metric = tm_metric_find(cell(p, SECTION), cell(p, METRIC));
    if (metric.slot < 0)
        return TM_OK;
    metric.factor *= tm_unit_scale(cell(p, UNIT));
    return set_value(ncu, launch, p, (size_t)p->column[VALUE], metric, err);
}

/* Takes a record of a raw page. The first record after the header has the units, and is not a
 * launch. */
static tm_status take_launch(tm_ncu *ncu, page *p, tm_error *err) {
    tm_metric *metrics = p->metrics.data;
    size_t launch = 0;
    if (!*cell(p, ID)) {
        for (size_t c = 0; c < p->metrics.n; c++)
            metrics[c].factor *= tm_unit_scale(tm_records_field(&p->records, c));
        return TM_OK;
    }
    TM_TRY(find_launch(ncu, p, &launch, err));
    for (size_t c = 0; c < p->metrics.n; c++)
        if (metrics[c].slot >= 0)
            TM_TRY(set_value(ncu, launch, p, c, metrics[c], err));
    return TM_OK;
}

/* Advances to the header, which is the line that starts with the column ID. The program may have
 * printed other text before it. */
static bool find_header(tm_records *r) {
    static const char *const begins[] = {"\"ID\",", "ID,"};
    while (r->at < r->size) {
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (r->size - r->at > strlen(begins[i]) &&
                memcmp(r->bytes + r->at, begins[i], strlen(begins[i])) == 0)
                return true;
        const char *next = memchr(r->bytes + r->at, '\n', r->size - r->at);
        r->at = next ? (size_t)(next - r->bytes) + 1 : r->size;
    }
    return false;
}

static tm_status read_header(page *p, tm_error *err) {
    static const char *const titles[N_COLUMNS] = {
        [ID] = "ID",
        [PROCESS] = "Process ID",
        [NAME] = "Kernel Name",
        [SECTION] = "Section Name",
        [METRIC] = "Metric Name",
        [UNIT] = "Metric Unit",
        [VALUE] = "Metric Value",
        [GRID] = "Grid Size",
        [BLOCK] = "Block Size",
        [RULE] = "Rule Name",
        [RULE_TYPE] = "Rule Type",
        [RULE_TEXT] = "Rule Description",
        [SPEEDUP_TYPE] = "Estimated Speedup Type",
        [SPEEDUP] = "Estimated Speedup",
    };
    bool found = find_header(&p->records);
    const size_t begin = p->records.at;
    if (!found)
        return tm_fail(err, TM_ERR_INPUT, p->records.path, -1,
                       "not output of ncu --csv: no line starts with the column \"ID\"");
    TM_TRY(tm_records_next(&p->records, &found, err));
    p->n_columns = tm_records_fields(&p->records);
    for (int i = 0; i < N_COLUMNS; i++)
        p->column[i] = -1;
    for (size_t c = 0; c < p->n_columns; c++) {
        const char *title = tm_records_field(&p->records, c);
        const tm_metric metric = tm_metric_find("", title);
        for (int i = 0; i < N_COLUMNS; i++)
            if (strcmp(title, titles[i]) == 0)
                p->column[i] = (int)c;
        if (!tm_vec_append(&p->metrics, &metric, 1))
            return tm_fail_memory(err);
    }
    for (int i = ID; i <= NAME; i++)
        if (p->column[i] < 0)
            return tm_fail(err, TM_ERR_INPUT, p->records.path, (int64_t)begin,
                           "not output of ncu --csv: it has no column \"%s\"", titles[i]);
    if ((p->column[METRIC] < 0) != (p->column[VALUE] < 0))
        return tm_fail(err, TM_ERR_INPUT, p->records.path, (int64_t)begin,
                       "not output of ncu --csv: it has only one of the columns \"Metric Name\" "
                       "and \"Metric Value\"");
    return TM_OK;
}

static tm_status read_page(tm_ncu *ncu, page *p, tm_error *err) {
    TM_TRY(read_header(p, err));
    const bool is_raw = p->column[METRIC] < 0;
    /* In a details page, the columns of rules come last, and their number varies by record. */
    const size_t least = is_raw ? p->n_columns : (size_t)p->column[VALUE] + 1;
    const size_t most = is_raw ? p->n_columns : SIZE_MAX;
    for (;;) {
        bool found;
        TM_TRY(tm_records_next(&p->records, &found, err));
        if (!found)
            return TM_OK;
        const size_t n = tm_records_fields(&p->records);
        if (n < least || n > most)
            return tm_fail(err, TM_ERR_INPUT, p->records.path,
                           (int64_t)tm_records_offset(&p->records, 0),
                           "a record has %zu fields, but the header has %zu", n, p->n_columns);
        TM_TRY(is_raw ? take_launch(ncu, p, err) : take_metric(ncu, p, err));
    }
}

static tm_status read_bytes(tm_source *source, tm_vec *out, tm_error *err) {
    enum { PIECE = 1 << 18 };
    size_t n = 0;
    do {
        if (!tm_vec_reserve(out, out->n + PIECE))
            return tm_fail_memory(err);
        TM_TRY(tm_source_read(source, (char *)out->data + out->n, PIECE, &n, err));
        out->n += n;
    } while (n > 0);
    return TM_OK;
}

tm_status tm_ncu_read(tm_ncu *ncu, tm_source *source, tm_error *err) {
    tm_vec bytes = TM_VEC(char);
    tm_status status = read_bytes(source, &bytes, err);
    page p = {.records = TM_RECORDS(tm_source_path(source), bytes.data, bytes.n),
              .metrics = TM_VEC(tm_metric)};
    if (status == TM_OK)
        status = read_page(ncu, &p, err);
    for (size_t i = 0; i < ncu->launches.n; i++)
        tm_metrics_figures(((values *)ncu->values.data)[i].slots,
                           ((tm_ncu_launch *)ncu->launches.data)[i].figures);
    tm_records_free(&p.records);
    tm_vec_free(&p.metrics);
    tm_vec_free(&bytes);
    return status;
}
