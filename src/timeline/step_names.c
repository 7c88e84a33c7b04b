#include "step_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
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

static bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool ends_with_word(const char *bytes, size_t size, const char *word) {
    size_t n = strlen(word);
    return size >= n && strncasecmp(bytes + size - n, word, n) == 0 &&
           (size == n || !is_letter(bytes[size - n - 1]));
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
