#include "operator_flop.h"

#include <string.h>

#include "input_dims.h"

/* Maximum number of operations or bytes. Larger results are implausible. */
#define MOST (INT64_C(1) << 60)

const char *tm_number_word(tm_number number) {
#define NUMBER_WORD(id, word) word,
    static const char *const words[] = {TM_NUMBER_LIST(NUMBER_WORD)};
#undef NUMBER_WORD
    return words[number];
}

/* Recorded inputs of an operator. */
typedef struct call {
    tm_dims d[TM_INPUTS_MAX];
    tm_text types, concrete;
} call;

/* Types as profilers write them. A name that ends in * is a prefix. */
static const struct {
    const char *name;
    uint8_t number, bytes;
} types[] = {
    {"float", TM_NUMBER_SINGLE, 4},
    {"double", TM_NUMBER_FP64, 8},
    {"c10::Half", TM_NUMBER_FP16, 2},
    {"c10::BFloat16", TM_NUMBER_BF16, 2},
    {"c10::Float8_*", TM_NUMBER_FP8, 1},
    /* one byte has two numbers; the recorded dimensions count bytes */
    {"c10::Float4_e2m1fn_x2", TM_NUMBER_FP4, 1},
    {"signed char", TM_NUMBER_INT8, 1},
    {"unsigned char", TM_NUMBER_INT8, 1},
};

/* Returns the index into `types`; -1 for other types. */
static int type_of(const call *c, int input) {
    tm_text text = tm_inputs_item(c->types, input);
    for (int t = 0; t < (int)(sizeof types / sizeof *types); t++) {
        size_t size = strlen(types[t].name);
        bool prefix = types[t].name[size - 1] == '*';
        size -= prefix;
        if ((prefix ? text.size >= size : text.size == size) &&
            memcmp(text.bytes, types[t].name, size) == 0)
            return t;
    }
    return -1;
}

static tm_number number_of(const call *c, int input) {
    int t = type_of(c, input);
    return t < 0 ? TM_NUMBER_UNKNOWN : (tm_number)types[t].number;
}

/* Returns a x b; -1 if one is negative (unknown), or if the product exceeds MOST. */
static int64_t times(int64_t a, int64_t b) {
    return a < 0 || b < 0 || (b > 0 && a > MOST / b) ? -1 : a * b;
}

static int64_t plus(int64_t a, int64_t b) {
    return a < 0 || b < 0 || a > MOST - b ? -1 : a + b;
}

/* Returns the product of the dimensions from @p first on; 1 if there are none. */
static int64_t product(const tm_dims *d, int first) {
    int64_t n = 1;
    for (int i = first; i < d->n; i++)
        n = times(n, d->at[i]);
    return n;
}

/* Returns the size of an input [bytes]; 0 if it is not a tensor, -1 if unknown. */
static int64_t bytes_of(const call *c, int input) {
    int t = type_of(c, input);
    if (c->d[input].n == 0)
        return 0;
    return t < 0 || c->d[input].n < 0 ? -1 : times(product(&c->d[input], 0), types[t].bytes);
}

/* Returns the size of inputs [0, n) and of the output together [bytes]; -1 if unknown. The output
 * has @p output elements of the type of input @p like. */
static int64_t moved(const call *c, int n, int64_t output, int like) {
    int t = type_of(c, like);
    int64_t bytes = t < 0 ? -1 : times(output, types[t].bytes);
    for (int i = 0; i < n; i++)
        bytes = plus(bytes, bytes_of(c, i));
    return bytes;
}

static bool is_known(const tm_work *work) {
    return work->flop >= 0 && work->causal_flop >= 0;
}

/* Sets the work of a matrix product. Inputs a and a + 1 are multiplied; they have @p n_dims
 * dimensions: [B,] M x K and [B,] K x N. Inputs before `a`, such as a bias, are added to the
 * product. */
static bool matrices(const call *c, int a, int n_dims, tm_work *out) {
    const tm_dims *x = &c->d[a], *y = &c->d[a + 1];
    int last = n_dims - 1;
    if (x->n != n_dims || y->n != n_dims || x->at[last] != y->at[last - 1] ||
        (n_dims == 3 && x->at[0] != y->at[0]))
        return false;
    int64_t output = times(times(n_dims == 3 ? x->at[0] : 1, x->at[last - 1]), y->at[last]);
    out->flop = out->causal_flop = times(times(2, output), x->at[last]);
    out->number = number_of(c, a);
    out->bytes = moved(c, a + 2, output, a);
    return is_known(out);
}

/* Sets the work of a product of scaled matrices. The output has 16 bits, or 32 if out_dtype is 6
 * (float in PyTorch's ScalarType). For FP4, the inner dimension counts bytes, which have two
 * numbers each. */
static bool scaled_matrices(const call *c, tm_work *out) {
    if (!matrices(c, 0, 2, out))
        return false;
    tm_text type = tm_inputs_item(c->concrete, 6);
    int64_t size = type.size == 1 && *type.bytes == '6' ? 4 : 2;
    int64_t output = times(c->d[0].at[0], c->d[1].at[1]);
    out->bytes = plus(plus(bytes_of(c, 0), bytes_of(c, 1)), times(size, output));
    if (out->number == TM_NUMBER_FP4)
        out->flop = out->causal_flop = times(2, out->flop);
    return is_known(out);
}

/* Sets the work of a product of 8-bit integers. The sum has 32 bits, so the output has 4 bytes per
 * element. */
static bool int_matrices(const call *c, tm_work *out) {
    if (!matrices(c, 0, 2, out))
        return false;
    out->bytes =
        plus(plus(bytes_of(c, 0), bytes_of(c, 1)), times(4, times(c->d[0].at[0], c->d[1].at[1])));
    return true;
}

/* Sets the work of a linear layer. The last dimension of input x is K; x may have any number of
 * other dimensions. The weight has the dimensions [N,] K. Also used for matrix products of aiter
 * and vLLM, whose first inputs are the same. */
static bool linear(const call *c, tm_work *out) {
    const tm_dims *x = &c->d[0], *weight = &c->d[1];
    if (x->n < 1 || weight->n < 1 || weight->n > 2 || x->at[x->n - 1] != weight->at[weight->n - 1])
        return false;
    int64_t rows = x->n == 1 ? 1 : product(x, 0);
    int64_t k = x->at[x->n - 1], n = weight->n == 2 ? weight->at[0] : 1;
    rows = x->n == 1 || rows <= 0 ? rows : rows / k;
    out->flop = out->causal_flop = times(times(2, times(rows, n)), k);
    out->number = number_of(c, 0);
    out->bytes = moved(c, 3, times(rows, n), 0);
    return is_known(out);
}

/* Returns item i of a list. The list has one value per dimension, or one value for all
 * dimensions. */
static int64_t each(const tm_dims *list, int i) {
    return list->at[i < list->n ? i : list->n - 1];
}

/* Returns the number of spatial positions of a convolution's output, which traces do not record; -1
 * if unknown. */
static int64_t output_space(const call *c) {
    const tm_dims *x = &c->d[0], *weight = &c->d[1];
    tm_dims stride, padding, dilation;
    if (!tm_inputs_ints(tm_inputs_item(c->concrete, 3), &stride) ||
        !tm_inputs_ints(tm_inputs_item(c->concrete, 4), &padding) ||
        !tm_inputs_ints(tm_inputs_item(c->concrete, 5), &dilation) || stride.n < 1 ||
        padding.n < 1 || dilation.n < 1)
        return -1;
    int64_t space = 1;
    for (int i = 2; i < x->n; i++) {
        int64_t step = each(&stride, i - 2), pad = times(2, each(&padding, i - 2));
        int64_t reach = times(each(&dilation, i - 2), weight->at[i] - 1);
        int64_t room = plus(x->at[i], pad);
        if (step < 1 || reach < 0 || room <= reach)
            return -1;
        space = times(space, (room - reach - 1) / step + 1);
    }
    return space;
}

static bool convolution(const call *c, tm_work *out) {
    const tm_dims *x = &c->d[0], *weight = &c->d[1];
    if (x->n < 3 || weight->n != x->n || tm_inputs_item(c->concrete, 6).size == 0)
        return false;
    bool transposed = tm_inputs_true(tm_inputs_item(c->concrete, 6));
    int64_t space = transposed ? product(x, 2) : output_space(c);
    out->flop = out->causal_flop = times(times(2, x->at[0]), times(product(weight, 0), space));
    out->number = number_of(c, 0);
    /* the output size of a transposed convolution depends on other inputs */
    out->bytes = transposed ? -1 : moved(c, 3, times(times(x->at[0], weight->at[0]), space), 0);
    return is_known(out);
}

/* Returns whether item @p n of "[True, False, True]" is true. */
static bool is_asked_for(tm_text mask, int n) {
    const char *end = mask.bytes + mask.size, *p = mask.bytes + 1;
    for (; n > 0 && p < end; p++)
        n -= *p == ',';
    while (p < end && *p == ' ')
        p++;
    return p < end && (*p == 'T' || *p == '1');
}

/* Sets the work of a backward convolution. The gradients of input and weight each cost as much as
 * the forward pass, if they were requested. Returns false if unknown. */
static bool convolution_backward(const call *c, tm_work *out) {
    const tm_dims *grad = &c->d[0], *x = &c->d[1], *weight = &c->d[2];
    tm_text mask = tm_inputs_item(c->concrete, 10), transposed = tm_inputs_item(c->concrete, 7);
    if (grad->n < 3 || x->n != grad->n || weight->n != grad->n || mask.size < 2 ||
        *mask.bytes != '[' || transposed.size == 0)
        return false;
    bool of_x = is_asked_for(mask, 0), of_weight = is_asked_for(mask, 1);
    int64_t space = product(tm_inputs_true(transposed) ? x : grad, 2);
    int64_t each_flop = times(times(2, x->at[0]), times(product(weight, 0), space));
    out->flop = out->causal_flop = times(of_x + of_weight, each_flop);
    out->number = number_of(c, 0);
    out->bytes = moved(c, 3, plus(of_x ? product(x, 0) : 0, of_weight ? product(weight, 0) : 0), 0);
    return is_known(out);
}

/* Returns the index of the input `causal` in `Concrete Inputs`, by the signatures of PyTorch and
 * flash_attn. */
static int causal_at(tm_counted op) {
    switch (op) {
    case TM_COUNTED_FLASH:
        return 4;
    case TM_COUNTED_FLASH_2:
        return 5;
    case TM_COUNTED_EFFICIENT:
    case TM_COUNTED_CUDNN:
        return 6;
    case TM_COUNTED_CUDNN_BACKWARD:
        return 14;
    default: /* backward passes of flash and efficient attention */
        return 11;
    }
}

/* Sets the work of attention. The forward pass runs two matrix products (q k and scores v). The
 * backward pass runs five, because it computes the scores again. q, k and v are three successive
 * inputs with dimensions [batch, heads, length, head size], or [batch, length, heads, head size] in
 * flash_attn. */
static bool attention(const call *c, tm_counted op, bool backward, tm_work *out) {
    int first = backward ? 1 : 0;
    int length = op == TM_COUNTED_FLASH_2 || op == TM_COUNTED_FLASH_2_BACKWARD ? 1 : 2;
    const tm_dims *q = &c->d[first], *k = q + 1, *v = q + 2;
    if (q->n != 4 || k->n != 4 || v->n != 4)
        return false;
    int64_t square = times(times(q->at[0], q->at[1]), times(q->at[2], k->at[length]));
    int64_t e = q->at[3], e_v = v->at[3];
    int64_t width = backward ? plus(times(3, e), times(2, e_v)) : plus(e, e_v);
    out->flop = out->causal_flop = times(times(2, square), width);
    if (q->at[length] == k->at[length] &&
        tm_inputs_true(tm_inputs_item(c->concrete, causal_at(op))))
        out->causal_flop /= 2;
    out->number = number_of(c, first);
    int64_t output = times(product(q, 0) > 0 ? product(q, 0) / e : 0, e_v);
    int64_t others = plus(product(q, 0), plus(product(k, 0), product(v, 0)));
    int t = type_of(c, first);
    int64_t elements = times(backward ? 2 : 1, plus(others, output));
    out->bytes = t < 0 ? -1 : times(elements, types[t].bytes);
    return is_known(out);
}

/* The scalar inputs of packed attention, in the order of its signature. The other inputs are
 * tensors. Only version 2 has a dropout. */
enum { LONGEST_Q, LONGEST_K, DROPOUT, SCALE, CAUSAL, BACK, AHEAD, N_VALUES };

static bool packed_values(tm_text list, bool dropout, tm_text out[N_VALUES]) {
    enum { LIST_MAX = 40 };
    int n = 0;
    for (int i = 0; i < LIST_MAX && n < N_VALUES; i++) {
        tm_text item = tm_inputs_item(list, i);
        n += n == DROPOUT && !dropout;
        if (item.size > 0)
            out[n++] = item;
    }
    return n == N_VALUES && (*out[CAUSAL].bytes == 'T' || *out[CAUSAL].bytes == 'F');
}

/* Returns the maximum number of tokens that a token attends to. If a window limits both sides, this
 * is back + ahead + 1. Otherwise it is the number of all tokens. A recorded window of -1 does not
 * limit its side. */
static int64_t seen_tokens(const tm_text values[N_VALUES]) {
    tm_dims longest, back, ahead;
    if (!tm_inputs_ints(values[LONGEST_K], &longest) || !tm_inputs_ints(values[BACK], &back) ||
        !tm_inputs_ints(values[AHEAD], &ahead) || longest.n != 1 || back.n != 1 || ahead.n != 1)
        return -1;
    int64_t limit = tm_inputs_true(values[CAUSAL]) ? 0 : ahead.at[0];
    int64_t window = plus(plus(back.at[0], limit), 1);
    return window < 0 || window > longest.at[0] ? longest.at[0] : window;
}

/* Sets the work of attention on concatenated sequences with dimensions [sum of lengths, heads, head
 * size]. The result is an upper bound, because only the maximum length is recorded. */
static bool packed_attention(const call *c, tm_counted op, tm_work *out) {
    bool backward = op == TM_COUNTED_FLASH_3_BACKWARD || op == TM_COUNTED_FLASH_2_PACKED_BACKWARD;
    bool dropout = op == TM_COUNTED_FLASH_2_PACKED || op == TM_COUNTED_FLASH_2_PACKED_BACKWARD;
    int first = backward ? 1 : 0;
    const tm_dims *q = &c->d[first], *k = q + 1;
    tm_text values[N_VALUES];
    if (q->n != 3 || k->n != 3 || !packed_values(c->concrete, dropout, values))
        return false;
    out->flop = out->causal_flop =
        times(times(backward ? 10 : 4, product(q, 0)), seen_tokens(values));
    out->number = number_of(c, first);
    out->at_most = true;
    int t = type_of(c, first);
    int64_t elements = plus(times(2, product(q, 0)), times(2, product(k, 0)));
    out->bytes = t < 0 ? -1 : times(times(backward ? 2 : 1, elements), types[t].bytes);
    return is_known(out);
}

static bool count(tm_counted op, const call *c, tm_work *out) {
    switch (op) {
    case TM_COUNTED_MM:
        return matrices(c, 0, 2, out);
    case TM_COUNTED_SCALED_MM:
        return scaled_matrices(c, out);
    case TM_COUNTED_INT_MM:
        return int_matrices(c, out);
    case TM_COUNTED_ADDMM:
    case TM_COUNTED_ADDMM_ACTIVATION:
        return matrices(c, 1, 2, out);
    case TM_COUNTED_BMM:
        return matrices(c, 0, 3, out);
    case TM_COUNTED_BADDBMM:
        return matrices(c, 1, 3, out);
    case TM_COUNTED_LINEAR:
    case TM_COUNTED_AITER_GEMM:
    case TM_COUNTED_VLLM_GEMM:
        return linear(c, out);
    case TM_COUNTED_CONVOLUTION:
    case TM_COUNTED_INNER_CONVOLUTION:
        return convolution(c, out);
    case TM_COUNTED_CONVOLUTION_BACKWARD:
        return convolution_backward(c, out);
    case TM_COUNTED_FLASH:
    case TM_COUNTED_FLASH_2:
    case TM_COUNTED_EFFICIENT:
    case TM_COUNTED_CUDNN:
        return attention(c, op, false, out);
    case TM_COUNTED_FLASH_BACKWARD:
    case TM_COUNTED_FLASH_2_BACKWARD:
    case TM_COUNTED_EFFICIENT_BACKWARD:
    case TM_COUNTED_CUDNN_BACKWARD:
        return attention(c, op, true, out);
    default:
        return packed_attention(c, op, out);
    }
}

bool tm_work_of(tm_counted op, tm_text dims, tm_text input_types, tm_text concrete, tm_work *out) {
    call c = {.types = input_types, .concrete = concrete};
    tm_work work = {.bytes = -1, .op = op};
    if (!tm_inputs_dims(dims, c.d) || !count(op, &c, &work))
        return false;
    *out = work;
    return true;
}
