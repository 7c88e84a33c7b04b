#include "rank_from_path.h"

#include <string.h>

#include "base/letters.h"
#include "tmerge/timeline.h"

static const char *const words[] = {
#define TM_RANK_WORD(id, text) [TM_WORD_##id] = (text),
    TM_RANK_WORDS(TM_RANK_WORD)
#undef TM_RANK_WORD
};

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the number after @p word at p; -1 if there is none or it is too large. */
static int64_t number_after(const char *p, const char *end, const char *word) {
    while (*word && p < end && tm_lower(*p) == *word) {
        p++;
        word++;
    }
    if (*word)
        return -1;
    p += p < end && (*p == '-' || *p == '_');
    const char *digits = p;
    int64_t value = 0;
    while (p < end && *p >= '0' && *p <= '9' && value <= TM_RANK_MAX)
        value = value * 10 + (*p++ - '0');
    return p > digits && value <= TM_RANK_MAX ? value : -1;
}

tm_rank_label tm_rank_label_of(const char *text, size_t size) {
    tm_rank_label label;
    for (int w = 0; w < TM_N_RANK_WORDS; w++) {
        label.of[w] = -1;
        for (size_t i = 0; i < size; i++) {
            bool begins = i == 0 || !tm_is_letter(text[i - 1]);
            int64_t value = begins ? number_after(text + i, text + size, words[w]) : -1;
            label.of[w] = value >= 0 ? value : label.of[w];
        }
    }
    return label;
}

bool tm_rank_label_is_empty(const tm_rank_label *label) {
    bool empty = true;
    for (int w = 0; w < TM_N_RANK_WORDS; w++)
        empty = empty && label->of[w] < 0;
    return empty;
}

tm_rank_label tm_rank_label_of_path(const char *path, bool or_folder) {
    const char *base = base_of(path), *folder = base > path ? base - 1 : path;
    tm_rank_label label = tm_rank_label_of(base, strlen(base));
    while (folder > path && folder[-1] != '/')
        folder--;
    if (or_folder && base > folder && tm_rank_label_is_empty(&label))
        label = tm_rank_label_of(folder, (size_t)(base - 1 - folder));
    return label;
}

int64_t tm_rank_of_label(const tm_rank_label *label) {
    for (int w = 0; w <= TM_WORD_TP; w++)
        if (label->of[w] >= 0)
            return label->of[w];
    return -1;
}

int64_t tm_rank_of_path(const char *path) {
    const tm_rank_label label = tm_rank_label_of_path(path, false);
    return tm_rank_of_label(&label);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

int64_t tm_rank_of_process(const char *name, size_t size) {
    char text[128]; /* the name with each run of separators replaced by one '_' */
    size_t n = 0;
    int64_t first = -1;
    for (size_t i = 0; i < size && n < sizeof text; i++) {
        char c = name[i] && strchr(" _-:#=", name[i]) ? '_' : name[i];
        if (c != '_' || n == 0 || text[n - 1] != '_')
            text[n++] = c;
    }
    for (size_t k = 1; k <= n && first < 0; k++)
        if (is_digit(text[k - 1]) && (k == n || !is_digit(text[k])))
            first = tm_rank_label_of(text, k).of[TM_WORD_RANK];
    return first >= 0 && tm_rank_label_of(text, n).of[TM_WORD_RANK] == first ? first : -1;
}

static size_t digits_before(const char *start, const char *end) {
    const char *p = end;
    while (p > start && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return (size_t)(end - p);
}

bool tm_host_of_path(const char *path, char *out, size_t size) {
    const char *base = base_of(path);
    const char *end = strstr(base, ".pt.trace.json");
    if (!end)
        return false;
    size_t time_digits = digits_before(base, end);
    if (time_digits == 0 || end - time_digits == base || end[-1 - (ptrdiff_t)time_digits] != '.')
        return false;
    end -= time_digits + 1;
    size_t pid_digits = digits_before(base, end);
    if (pid_digits == 0 || end - pid_digits == base || end[-1 - (ptrdiff_t)pid_digits] != '_')
        return false;
    end -= pid_digits + 1;
    if (strncmp(base, "rank", 4) == 0) {
        const char *prefix = base + 4 + strspn(base + 4, "0123456789");
        if (prefix > base + 4 && strncmp(prefix, "__", 2) == 0)
            base = prefix + 2;
    }
    if (end <= base || (size_t)(end - base) >= size)
        return false;
    /* "rank3", "Worker0" and "tp-1" name a rank, not a host. */
    const tm_rank_label label = tm_rank_label_of(base, (size_t)(end - base));
    if (tm_rank_of_label(&label) >= 0)
        return false;
    memcpy(out, base, (size_t)(end - base));
    out[end - base] = '\0';
    return true;
}
