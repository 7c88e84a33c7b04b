/* The table memory.parameters: the size of the model, from the gradients of its backward passes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "backward.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "tables.h"
#include "timeline/counted.h"

enum {
    M_RANK,
    M_PARAMETERS,
    M_TENSORS,
    M_PASSES,
    M_BYTES,
    M_SHARDED,
    M_OPTIMIZER,
    M_STATE_LEAST,
    M_STATE_MOST,
    M_PREEXISTING,
    M_GRADIENT,
    M_REST
};

static const tm_column columns[] = {
    [M_RANK] = {"rank", TM_INT, "", "Global rank."},
    [M_PARAMETERS] = {"parameters", TM_INT, "",
                      "Number of trained parameters: number of elements of the gradients that a "
                      "backward pass accumulates."},
    [M_TENSORS] = {"tensors", TM_INT, "",
                   "Number of gradient tensors that a backward pass accumulates."},
    [M_PASSES] =
        {"passes", TM_INT, "",
         "Number of backward passes that accumulate exactly this number of gradient tensors and "
         "elements. Passes that are partly recorded have fewer tensors, so they do not count."},
    [M_BYTES] = {"parameter_bytes", TM_INT, "B",
                 "Size of all parameters, from the sizes and types of their gradients; null if a "
                 "type is unknown."},
    [M_SHARDED] = {"sharded", TM_BOOL, "",
                   "Whether the trace shows FSDP. If so, gradients belong to flat parameters, and "
                   "each rank keeps one shard of them."},
    [M_OPTIMIZER] = {"optimizer", TM_TEXT, "",
                     "Name of the optimizer; null if there is none or there are several."},
    [M_STATE_LEAST] = {"state_least_bytes", TM_INT, "B",
                       "Lower estimate of the optimizer's state: 2 parameter_bytes for Adam and "
                       "AdamW, 0 for SGD. Null for other optimizers, or if sharded."},
    [M_STATE_MOST] = {"state_most_bytes", TM_INT, "B",
                      "Upper estimate of the optimizer's state. SGD: parameter_bytes, because SGD "
                      "may have momentum. Otherwise: state_least_bytes."},
    [M_PREEXISTING] = {"preexisting_bytes", TM_INT, "B",
                       "Memory at the peak that was allocated before the trace (memory.category), "
                       "on the device with the most of it; null if there is none."},
    [M_GRADIENT] = {"gradient_bytes", TM_INT, "B",
                    "Bytes of gradients in preexisting_bytes. If the trace allocates no gradients, "
                    "they are kept from step to step, and this is parameter_bytes; otherwise 0. "
                    "Null if preexisting_bytes or state_least_bytes is null."},
    [M_REST] = {"rest_bytes", TM_INT, "B",
                "Estimate of the rest of preexisting_bytes: preexisting_bytes minus "
                "parameter_bytes, gradient_bytes and state_least_bytes. Null if one of these is "
                "null; negative if the model is spread over several devices."},
};

const tm_table_def tm_memory_parameters_def = {
    .name = "memory.parameters",
    .doc =
        "A row for each rank whose backward passes show the shapes of gradients: the size of the "
        "model, and an estimate of what the preexisting bytes in memory.category consist of.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = M_PARAMETERS,
};

/* Sums of the gradients that a backward pass accumulates: elements, tensors and bytes. */
typedef struct sums {
    int64_t elements, tensors, bytes; /* bytes: -1 if the type of a gradient is unknown */
} sums;

/* Returns the number of elements of the first shape in a text such as "[[50304, 768], ..."; 1 for a
 * scalar, "[[]]"; -1 for other texts. */
static int64_t elements_of(const char *shapes) {
    const char *p = shapes;
    int64_t product = 1;
    if (strncmp(p, "[[", 2) != 0)
        return -1;
    for (p += 2; *p != ']';) {
        char *end;
        long long size = isdigit((unsigned char)*p) ? strtoll(p, &end, 10) : -1;
        if (size < 0 || (size > 0 && product > INT64_MAX / size))
            return -1;
        product *= size;
        for (p = end; *p == ',' || *p == ' ';)
            p++;
    }
    return product;
}

/* Returns the bytes per element of the first type in a text such as ["c10::BFloat16", ...; 0 if
 * unknown. */
static int64_t size_of(const char *types) {
    static const struct {
        const char *word;
        int64_t bytes;
    } known[] = {{"float", 4}, {"double", 8}, {"c10::Half", 2}, {"c10::BFloat16", 2}};
    const char *word = strchr(types, '"'), *end = word ? strchr(word + 1, '"') : NULL;
    for (size_t i = 0; end && i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].word);
        if ((size_t)(end - word - 1) == n && memcmp(word + 1, known[i].word, n) == 0)
            return known[i].bytes;
    }
    return 0;
}

static const char *types_of(const tm_rank_view *view, uint32_t row) {
    const tm_inputs_attr *v = view->timeline->attrs[TM_ATTR_INPUTS];
    size_t n = view->timeline->n_attrs[TM_ATTR_INPUTS];
    size_t i = TM_FIRST_FROM(tm_inputs_attr, event, v, n, row);
    return i < n && v[i].event == row && v[i].types != TM_NO_NAME
               ? tm_names_text(view->names, v[i].types).bytes
               : "";
}

static void add_gradient(const tm_rank_view *view, const tm_shapes_attr *attr, sums *pass) {
    int64_t n = elements_of(tm_names_text(view->names, attr->shapes).bytes);
    int64_t size = size_of(types_of(view, attr->event));
    if (n < 0)
        return;
    pass->elements = tm_sum(pass->elements, n);
    pass->tensors++;
    pass->bytes =
        size == 0 || pass->bytes < 0 || n > INT64_MAX / 8 ? -1 : tm_sum(pass->bytes, n * size);
}

static int by_size(const void *a, const void *b) {
    const sums *x = a, *y = b;
    int order = tm_order_i64(y->elements, x->elements);
    order = order != 0 ? order : tm_order_i64(y->tensors, x->tensors);
    return order != 0 ? order : tm_order_i64(y->bytes, x->bytes);
}

/* Finds the sums that occur in the most passes. If several sums are equally frequent, chooses the
 * largest. Returns the number of passes with these sums; 0 if no pass has sums. */
static int64_t usual(sums *passes, size_t n, sums *out) {
    int64_t most = 0, here = 0;
    qsort(passes, n, sizeof *passes, by_size);
    for (size_t i = 0; i < n; i++) {
        here = i > 0 && by_size(&passes[i - 1], &passes[i]) == 0 ? here + 1 : 1;
        if (passes[i].tensors > 0 && here > most) {
            most = here;
            *out = passes[i];
        }
    }
    return most;
}

/* How a rank is trained, from the names of its operators and annotations. */
typedef struct training {
    /* the text after "Optimizer.step#" in a name, `size` bytes long; NULL if there is none */
    const char *optimizer;
    size_t size;
    bool several, sharded;
} training;

static void look_at(const char *name, training *t) {
    static const char step[] = "Optimizer.step#";
    if (strstr(name, "FullyShardedDataParallel") || strncmp(name, "FSDP::", 6) == 0)
        t->sharded = true;
    if (strncmp(name, step, sizeof step - 1) != 0)
        return;
    t->several = t->optimizer != NULL;
    t->optimizer = name + sizeof step - 1;
    t->size = strcspn(t->optimizer, ".");
}

static bool look_at_names(const tm_rank_view *view, training *t) {
    const tm_timeline *timeline = view->timeline;
    uint8_t *looked = calloc(view->n_names, 1);
    for (size_t row = 0; looked && row < timeline->n_events; row++) {
        uint32_t name = timeline->name[row];
        if ((timeline->category[row] == TM_CAT_CPU_OP ||
             timeline->category[row] == TM_CAT_USER_ANNOTATION) &&
            !looked[name]) {
            looked[name] = 1;
            look_at(tm_names_text(view->names, name).bytes, t);
        }
    }
    free(looked);
    return looked != NULL;
}

/* Sets the minimum and maximum size of the optimizer's state. They are known only for a few
 * optimizers, as multiples of the parameters' size. */
static void set_state(tm_cell *row, const training *t, int64_t bytes) {
    static const struct {
        const char *name;
        int64_t least, most;
    } known[] = {{"Adam", 2, 2}, {"AdamW", 2, 2}, {"SGD", 0, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == t->size && memcmp(known[i].name, t->optimizer, t->size) == 0 &&
            bytes < INT64_MAX / 2) {
            tm_cell_set_int(&row[M_STATE_LEAST], known[i].least * bytes);
            tm_cell_set_int(&row[M_STATE_MOST], known[i].most * bytes);
        }
}

static tm_status add_row(const tm_rank_view *view, const sums *pass, int64_t n_passes,
                         tm_table *table, tm_error *err) {
    training t = {0};
    tm_cell *row = tm_table_add_row(table);
    if (!row || !look_at_names(view, &t))
        return tm_fail_memory(err);
    tm_cell_set_int(&row[M_RANK], view->timeline->rank);
    tm_cell_set_int(&row[M_PARAMETERS], pass->elements);
    tm_cell_set_int(&row[M_TENSORS], pass->tensors);
    tm_cell_set_int(&row[M_PASSES], n_passes);
    tm_cell_set_bool(&row[M_SHARDED], t.sharded);
    tm_cell_set_known(&row[M_BYTES], pass->bytes);
    if (!t.optimizer || t.several)
        return TM_OK;
    if (pass->bytes >= 0 && !t.sharded)
        set_state(row, &t, pass->bytes);
    return tm_table_set_bytes(table, &row[M_OPTIMIZER], t.optimizer, t.size, err);
}

/* Sums the shapes of each pass's AccumulateGrad operators. Keeps the name id of this operator, so
 * that its text is compared only once. */
static bool find_sums(const tm_rank_view *view, const tm_vec *passes, sums *all) {
    const tm_timeline *timeline = view->timeline;
    const tm_shapes_attr *v = timeline->attrs[TM_ATTR_SHAPES];
    uint32_t known = TM_NO_NAME;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_SHAPES]; i++) {
        uint32_t name = timeline->name[v[i].event];
        if (name != known &&
            (tm_call_kinds_at(view->call_kinds, name) != TM_CALL_KIND_BACKWARD ||
             strcmp(tm_names_text(view->names, name).bytes, TM_ACCUMULATE_GRAD) != 0))
            continue;
        known = name;
        size_t pass = tm_backward_pass_at(passes, timeline->begin_ns[v[i].event]);
        if (pass < passes->n)
            add_gradient(view, &v[i], &all[pass]);
    }
    return known != TM_NO_NAME;
}

tm_status tm_memory_add_parameters(const tm_rank_view *view, const tm_vec *passes, tm_tables *out,
                                   tm_error *err) {
    sums *all = calloc(passes->n + 1, sizeof *all), pass = {0};
    int64_t n_passes = 0;
    if (!all)
        return tm_fail_memory(err);
    if (find_sums(view, passes, all))
        n_passes = usual(all, passes->n, &pass);
    free(all);
    return n_passes > 0 ? add_row(view, &pass, n_passes,
                                  tm_tables_find(out, tm_memory_parameters_def.name), err)
                        : TM_OK;
}

/* Returns the largest value of a category in rows [first, end); null if there is none. */
static tm_cell most_of(const tm_table *categories, size_t first, size_t end, const char *category) {
    tm_cell most = {.null = true};
    for (size_t i = first; i < end; i++) {
        const tm_cell *bytes = tm_table_cell(categories, i, "peak_bytes");
        if (strcmp(tm_table_cell(categories, i, "category")->value.text, category) == 0 &&
            (most.null || bytes->value.i > most.value.i))
            most = *bytes;
    }
    return most;
}

/* Splits memory from before the trace into parameters, optimizer state and the rest. The parts are
 * estimates, so memory.category does not have them. Both tables are sorted by rank. */
void tm_memory_split_preexisting(tm_tables *tables) {
    const tm_table *categories = tm_tables_find(tables, "memory.category");
    const tm_table *table = tm_tables_find(tables, tm_memory_parameters_def.name);
    size_t first = 0, end = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        tm_cell *row = tm_table_row(table, i);
        int64_t rank = row[M_RANK].value.i;
        for (first = end; first < categories->n_rows &&
                          tm_table_cell(categories, first, "rank")->value.i < rank;)
            first++;
        for (end = first;
             end < categories->n_rows && tm_table_cell(categories, end, "rank")->value.i == rank;)
            end++;
        row[M_PREEXISTING] = most_of(categories, first, end, "preexisting");
        if (row[M_PREEXISTING].null || row[M_STATE_LEAST].null)
            continue;
        bool kept = most_of(categories, first, end, "gradient").null;
        int64_t parameters = row[M_BYTES].value.i, gradients = kept ? parameters : 0;
        tm_cell_set_int(&row[M_GRADIENT], gradients);
        tm_cell_set_int(&row[M_REST],
                        tm_sum(row[M_PREEXISTING].value.i,
                               -tm_sum(tm_sum(parameters, gradients), row[M_STATE_LEAST].value.i)));
    }
}
