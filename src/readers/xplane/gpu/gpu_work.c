#include "gpu_work.h"

/* A computation, and the FLOP of the matrix products in it. */
typedef struct called {
    int64_t id, flop;
} called;

tm_gpu_work tm_gpu_work_make(void) {
    return (tm_gpu_work){TM_KEYS(int64_t), TM_VEC(tm_hlo_array), TM_VEC(called), -1};
}

static void leave(tm_gpu_work *work) {
    tm_keys_free(&work->ids);
    work->ids = TM_KEYS(int64_t);
    work->arrays.n = 0;
    work->flop = -1;
}

void tm_gpu_work_free(tm_gpu_work *work) {
    tm_keys_free(&work->ids);
    tm_vec_free(&work->arrays);
    tm_vec_free(&work->called);
}

static int64_t times(int64_t a, int64_t b) {
    return a < 0 || b < 0 || (b > 0 && a > INT64_MAX / 4 / b) ? -1 : a * b;
}

static int64_t sum_of(int64_t a, int64_t b) {
    return a < 0 || b < 0 || a > INT64_MAX / 4 || b > INT64_MAX / 4 ? -1 : a + b;
}

static const tm_hlo_array *array_of(const tm_gpu_work *work, int64_t id) {
    uint32_t number = tm_keys_find(&work->ids, &id);
    return number != TM_NO_KEY ? (const tm_hlo_array *)work->arrays.data + number : NULL;
}

static const tm_hlo_array *first_operand(const tm_gpu_work *work, const tm_hlo_instruction *of) {
    tm_hlo_numbers ids = tm_hlo_numbers_of(of->all, TM_HLO_OPERANDS);
    int64_t id;
    return tm_hlo_next_number(&ids, &id) ? array_of(work, id) : NULL;
}

/* Multiplies a product by the size of a contracted dimension. Returns the new product, or -1 if the
 * array does not have this dimension. */
static int64_t contract(const tm_hlo_array *of, int64_t product, int64_t dimension) {
    bool sound = dimension >= 0 && (size_t)dimension < of->n;
    return sound ? times(product, of->sizes[dimension]) : -1;
}

/* Returns the product of the sizes of the contracted dimensions. They are listed in field 1 of a
 * DotDimensionNumbers. */
static int64_t width_of_dot(const tm_hlo_array *left, tm_wire_message dot) {
    tm_hlo_numbers numbers = tm_hlo_numbers_of(dot, 1);
    int64_t product = 1, dimension;
    while (tm_hlo_next_number(&numbers, &dimension))
        product = contract(left, product, dimension);
    return product;
}

static tm_text after(tm_text text, const char *word) {
    for (; text.size > 0; text.bytes++, text.size--)
        if (tm_text_begins(text, word))
            return (tm_text){text.bytes + strlen(word), text.size - strlen(word)};
    return text;
}

/* Returns the product of the sizes of the contracted dimensions. They are listed in a
 * GemmBackendConfig (JSON): "lhs_contracting_dimensions":["1"]. Returns -1 if there are none. */
static int64_t width_of_call(const tm_hlo_array *left, tm_text config) {
    tm_text list = after(config, "\"lhs_contracting_dimensions\"");
    int64_t product = -1, dimension = -1;
    for (size_t i = 0; i < list.size; i++) {
        char c = list.bytes[i];
        bool digit = c >= '0' && c <= '9';
        if (digit && dimension < TM_HLO_DIMENSIONS)
            dimension = (dimension < 0 ? 0 : 10 * dimension) + (c - '0');
        if (!digit && dimension >= 0) {
            product = contract(left, product < 0 ? 1 : product, dimension);
            dimension = -1;
            if (product < 0)
                break;
        }
        if (c == ']')
            break;
    }
    return product;
}

static int64_t flop_of_calls(const tm_gpu_work *work, const tm_hlo_instruction *of) {
    tm_hlo_numbers ids = tm_hlo_numbers_of(of->all, TM_HLO_CALLS);
    const called *v = work->called.data;
    int64_t sum = -1, id;
    while (tm_hlo_next_number(&ids, &id))
        for (size_t i = 0; i < work->called.n; i++)
            if (v[i].id == id)
                sum = sum < 0 ? v[i].flop : sum_of(sum, v[i].flop);
    return sum;
}

static int64_t bytes_of(const tm_gpu_work *work, const tm_hlo_instruction *of, int64_t made) {
    tm_hlo_numbers ids = tm_hlo_numbers_of(of->all, TM_HLO_OPERANDS);
    int64_t id;
    while (tm_hlo_next_number(&ids, &id)) {
        const tm_hlo_array *array = array_of(work, id);
        made = array ? sum_of(made, array->bytes) : -1;
    }
    return made;
}

static int64_t flop_of(const tm_gpu_work *work, const tm_hlo_instruction *of,
                       const tm_hlo_array *made, bool call) {
    const tm_hlo_array *left = first_operand(work, of);
    if (tm_text_is(of->opcode, "fusion"))
        return flop_of_calls(work, of);
    if (!left || (!call && !tm_text_is(of->opcode, "dot")))
        return -1;
    int64_t width = call ? width_of_call(left, of->config) : width_of_dot(left, of->dot);
    return times(times(2, made->elements), width);
}

bool tm_gpu_work_add(tm_gpu_work *work, const tm_hlo_instruction *of, tm_gpu_work_of *out) {
    bool tuple = tm_hlo_is_tuple(of->shape);
    const tm_hlo_array made = tm_hlo_array_read(tuple ? tm_hlo_element(of->shape, 0) : of->shape);
    bool call = tm_text_begins(of->target, "__cublas$gemm") ||
                tm_text_begins(of->target, "__cublas$lt$matmul");
    *out = (tm_gpu_work_of){flop_of(work, of, &made, call), -1};
    if (out->flop >= 0) {
        out->bytes = tuple && !call ? -1 : bytes_of(work, of, made.bytes);
        work->flop = work->flop < 0 ? out->flop : sum_of(work->flop, out->flop);
    }
    tm_hlo_array *kept = tuple ? NULL : tm_keys_value(&work->ids, &work->arrays, &of->id);
    if (kept)
        *kept = made;
    return tuple || kept;
}

bool tm_gpu_work_end(tm_gpu_work *work, int64_t id) {
    const called done = {id, work->flop};
    leave(work);
    return done.flop < 0 || tm_vec_append(&work->called, &done, 1);
}
