#include "ascend_kinds.h"

#include <stdio.h>

#include "readers/number.h"

typedef struct rule {
    const char *word;
    bool whole; /* whether `word` is the whole text; otherwise it is a prefix */
    tm_ascend_work work;
} rule;

/* Kinds of tasks by their "Task Type". These are the types that the vendor's own analysis lists.
 * DSA_SQE is added, because that analysis counts it although it does not list it. */
static const rule types[] = {
    {"AI_CORE", true, TM_ASCEND_COMPUTES},
    {"AI_VECTOR_CORE", true, TM_ASCEND_COMPUTES},
    {"AIV", true, TM_ASCEND_COMPUTES},
    {"AIC", true, TM_ASCEND_COMPUTES},
    {"MIX_AIV", true, TM_ASCEND_COMPUTES},
    {"MIX_AIC", true, TM_ASCEND_COMPUTES},
    {"AI_CPU", true, TM_ASCEND_COMPUTES},
    {"DSA_SQE", true, TM_ASCEND_COMPUTES},
    {"DVPP_", false, TM_ASCEND_COMPUTES},
    {"FFTS_PLUS", true, TM_ASCEND_COMPUTES},
    {"KERNEL_", false, TM_ASCEND_COMPUTES},
    {"PCIE_DMA_SQE", true, TM_ASCEND_COPIES},
    {"SDMA_SQE", true, TM_ASCEND_COPIES},
    {"Notify Wait", true, TM_ASCEND_PART},
    {"Notify Record", true, TM_ASCEND_PART},
    {"Write Value", true, TM_ASCEND_PART},
    {"SDMA", true, TM_ASCEND_PART},
    {"RDMASend", true, TM_ASCEND_PART},
    {"Reduce", false, TM_ASCEND_PART},
    {"EVENT_RECORD_SQE", true, TM_ASCEND_NOTHING},
    {"EVENT_WAIT_SQE", true, TM_ASCEND_NOTHING},
    {"PLACE_HOLDER_SQE", true, TM_ASCEND_NOTHING},
};

/* Kinds of tasks by their names. They are used for tasks of type "Other" or "other", which old
 * versions give to all tasks except AI_CPU. */
static const rule names[] = {
    {"MEMCPY_ASYNC", true, TM_ASCEND_COPIES_OR_PART},
    {"MemcopyAsync", true, TM_ASCEND_COPIES},
    {"NOTIFY_WAIT", true, TM_ASCEND_PART},
    {"NOTIFY_RECORD", true, TM_ASCEND_PART},
    {"REDUCE_ASYNC", false, TM_ASCEND_PART},
    {"Other", true, TM_ASCEND_PART},
    {"EVENT_", false, TM_ASCEND_NOTHING},
    {"PROFILING_", false, TM_ASCEND_NOTHING},
};

static const rule *find(const rule *rules, size_t n, const tm_json_text *text) {
    for (size_t i = 0; i < n; i++)
        if (rules[i].whole ? tm_json_is(text, rules[i].word) : tm_json_begins(text, rules[i].word))
            return &rules[i];
    return NULL;
}

tm_ascend_work tm_ascend_work_of(const tm_json_text *type, const tm_json_text *name, bool *known) {
    bool other = tm_json_is(type, "Other") || tm_json_is(type, "other");
    const rule *r = other ? find(names, sizeof names / sizeof *names, name)
                          : find(types, sizeof types / sizeof *types, type);
    *known = other || r;
    return r ? r->work : TM_ASCEND_COMPUTES;
}

bool tm_ascend_plain_name(const char *name, const char *op, char *out, size_t size) {
    static const char *const helpers[] = {"trans_", "atomic_memset"};
    static const char digits[] = "0123456789";
    size_t all = strlen(name), kept = strlen(op);
    if (all >= size)
        return false;
    if (kept > 0 && strncmp(name, op, kept) == 0 && strspn(name + kept, digits) > 0) {
        snprintf(out, size, "%s%s", op, name + kept + strspn(name + kept, digits));
        return true;
    }
    kept = all;
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        while (strncmp(name, helpers[i], strlen(helpers[i])) == 0) {
            size_t end = kept;
            while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
                end--;
            if (end == kept || end == 0 || name[end - 1] != '_')
                break;
            kept = end - 1;
        }
    snprintf(out, size, "%.*s", (int)kept, name);
    return kept < all;
}

const char *tm_ascend_direction(const tm_json_text *type, const tm_json_text *direction) {
    static const char *const words[][2] = {{"host to device", "HtoD"},
                                           {"device to host", "DtoH"},
                                           {"device to device", "DtoD"},
                                           {"host to host", "HtoH"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        /* A prefix is enough: "host to device ex" also occurs. */
        if (tm_json_begins(direction, words[i][0]))
            return words[i][1];
    return tm_json_is(type, "SDMA_SQE") ? "DtoD" : "";
}

/* Parses the number after the last underscore of a name [0, *size), and cuts the name there. */
static bool last_number(const char *bytes, size_t *size, int64_t *out) {
    size_t start = *size;
    while (start > 0 && bytes[start - 1] >= '0' && bytes[start - 1] <= '9')
        start--;
    bool ok = start > 0 && bytes[start - 1] == '_' && *size - start > 0 && *size - start < 10 &&
              tm_number_scaled(bytes + start, *size - start, 0, out);
    *size = ok ? start - 1 : *size;
    return ok;
}

bool tm_ascend_operation_of(const tm_json_text *name, tm_ascend_operation *out) {
    static const char start[] = "hcom_";
    const size_t skip = sizeof start - 1;
    int64_t k, n, group;
    size_t size = name->size;
    if (!tm_json_begins(name, start) || !last_number(name->bytes, &size, &k) ||
        !last_number(name->bytes, &size, &n))
        return false;
    size_t end = size;
    if (!last_number(name->bytes, &size, &group) || size <= skip)
        return false;
    out->group = (tm_json_text){.bytes = name->bytes + size + 1, .size = end - size - 1};
    while (size > skip && name->bytes[size - 1] == '_')
        size--;
    out->name = (tm_json_text){.bytes = name->bytes, .size = size};
    out->op = (tm_json_text){.bytes = name->bytes + skip, .size = size - skip};
    out->seq = n + (k > 1 ? (k - 1) << 32 : 0);
    return out->op.size > 0;
}

tm_json_text tm_ascend_dtype(const tm_json_text *text) {
    static const char *const words[][2] = {
        {"FP32", "Float"},    {"FP16", "Half"}, {"BFP16", "BFloat16"}, {"BF16", "BFloat16"},
        {"FP64", "Double"},   {"INT8", "Char"}, {"UINT8", "Byte"},     {"INT16", "Short"},
        {"UINT16", "UInt16"}, {"INT32", "Int"}, {"UINT32", "UInt32"},  {"INT64", "Long"},
        {"UINT64", "UInt64"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tm_json_is(text, words[i][0]))
            return (tm_json_text){.bytes = words[i][1], .size = strlen(words[i][1])};
    return *text;
}
