#include "dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "bytes.h"
#include "timeline/idents.h"

enum { TAG_NAMES = 12 };

/* What a text is used for. Event names get the lowest ids, so that arrays indexed by event names
 * are short. The number of other texts, such as names of processes, grows with the number of
 * ranks. */
enum { UNUSED, OF_EVENT, OF_OTHER };

typedef struct word {
    uint32_t use, size;
    const char *bytes;
} word;

/* Processes send lists of words as a vector of char. Words are ascending; each consists of its use,
 * its length and its bytes. */
enum { WORD_HEAD = 2 * sizeof(uint32_t) };

typedef struct marker {
    uint8_t *used; /* [id] use of the text */
} marker;

static void mark(void *context, uint32_t *id) {
    uint8_t *used = &((const marker *)context)->used[*id];
    *used = *used == UNUSED ? OF_OTHER : *used;
}

static int compare(word a, word b) {
    size_t size = a.size < b.size ? a.size : b.size;
    int order = tm_order_u64(a.use, b.use);
    order = order || size == 0 ? order : memcmp(a.bytes, b.bytes, size);
    return order ? order : tm_order_u64(a.size, b.size);
}

static int by_text(const void *a, const void *b) {
    return compare(*(const word *)a, *(const word *)b);
}

static bool add_word(tm_vec *list, word w) {
    const uint32_t head[2] = {w.use, w.size};
    return tm_vec_append(list, head, WORD_HEAD) && tm_vec_append(list, w.bytes, w.size);
}

static bool next_word(const char **p, const char *end, word *out) {
    if (*p == end)
        return false;
    memcpy(out, *p, WORD_HEAD);
    out->bytes = *p + WORD_HEAD;
    *p += WORD_HEAD + out->size;
    return true;
}

/* Lists the texts that this process's timelines use, in ascending order, without the empty text. */
static tm_status own_words(const tm_names *names, tm_timeline *timelines, size_t n, tm_vec *out,
                           tm_error *err) {
    size_t n_names = tm_names_count(names), n_words = 0;
    marker m = {.used = calloc(n_names, 1)};
    word *words = malloc(n_names * sizeof *words);
    bool ok = m.used && words;
    for (size_t i = 0; i < n && ok; i++)
        for (size_t row = 0; row < timelines[i].n_events; row++)
            m.used[timelines[i].name[row]] = OF_EVENT;
    for (size_t i = 0; i < n && ok; i++)
        tm_timeline_each_name(&timelines[i], mark, &m);
    for (size_t id = 1; id < n_names && ok; id++) {
        const tm_text text = tm_names_text(names, (uint32_t)id);
        if (m.used[id] != UNUSED)
            words[n_words++] = (word){m.used[id], (uint32_t)text.size, text.bytes};
    }
    if (n_words > 1)
        qsort(words, n_words, sizeof *words, by_text);
    for (size_t i = 0; i < n_words && ok; i++)
        ok = add_word(out, words[i]);
    free(m.used);
    free(words);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Merges one ascending list into another, without duplicates. */
static tm_status merge_words(tm_vec *into, const void *other, size_t size, tm_error *err) {
    tm_vec merged = TM_VEC(char);
    const char *p = into->data, *p_end = p + into->n;
    const char *q = other, *q_end = q + size;
    word a, b;
    bool ok = true, has_a = into->n > 0 && next_word(&p, p_end, &a);
    bool has_b = size > 0 && next_word(&q, q_end, &b);
    while ((has_a || has_b) && ok) {
        int order = !has_b ? -1 : !has_a ? 1 : compare(a, b);
        ok = add_word(&merged, order <= 0 ? a : b);
        if (order <= 0)
            has_a = next_word(&p, p_end, &a);
        if (order >= 0)
            has_b = next_word(&q, q_end, &b);
    }
    if (!ok) {
        tm_vec_free(&merged);
        return tm_fail_memory(err);
    }
    tm_vec_free(into);
    *into = merged;
    return TM_OK;
}

/* Collects the words of all processes on process 0 along a binomial tree. A process that failed
 * still sends its words, because other processes wait for its message. */
static tm_status reduce_words(MPI_Comm comm, tm_vec *words, tm_error *err) {
    int self, n_processes;
    tm_status status = TM_OK;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    for (int bit = 1; bit < n_processes; bit *= 2) {
        if (self & bit) {
            tm_status sent =
                tm_mpi_send_bytes(comm, self - bit, TAG_NAMES, words->data, words->n, err);
            return status == TM_OK ? sent : status;
        }
        if (self + bit >= n_processes)
            continue;
        void *bytes = NULL;
        size_t size = 0;
        tm_status got = tm_mpi_receive_bytes(comm, self + bit, TAG_NAMES, &bytes, &size, err);
        if (got == TM_OK)
            got = merge_words(words, bytes, size, err);
        free(bytes);
        status = status == TM_OK ? got : status;
    }
    return status;
}

static tm_status dictionary_of(const void *words, size_t size, tm_names **out, tm_error *err) {
    tm_names *names = tm_names_create();
    const char *p = words, *end = p + size;
    word w;
    bool ok = names != NULL;
    while (ok && size > 0 && next_word(&p, end, &w)) /* event names come first */
        ok = tm_names_intern(names, w.bytes, w.size) != TM_NAME_FAILED;
    if (!ok) {
        tm_names_destroy(names);
        return tm_fail_memory(err);
    }
    *out = names;
    return TM_OK;
}

typedef struct replacer {
    const tm_names *from;
    tm_names *to;
    uint32_t *known; /* [old id] the new id; 0: not yet looked up */
} replacer;

static void replace(void *context, uint32_t *id) {
    const replacer *r = context;
    if (*id != TM_NO_NAME && r->known[*id] == 0) {
        tm_text text = tm_names_text(r->from, *id);
        /* Every text in use is in the dictionary, so this call never adds one. */
        r->known[*id] = tm_names_intern(r->to, text.bytes, text.size);
    }
    *id = r->known[*id];
}

static tm_status replace_all(const tm_names *from, tm_names *to, tm_timeline *timelines, size_t n,
                             tm_error *err) {
    replacer r = {from, to, calloc(tm_names_count(from), sizeof(uint32_t))};
    if (!r.known)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        tm_timeline_each_name(&timelines[i], replace, &r);
    free(r.known);
    return TM_OK;
}

tm_status tm_mpi_unify_names(MPI_Comm comm, const tm_names *names, tm_timeline *timelines, size_t n,
                             tm_names **out, tm_error *err) {
    int self;
    MPI_Comm_rank(comm, &self);
    tm_vec words = TM_VEC(char);
    tm_names *dictionary = NULL;
    tm_status status = own_words(names, timelines, n, &words, err);
    tm_status reduced = reduce_words(comm, &words, err);
    status = tm_mpi_agree(comm, status == TM_OK ? reduced : status, err);
    void *bytes = words.data;
    size_t size = words.n;
    if (status == TM_OK)
        status = tm_mpi_broadcast_bytes(comm, &bytes, &size, err);
    if (status == TM_OK) {
        status = dictionary_of(bytes, size, &dictionary, err);
        if (status == TM_OK)
            status = replace_all(names, dictionary, timelines, n, err);
        if (self != 0)
            free(bytes);
        status = tm_mpi_agree(comm, status, err);
    }
    tm_vec_free(&words);
    if (status == TM_OK)
        *out = dictionary;
    else
        tm_names_destroy(dictionary);
    return status;
}
