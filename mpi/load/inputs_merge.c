#include "inputs_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "share.h"

int tm_natural_order(const char *a, const char *b) {
    while (*a && *b) {
        size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
        if (n > 0 && m > 0) {
            const char *x = a + strspn(a, "0"), *y = b + strspn(b, "0");
            x = x > a + n ? a + n : x;
            y = y > b + m ? b + m : y;
            ptrdiff_t longer = (a + n - x) - (b + m - y);
            int order = longer ? (longer > 0) - (longer < 0) : memcmp(x, y, (size_t)(a + n - x));
            if (order)
                return order;
            a += n;
            b += m;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}

typedef struct listed_input {
    tm_input_head head;
    const char *path;
    char *match;   /* owned; the beginning of the path, up to where the argument on the command line
                      matched it */
    bool reported; /* an earlier entry is the same file and was already written to the output */
} listed_input;

static int by_place(const void *a, const void *b) {
    const listed_input *x = a, *y = b;
    int order = tm_order_i64(x->head.operand, y->head.operand);
    order = order ? order : tm_natural_order(x->match, y->match);
    order = order ? order : strcmp(x->match, y->match);
    order = order ? order : tm_natural_order(x->path, y->path);
    order = order ? order : strcmp(x->path, y->path);
    return order ? order : tm_order_i64(x->head.host, y->head.host);
}

static bool read_all(const tm_vec *listed, tm_vec *inputs) {
    const char *p = listed->data, *end = p + listed->n;
    while (p < end) {
        listed_input *input = tm_vec_push(inputs);
        if (!input)
            return false;
        memcpy(&input->head, p, sizeof input->head);
        input->path = p + sizeof input->head;
        input->reported = false;
        input->match = strndup(input->path, (size_t)input->head.match);
        if (!input->match)
            return false;
        p = input->path + strlen(input->path) + 1;
    }
    tm_vec_sort(inputs, by_place);
    return true;
}

static bool is_same(const listed_input *a, const listed_input *b) {
    return a->head.operand == b->head.operand && strcmp(a->path, b->path) == 0 &&
           tm_identity_is(&a->head.identity, &b->head.identity);
}

/* Writes each file once to the output. Entries with the same name are adjacent. The first entry of
 * a file also gets the hosts of the file's other entries. */
static bool keep_firsts(listed_input *v, size_t n, int n_hosts, tm_vec *out, tm_vec *seen) {
    size_t n_words = tm_hosts_words(n_hosts);
    for (size_t i = 0; i < n; i++) {
        if (v[i].reported)
            continue;
        uint64_t *words = tm_vec_append(seen, NULL, n_words);
        if (!words || !tm_vec_append(out, &v[i].head, sizeof v[i].head) ||
            !tm_vec_append(out, v[i].path, strlen(v[i].path) + 1))
            return false;
        memset(words, 0, n_words * sizeof *words);
        for (size_t k = i;
             k < n && v[k].head.operand == v[i].head.operand && strcmp(v[k].path, v[i].path) == 0;
             k++) {
            if (!is_same(&v[i], &v[k]))
                continue;
            v[k].reported = true;
            words[v[k].head.host / 64] |= UINT64_C(1) << v[k].head.host % 64;
        }
    }
    return true;
}

tm_status tm_inputs_merge(const tm_vec *listed, int n_hosts, tm_vec *out, tm_vec *seen,
                          tm_error *err) {
    tm_vec inputs = TM_VEC(listed_input);
    bool ok = read_all(listed, &inputs) && keep_firsts(inputs.data, inputs.n, n_hosts, out, seen);
    for (size_t i = 0; i < inputs.n; i++)
        free(((listed_input *)inputs.data)[i].match);
    tm_vec_free(&inputs);
    return ok ? TM_OK : tm_fail_memory(err);
}
