#include "step_names.h"

#include <stdio.h>
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

/* Words of a text, separated by spaces. */
typedef struct word_list {
    char *out;
    size_t used;
} word_list;

/* Bytes that are not ASCII count as letters, because they are parts of letters of other
 * languages. */
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

/* Returns the end of the number or list of numbers that follows a word after "=" or ":"; the end of
 * the word if none follows. */
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

/* Adds the parts of a word that start with a letter, without trailing digits: "train" of
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

/* Adds the words of a text. If @p keys is false, leaves out words that are followed by a number. */
static void add_words(word_list *w, const char *text, size_t n, bool keys) {
    for (size_t i = 0; i < n;) {
        size_t end = word_end(text, n, i);
        size_t after = keys ? end : value_end(text, n, end);
        if (end > i && after == end)
            add_word(w, text + i, end - i);
        i = after > i ? after : i + 1;
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
        w.used--; /* remove the incomplete bytes of a truncated character */
    out[w.used] = '\0';
}

/* Reads digits. Returns -1 if there are none, or too many for a number of requests or tokens. */
static int64_t read_number(const char **at, const char *end) {
    const char *first = *at;
    int64_t number = 0;
    while (*at < end && is_digit(**at))
        number = number > INT64_MAX / 100 ? INT64_MAX / 100 : 10 * number + (*(*at)++ - '0');
    return *at > first && *at - first <= 15 ? number : -1;
}

/* Maximum number of numbers in a pattern of has_form. */
enum { NUMBERS_MAX = 12 };

/* Returns whether a name matches a pattern, and reads its numbers. In the pattern, # is a number,
 * and * at the end any text. */
static bool has_form(tm_text name, const char *form, int64_t numbers[NUMBERS_MAX]) {
    const char *at = name.bytes, *end = name.bytes + name.size;
    for (int n = 0; *form; form++) {
        if (*form == '*')
            return at < end;
        if (*form == '#') {
            numbers[n] = read_number(&at, end);
            if (numbers[n++] < 0)
                return false;
        } else if (at == end || *at++ != *form) {
            return false;
        }
    }
    return at == end;
}

/* Returns the number in "key=12" if the text has this key, else -1. If a slash follows the number,
 * sets *after to the number after the slash. */
static int64_t value_of(tm_text body, const char *key, int64_t *after) {
    size_t size = strlen(key);
    const char *end = body.bytes + body.size;
    for (const char *at = body.bytes; at + size < end; at++) {
        bool begins = at == body.bytes || at[-1] == ' ';
        if (!begins || memcmp(at, key, size) != 0 || at[size] != '=')
            continue;
        at += size + 1;
        int64_t value = read_number(&at, end);
        if (after && at < end && *at == '/') {
            at++;
            *after = read_number(&at, end);
        }
        return value;
    }
    return -1;
}

static int64_t sum(int64_t a, int64_t b) {
    return a < 0 || b < 0 ? -1 : a + b;
}

static tm_step_phase phase_of(int64_t prefills, int64_t decodes) {
    return prefills > 0 && decodes > 0 ? TM_STEP_MIXED
           : prefills > 0              ? TM_STEP_PREFILL
           : decodes > 0               ? TM_STEP_DECODE
                                       : TM_STEP_IDLE;
}

static void set_kind(tm_step_mark *mark, const char *word) {
    snprintf(mark->kind, sizeof mark->kind, "%s", word);
}

/* Reads vLLM's marks, for example execute_context_2(14721)_generation_0(0). The numbers are: number
 * of prefills, number of their tokens, number of decodes, number of their tokens. In the detailed
 * form, each number of requests is followed by four sums over the requests: of the query length q,
 * the key length k, q * q, and q * k. The first sum is the number of tokens. */
static bool read_vllm(tm_text name, tm_step_mark *out) {
    int64_t n[NUMBERS_MAX];
    if (has_form(name, "execute_context_#(#)_generation_#(#)", n)) {
        out->prefill = (tm_step_held){n[0], n[1]};
        out->decode = (tm_step_held){n[2], n[3]};
    } else if (has_form(name,
                        "execute_#_context_#(sq#sk#sqsq#sqsk#)_generation_#(sq#sk#sqsq#sqsk#)",
                        n)) {
        out->prefill = (tm_step_held){n[1], n[2]};
        out->decode = (tm_step_held){n[6], n[7]};
    } else {
        return false;
    }
    out->all = (tm_step_held){sum(out->prefill.batch, out->decode.batch),
                              sum(out->prefill.tokens, out->decode.tokens)};
    out->phase = phase_of(out->prefill.batch, out->decode.batch);
    set_kind(out, tm_step_phase_word(out->phase));
    return true;
}

/* Sets *body to the text between the brackets of "WORD[...]". Returns false if the name has another
 * form. */
static bool bracketed(tm_text name, const char *word, tm_text *body) {
    size_t size = strlen(word);
    if (!tm_text_begins(name, word) || name.size < size + 2 || name.bytes[size] != '[' ||
        name.bytes[name.size - 1] != ']')
        return false;
    *body = (tm_text){name.bytes + size + 1, name.size - size - 2};
    return true;
}

static tm_step_phase sglang_phase(tm_text body) {
    static const struct {
        const char *word;
        tm_step_phase phase;
    } words[] = {{"EXTEND ", TM_STEP_PREFILL},
                 {"SPLIT_PREFILL ", TM_STEP_PREFILL},
                 {"DECODE ", TM_STEP_DECODE},
                 {"MIXED ", TM_STEP_MIXED},
                 {"IDLE ", TM_STEP_IDLE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tm_text_begins(body, words[i].word))
            return words[i].phase;
    return TM_STEP_PHASE_NONE;
}

static int64_t first_known(int64_t a, int64_t b) {
    return a >= 0 ? a : b;
}

/* Reads SGLang's marks, for example step[EXTEND bs=2 toks=14721] or step[DECODE bs=64]. The
 * detailed form also has c_sq, the number of tokens of prefills, and g_sq, the number of tokens of
 * decodes. The mark of a mixed step also has c, the number of prefills, and g, the number of
 * decodes. */
static bool read_sglang(tm_text name, tm_step_mark *out) {
    tm_text body;
    if (!bracketed(name, "step", &body))
        return false;
    out->all.batch = value_of(body, "bs", NULL);
    if (out->all.batch < 0)
        return false;
    const int64_t prefill = value_of(body, "c_sq", NULL), decode = value_of(body, "g_sq", NULL);
    out->phase = sglang_phase(body);
    if (out->phase == TM_STEP_PREFILL)
        out->all.tokens = first_known(prefill, value_of(body, "toks", NULL));
    else if (out->phase == TM_STEP_DECODE)
        out->all.tokens = first_known(decode, out->all.batch);
    else
        out->all.tokens = first_known(value_of(body, "toks", NULL), sum(prefill, decode));
    if (out->phase == TM_STEP_PREFILL)
        out->prefill = out->all;
    if (out->phase == TM_STEP_DECODE)
        out->decode = out->all;
    if (out->phase == TM_STEP_MIXED) {
        out->prefill = (tm_step_held){value_of(body, "c", NULL), prefill};
        out->decode = (tm_step_held){value_of(body, "g", NULL), decode};
    }
    return true;
}

/* Reads ATOM's marks, for example prefill[bs=2 tok=14721 ctx=[7803, 6918]] or decode[bs=117/128
 * tok=117 d=117]. The number after the slash is the batch size of the captured graph. If a decode
 * also contains prefills, p is their number. */
static bool read_atom(tm_text name, tm_step_mark *out) {
    tm_text body;
    bool prefill = bracketed(name, "prefill", &body);
    if (!prefill && !bracketed(name, "decode", &body))
        return false;
    out->all.batch = value_of(body, "bs", &out->padded);
    if (out->all.batch < 0)
        return false;
    out->all.tokens = value_of(body, "tok", NULL);
    const int64_t among = value_of(body, "p", NULL);
    out->phase = prefill ? TM_STEP_PREFILL : among > 0 ? TM_STEP_MIXED : TM_STEP_DECODE;
    if (prefill)
        out->prefill = out->all;
    else if (among > 0)
        out->prefill.batch = among;
    if (!prefill)
        out->decode = (tm_step_held){first_known(value_of(body, "d", NULL), out->all.batch),
                                     among > 0 ? -1 : out->all.tokens};
    set_kind(out, prefill ? "prefill" : "decode");
    return true;
}

/* Returns whether a name marks the capture of a graph by an inference engine. Captures by other
 * programs do not count. */
static bool is_captured(tm_text name) {
    static const char *const words[] = {"decode", "prefill", "mixed",
                                        "extend", "full",    "piecewise"};
    const char *word = name.bytes + name.size;
    while (word > name.bytes && !is_digit(word[-1]))
        word--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(word + 1, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* Reads marks such as execute_diffusion_1_1024x1024 and capture_128_decode. */
static bool read_others(tm_text name, tm_step_mark *out) {
    int64_t n[NUMBERS_MAX];
    if (has_form(name, "execute_diffusion_#_#x#", n)) {
        out->phase = TM_STEP_DIFFUSION;
        out->height = n[1];
        out->width = n[2];
        set_kind(out, "diffusion");
    } else if (has_form(name, "capture_#_*", n) && is_captured(name)) {
        out->phase = TM_STEP_CAPTURE;
    } else {
        return false;
    }
    out->all.batch = n[0];
    return true;
}

tm_step_mark tm_step_mark_of(tm_text name) {
    static const tm_step_held none = {-1, -1};
    tm_step_mark mark = {
        .all = none, .prefill = none, .decode = none, .padded = -1, .height = -1, .width = -1};
    mark.engine = read_vllm(name, &mark) || read_sglang(name, &mark) || read_atom(name, &mark) ||
                  read_others(name, &mark);
    if (!mark.engine)
        mark.all = none;
    if (!*mark.kind)
        tm_step_kind_of(name, mark.kind);
    return mark;
}

const char *tm_step_phase_word(tm_step_phase phase) {
    static const char *const words[] = {
        [TM_STEP_PREFILL] = "prefill",     [TM_STEP_DECODE] = "decode",
        [TM_STEP_MIXED] = "mixed",         [TM_STEP_IDLE] = "idle",
        [TM_STEP_DIFFUSION] = "diffusion", [TM_STEP_CAPTURE] = "capture"};
    return phase == TM_STEP_PHASE_NONE ? NULL : words[phase];
}

/* Converts up to 18 digits, because no step number has more. Returns -1 if the text is empty,
 * longer, or has other characters. */
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

/* Characters that may be between the word (step) and the number. */
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

/* Recognises a mark like "step[DECODE bs=128]" of an inference engine. The numbers in the brackets
 * are not step numbers. */
static tm_step_name bracketed_name(tm_text name) {
    const char *bracket = strchr(name.bytes, '[');
    size_t stem = bracket ? (size_t)(bracket - name.bytes) : 0;
    if (!bracket || name.bytes[name.size - 1] != ']' || !ends_with_step(name.bytes, stem))
        return not_a_step;
    return (tm_step_name){TM_STEP_ALIKE, -1, tm_hash(TM_HASH_BEGIN, name.bytes, stem), false};
}

/* Recognises the mark of an inference engine, or a name that ends with the word step or iteration,
 * an optional separator, and a number. */
static tm_step_name known_name(tm_text name) {
    static const char sure[] = "ProfilerStep#";
    if (tm_step_mark_of(name).engine)
        return (tm_step_name){TM_STEP_ENGINE, -1, 0, false};
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

/* Returns the step number that belongs to a match. It is at the end of the match, directly after
 * the match, or at the end of the name. Returns -1 if there are no digits in these places. */
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

/* As names end with a zero byte, regexec can read them in place. */
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
