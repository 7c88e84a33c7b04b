#include "kernel_key.h"

#include <ctype.h>
#include <string.h>

/* The part of a name that is not yet read. */
typedef struct rest {
    const char *at;
    const char *end;
} rest;

static bool begins(rest r, const char *word) {
    const size_t size = strlen(word);
    return (size_t)(r.end - r.at) >= size && memcmp(r.at, word, size) == 0;
}

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns the start of the parameter list: the "(" that matches the ")" at the end of the name.
 * Returns the end if the name does not end in ")". */
static const char *parameters(rest r) {
    int depth = 0;
    if (r.at == r.end || r.end[-1] != ')')
        return r.end;
    for (const char *p = r.end; p-- > r.at;) {
        depth += (*p == ')') - (*p == '(');
        if (depth == 0)
            return p;
    }
    return r.end;
}

/* Returns the length of a cast such as "(int)" at the start; 0 if there is none. */
static size_t cast(rest r) {
    const char *close = *r.at == '(' ? memchr(r.at, ')', (size_t)(r.end - r.at)) : NULL;
    if (!close || close + 1 == r.end)
        return 0;
    const char *open = memchr(r.at + 1, '(', (size_t)(close - r.at - 1));
    const char next = close[1];
    return !open && (next == '-' || isdigit((unsigned char)next)) ? (size_t)(close - r.at) + 1 : 0;
}

/* Spellings and their replacements; longer spellings come first. */
static const struct {
    const char *from, *to;
} spellings[] = {
    {"(anonymous namespace)", "<unnamed>"},
    {"(anonymous_namespace)", "<unnamed>"},
    {"(bool)1", "true"},
    {"(bool)0", "false"},
    {"{", "["},
    {"}", "]"},
    {" ", ""},
};

static bool add(tm_vec *out, const char *bytes, size_t size) {
    return tm_vec_append(out, bytes, size) != NULL;
}

/* Writes the number of a lambda, "#2", as "(instance 2)". */
static bool add_instance(rest *r, tm_vec *out) {
    const char *digits = ++r->at;
    while (r->at < r->end && isdigit((unsigned char)*r->at))
        r->at++;
    return add(out, "(instance", 9) && add(out, digits, (size_t)(r->at - digits)) &&
           add(out, ")", 1);
}

/* Copies a word. Omits "const" and the suffixes of numbers. */
static bool add_word(rest *r, tm_vec *out) {
    const char *word = r->at;
    while (r->at < r->end && in_word(*r->at))
        r->at++;
    size_t size = (size_t)(r->at - word);
    if (size == 5 && memcmp(word, "const", 5) == 0)
        return true;
    if (isdigit((unsigned char)*word))
        while (size > 1 && strchr("uUlL", word[size - 1]))
            size--;
    return add(out, word, size);
}

static bool add_next(rest *r, tm_vec *out) {
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (begins(*r, spellings[i].from)) {
            r->at += strlen(spellings[i].from);
            return add(out, spellings[i].to, strlen(spellings[i].to));
        }
    if (in_word(*r->at))
        return add_word(r, out);
    if (*r->at == '#')
        return add_instance(r, out);
    const size_t type = cast(*r);
    r->at += type;
    return type > 0 || add(out, r->at++, 1);
}

bool tm_kernel_key(tm_text name, tm_vec *out) {
    rest r = {name.bytes, name.bytes + name.size};
    out->n = 0;
    /* Only names of templates have a return type, which is void for all kernels. */
    if (begins(r, "void "))
        r.at += 5;
    r.end = parameters(r);
    while (r.at < r.end)
        if (!add_next(&r, out))
            return false;
    return true;
}
