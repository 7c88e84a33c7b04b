#include "hlo_text.h"

#include <string.h>

#include "base/letters.h"

static const tm_text no_text = {"", 0};

static tm_text between(const char *begin, const char *end) {
    return (tm_text){begin, (size_t)(end - begin)};
}

/* Returns the position of the bracket that closes the bracket at @p p. Returns @p end if there is
 * none. */
static const char *closing(const char *p, const char *end) {
    int depth = 0;
    for (; p < end; p++) {
        depth += *p == '(' || *p == '[' || *p == '{';
        depth -= *p == ')' || *p == ']' || *p == '}';
        if (depth == 0)
            return p;
    }
    return end;
}

/* Returns the end of a shape: the first blank outside brackets. */
static const char *after_shape(const char *p, const char *end) {
    for (; p < end && *p != ' '; p++)
        if (*p == '(' || *p == '[' || *p == '{')
            if ((p = closing(p, end)) == end)
                break;
    return p;
}

tm_hlo tm_hlo_parse(tm_text text) {
    if (text.size == 0)
        text = no_text;
    const char *p = text.bytes, *end = text.bytes + text.size;
    tm_hlo hlo = {text, no_text, no_text, no_text, no_text};
    if (p < end && *p == '%')
        p++;
    const char *blank = memchr(p, ' ', (size_t)(end - p));
    hlo.name = between(p, blank ? blank : end);
    if (!blank || end - blank < 3 || memcmp(blank, " = ", 3) != 0) {
        hlo.name = between(p, end);
        return hlo;
    }
    p = after_shape(blank + 3, end);
    hlo.shape = between(blank + 3, p);
    const char *opcode = p < end ? p + 1 : end;
    p = memchr(opcode, '(', (size_t)(end - opcode));
    hlo.opcode = between(opcode, p ? p : end);
    if (!p)
        return hlo;
    const char *close = closing(p, end);
    hlo.operands = between(p + 1, close > p ? close : p + 1);
    hlo.attributes = between(close < end ? close + 1 : end, end);
    return hlo;
}

tm_text tm_hlo_attribute(const tm_hlo *hlo, const char *name) {
    const char *p = hlo->attributes.bytes, *end = p + hlo->attributes.size;
    size_t size = strlen(name);
    while (p < end) {
        while (p < end && (*p == ',' || *p == ' '))
            p++;
        const char *begin = p;
        for (; p < end && *p != ','; p++)
            if (*p == '(' || *p == '[' || *p == '{')
                if ((p = closing(p, end)) == end)
                    break;
        if ((size_t)(p - begin) > size && memcmp(begin, name, size) == 0 && begin[size] == '=')
            return between(begin + size + 1, p);
    }
    return no_text;
}

tm_text tm_hlo_first_operand(const tm_hlo *hlo) {
    const char *end = hlo->operands.bytes + hlo->operands.size;
    const char *p = memchr(hlo->operands.bytes, '%', hlo->operands.size);
    if (!p)
        return no_text;
    const char *stop = ++p;
    while (stop < end && *stop != ',' && *stop != ' ' && *stop != ')')
        stop++;
    return between(p, stop);
}

typedef struct element_type {
    const char *hlo, *torch;
    int64_t bytes;
} element_type;

/* Types smaller than a byte count as one byte. */
static const element_type *type_of(tm_text word) {
    static const element_type types[] = {
        {"f32", "Float", 4},        {"bf16", "BFloat16", 2},
        {"f16", "Half", 2},         {"f64", "Double", 8},
        {"s32", "Int", 4},          {"s64", "Long", 8},
        {"u8", "Byte", 1},          {"s8", "Char", 1},
        {"pred", "Bool", 1},        {"s16", "Short", 2},
        {"u16", "UInt16", 2},       {"u32", "UInt32", 4},
        {"u64", "UInt64", 8},       {"s4", "Char", 1},
        {"c64", "ComplexFloat", 8}, {"c128", "ComplexDouble", 16},
        {"u4", "Byte", 1},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (tm_text_is(word, types[i].hlo))
            return &types[i];
    static const element_type small = {"f8", "Float8_e4m3fn", 1};
    return tm_text_begins(word, "f8") ? &small : NULL;
}

static bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Returns the product of dimensions such as "5,1024]"; -1 if the product is implausible. */
static int64_t product_of(const char *p, const char *end) {
    int64_t product = 1, number = 0;
    for (; p < end && *p != ']'; p++) {
        if (*p == ',') {
            product *= number;
            number = 0;
        } else if (*p >= '0' && *p <= '9') {
            number = number * 10 + (*p - '0');
        } else if (*p != '<' && *p != '=') { /* "<=8" is an upper bound of a dimension */
            return -1;
        }
        if (number > INT32_MAX || product > INT64_MAX / 64 / (number > 0 ? number : 1))
            return -1;
    }
    return p > end ? -1 : product * (p[-1] == '[' ? 1 : number);
}

static void add_array(tm_hlo_size *sum, const element_type *type, int64_t elements) {
    bool first = sum->elements == 0 && !sum->dtype;
    if (!type || elements < 0 || sum->elements < 0 || sum->bytes > INT64_MAX / 4) {
        *sum = (tm_hlo_size){-1, -1, NULL};
        return;
    }
    sum->elements += elements;
    sum->bytes += elements * type->bytes;
    sum->dtype = first || (sum->dtype && strcmp(sum->dtype, type->torch) == 0) ? type->torch : NULL;
}

/* Finds the next array that is not in a layout. Returns the position of its "[", and sets @p type
 * to the element type, which is before the "[". */
static const char *next_array(const char *p, const char *end, tm_text *type) {
    for (; p < end; p++) {
        if (*p == '{' && (p = closing(p, end)) == end)
            break;
        if (*p != '[')
            continue;
        const char *begin = p;
        while (begin > type->bytes && is_of_word(begin[-1]))
            begin--;
        *type = between(begin, p);
        return p;
    }
    return NULL;
}

tm_hlo_size tm_hlo_size_of(tm_text shapes) {
    const char *p = shapes.bytes, *end = p + shapes.size;
    tm_hlo_size sum = {0, 0, NULL};
    bool any = false;
    for (;;) {
        tm_text word = between(shapes.bytes, shapes.bytes);
        p = next_array(p, end, &word);
        if (!p)
            return any ? sum : (tm_hlo_size){-1, -1, NULL};
        any = true;
        add_array(&sum, type_of(word), product_of(p + 1, end));
        p = closing(p, end);
    }
}

int tm_hlo_memory(tm_text shape, int index) {
    const char *p = shape.bytes, *end = p + shape.size;
    for (;; index--) {
        tm_text word = between(shape.bytes, shape.bytes);
        p = next_array(p, end, &word);
        if (!p)
            return 0;
        p = closing(p, end);
        if (index == 0)
            break;
    }
    const char *stop = ++p < end && *p == '{' ? closing(p, end) : p;
    for (; p + 3 < stop; p++)
        if (p[0] == 'S' && p[1] == '(' && p[2] >= '0' && p[2] <= '9')
            return p[2] - '0';
    return 0;
}

/* Removes "-start" or "-done" from a name. Returns the part of an asynchronous operation for which
 * the name stands. */
static tm_hlo_part part_of(tm_text *word) {
    static const char start[] = "-start", done[] = "-done";
    for (size_t i = 0; i + 5 <= word->size; i++) {
        const tm_text rest = {word->bytes + i, word->size - i};
        if (tm_text_begins(rest, start) || tm_text_begins(rest, done)) {
            tm_hlo_part part = tm_text_begins(rest, start) ? TM_HLO_START : TM_HLO_DONE;
            word->size = i;
            return part;
        }
    }
    return TM_HLO_WHOLE;
}

typedef struct rule {
    const char *word;
    uint8_t class, kind;
} rule;

static const rule rules[] = {
    {"all-reduce", TM_HLO_COLLECTIVE, TM_COLL_ALLREDUCE},
    {"all-gather", TM_HLO_COLLECTIVE, TM_COLL_ALLGATHER},
    {"all-to-all", TM_HLO_COLLECTIVE, TM_COLL_ALLTOALL},
    {"ragged-all-to-all", TM_HLO_COLLECTIVE, TM_COLL_ALLTOALL},
    {"reduce-scatter", TM_HLO_COLLECTIVE, TM_COLL_REDUCESCATTER},
    {"collective-permute", TM_HLO_COLLECTIVE, TM_COLL_SENDRECV},
    {"collective-broadcast", TM_HLO_COLLECTIVE, TM_COLL_BROADCAST},
    {"send", TM_HLO_COLLECTIVE, TM_COLL_SEND},
    {"recv", TM_HLO_COLLECTIVE, TM_COLL_RECV},
    {"host send", TM_HLO_TO_HOST, 0},
    {"host recv", TM_HLO_FROM_HOST, 0},
    {"infeed", TM_HLO_FROM_HOST, 0},
    {"outfeed", TM_HLO_TO_HOST, 0},
    {"while", TM_HLO_HOLDS, 0},
    {"call", TM_HLO_HOLDS, 0},
    {"conditional", TM_HLO_HOLDS, 0},
};

static const rule *rule_of(tm_text word) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t size = strlen(rules[i].word);
        bool whole = word.size == size || (word.size > size && strchr(" .-_", word.bytes[size]));
        if (tm_text_begins(word, rules[i].word) && whole)
            return &rules[i];
    }
    return NULL;
}

/* A send starts an operation, and its send-done waits for the operation. */
static tm_hlo_part part_of_rule(const rule *found, tm_hlo_part part, tm_text opcode) {
    bool pair = found && (tm_collective_is_one_way(found->kind) || tm_text_begins(opcode, "send") ||
                          tm_text_begins(opcode, "recv"));
    return pair && part == TM_HLO_WHOLE ? TM_HLO_START : part;
}

tm_hlo_kind tm_hlo_kind_of(const tm_hlo *hlo, tm_text category) {
    tm_text word = category.size > 0 ? category : hlo->opcode, opcode = hlo->opcode;
    /* the name of this operation contains the name of the operation that it wraps */
    if (tm_text_begins(word, "async-"))
        word = hlo->name;
    tm_hlo_part part = part_of(&word), by_opcode = part_of(&opcode);
    part = part == TM_HLO_WHOLE ? by_opcode : part;
    const rule *found = rule_of(word);
    part = part_of_rule(found, part, opcode);
    tm_hlo_kind kind = {TM_HLO_COMPUTE, (uint8_t)part, TM_COLL_OTHER};
    if (found) {
        kind.class = found->class;
        kind.kind = found->kind;
    } else if (part != TM_HLO_WHOLE) { /* copy-start, slice-start, dynamic-update-slice-start */
        kind.class = TM_HLO_COPY;
    }
    return kind;
}
