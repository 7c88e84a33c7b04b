#include "step_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/letters.h"
#include "base/pattern.h"

struct tm_step_names {
    regex_t pattern;
};

static const tm_step_name not_a_step = {TM_STEP_NOT, -1, 0, false};

tm_status tm_step_names_create(const char *pattern, tm_step_names **out, tm_error *err) {
    *out = NULL;
    if (!pattern)
        return TM_OK;
    tm_step_names *steps = malloc(sizeof *steps);
    if (!steps)
        return tm_fail_memory(err);
    tm_status status = tm_pattern_compile(pattern, 0, &steps->pattern, err);
    if (status == TM_OK)
        *out = steps;
    else
        free(steps);
    return status;
}

void tm_step_names_destroy(tm_step_names *steps) {
    if (!steps)
        return;
    regfree(&steps->pattern);
    free(steps);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* What is left of a text: its words, with a space between. */
typedef struct word_list {
    char *out;
    size_t used;
} word_list;

/* Bytes beyond ASCII are letters of other languages. */
static bool is_any_letter(char c) {
    return tm_is_letter(c) || (unsigned char)c >= 0x80;
}

static bool is_of_word(char c) {
    return is_any_letter(c) || is_digit(c) || c == '_' || c == '.';
}

static size_t word_end(const char *text, size_t n, size_t at) {
    while (at < n && is_of_word(text[at]))
        at++;
    return at;
}

static size_t skip(const char *text, size_t n, size_t at, const char *these) {
    while (at < n && strchr(these, text[at]))
        at++;
    return at;
}

/* The end of a number or of a list of them that follows a word with "=" or ":"; the word's own end
 * where none does. */
static size_t value_end(const char *text, size_t n, size_t end) {
    size_t at = skip(text, n, end, " ");
    if (at == n || (text[at] != '=' && text[at] != ':'))
        return end;
    at = skip(text, n, at + 1, " ");
    size_t number = skip(text, n, at, "+-[(");
    if (number == n || !is_digit(text[number]))
        return end;
    for (int depth = 0; at < n; at++) {
        depth += text[at] == '[' || text[at] == '(';
        depth -= text[at] == ']' || text[at] == ')';
        if (depth < 0 || (depth == 0 && strchr(" ,;", text[at])))
            break;
    }
    return at;
}

static void put(word_list *w, char c) {
    if (w->used + 1 < TM_STEP_KIND_MAX)
        w->out[w->used++] = c;
}

/* The parts of a word that begin with a letter, without the digits at their ends: "train" of
 * "train_12", "step" of "step3". */
static void add_word(word_list *w, const char *word, size_t n) {
    bool first = true;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && word[end] != '_' && word[end] != '.')
            end++;
        size_t size = end - i;
        while (size > 0 && is_digit(word[i + size - 1]))
            size--;
        if (size > 0 && is_any_letter(word[i])) {
            if (w->used > 0)
                put(w, first ? ' ' : '_');
            for (size_t k = 0; k < size; k++)
                put(w, word[i + k]);
            first = false;
        }
        i = end + 1;
    }
}

/* keys: the words that numbers are of stay, too. */
static void add_words(word_list *w, const char *text, size_t n, bool keys) {
    for (size_t i = 0; i < n;) {
        size_t end = word_end(text, n, i);
        size_t behind = keys ? end : value_end(text, n, end);
        if (end > i && behind == end)
            add_word(w, text + i, end - i);
        i = behind > i ? behind : i + 1;
    }
}

void tm_step_kind_of(tm_text name, char out[TM_STEP_KIND_MAX]) {
    word_list w = {out, 0};
    const char *bracket = memchr(name.bytes, '[', name.size);
    if (bracket && name.bytes[name.size - 1] == ']') {
        size_t first = (size_t)(bracket - name.bytes) + 1;
        add_words(&w, name.bytes + first, name.size - first - 1, false);
    }
    for (int keys = 0; keys < 2 && w.used == 0; keys++)
        add_words(&w, name.bytes, name.size, keys);
    const bool cut = w.used + 1 == TM_STEP_KIND_MAX;
    while (cut && w.used > 0 && ((unsigned char)out[w.used - 1] & 0x80))
        w.used--; /* a letter of several bytes may have lost some */
    out[w.used] = '\0';
}

/* Up to 18 digits as a number: no counter of steps goes further. */
static int64_t number_of(const char *digits, size_t n) {
    int64_t number = 0;
    if (n == 0 || n > 18)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(digits[i]))
            return -1;
        number = number * 10 + (digits[i] - '0');
    }
    return number;
}

/* What may stand between the word and the number. */
static bool is_between(char c) {
    return c != 0 && strchr(" _#:=/-", c);
}

static size_t digits_before(const char *bytes, size_t end) {
    size_t n = 0;
    while (n < end && is_digit(bytes[end - n - 1]))
        n++;
    return n;
}

static bool ends_with_word(const char *bytes, size_t size, const char *word) {
    size_t n = strlen(word);
    return size >= n && strncasecmp(bytes + size - n, word, n) == 0 &&
           (size == n || !tm_is_letter(bytes[size - n - 1]));
}

static bool ends_with_step(const char *bytes, size_t size) {
    return ends_with_word(bytes, size, "step") || ends_with_word(bytes, size, "iteration");
}

/* "step[DECODE bs=128]", as inference engines have it: what the brackets hold counts no steps. */
static tm_step_name bracketed_name(tm_text name) {
    const char *bracket = strchr(name.bytes, '[');
    size_t stem = bracket ? (size_t)(bracket - name.bytes) : 0;
    if (!bracket || name.bytes[name.size - 1] != ']' || !ends_with_step(name.bytes, stem))
        return not_a_step;
    return (tm_step_name){TM_STEP_ALIKE, -1, tm_hash(TM_HASH_BEGIN, name.bytes, stem), false};
}

/* The word step or iteration, what may stand between, and a number at the end. */
static tm_step_name known_name(tm_text name) {
    static const char sure[] = "ProfilerStep#";
    size_t n_digits = digits_before(name.bytes, name.size), stem = name.size - n_digits;
    tm_step_name out = {.number = number_of(name.bytes + stem, n_digits),
                        .stem = tm_hash(TM_HASH_BEGIN, name.bytes, stem)};
    if (out.number < 0)
        return bracketed_name(name);
    if (stem == sizeof sure - 1 && memcmp(name.bytes, sure, stem) == 0) {
        out.trust = TM_STEP_SURE;
        out.counted = true;
        return out;
    }
    size_t word = stem;
    while (word > 0 && is_between(name.bytes[word - 1]))
        word--;
    if (ends_with_step(name.bytes, word))
        out.trust = TM_STEP_ALIKE;
    return out;
}

/* The digits at the end of a match or right behind it, else at the end of the name. */
static int64_t number_by(tm_text name, size_t match_end) {
    size_t n = digits_before(name.bytes, match_end), end = match_end;
    while (n == 0 && is_between(name.bytes[end]))
        end++;
    size_t first = n > 0 ? match_end - n : end;
    while (is_digit(name.bytes[end]))
        end++;
    if (end == first)
        first = (end = name.size) - digits_before(name.bytes, name.size);
    return number_of(name.bytes + first, end - first);
}

/* Names end with a zero, so the library can read them where they lie. */
static tm_step_name matched_name(const tm_step_names *steps, tm_text name) {
    regmatch_t found[2];
    tm_step_name out = {TM_STEP_SURE, -1, 0, false};
    if (name.size == 0 || regexec(&steps->pattern, name.bytes, 2, found, 0) != 0)
        return known_name(name).trust == TM_STEP_SURE
                   ? (tm_step_name){TM_STEP_PROFILER, -1, 0, true}
                   : not_a_step;
    if (steps->pattern.re_nsub > 0 && found[1].rm_so >= 0)
        out.number =
            number_of(name.bytes + found[1].rm_so, (size_t)(found[1].rm_eo - found[1].rm_so));
    if (out.number < 0)
        out.number = number_by(name, (size_t)found[0].rm_eo);
    return out;
}

tm_step_name tm_step_name_of(const tm_step_names *steps, tm_text name) {
    return steps ? matched_name(steps, name) : known_name(name);
}
