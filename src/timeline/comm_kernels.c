#include "comm_kernels.h"

#include <string.h>

#include "base/letters.h"

enum { BY_WORDS = 0x100, NAME_ROOM = 512, TEXT_ROOM = 4096, N_STARTS = 128 };

/* Where a pattern is searched for: only in the name, or also in the arguments. */
enum { IN_NAME, IN_TEXT };

typedef struct row {
    tm_kernel_class class;
    int where;
    int kind; /* a tm_collective_kind; BY_WORDS: the kind that the words of the name give */
    const char *pattern;
} row;

#define TM_COLL_BY_WORDS BY_WORDS
#define COMM_KERNEL(class, where, kind, pattern)                                                   \
    {TM_KERNEL_##class, IN_##where, TM_COLL_##kind, pattern},

static const row rows[] = {
#include "comm_kernels.def"
};

/* A normalised name: words in lower case, with "_" between words and ":" around each part of the
 * name. */
typedef struct words {
    char *out;
    size_t n, room;
    char previous; /* the previous character of the name; '\0' at the start of a part */
} words;

static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static words words_begin(char *out, size_t room) {
    out[0] = ':';
    return (words){.out = out, .n = 1, .room = room};
}

static void put(words *w, char c) {
    if (w->n + 2 < w->room)
        w->out[w->n++] = c;
}

static void end_word(words *w) {
    char last = w->out[w->n - 1];
    if (last != ':' && last != '_')
        put(w, '_');
}

static void end_part(words *w) {
    if (w->out[w->n - 1] == '_')
        w->n--;
    if (w->out[w->n - 1] != ':')
        put(w, ':');
    w->previous = '\0';
}

/* Adds a character. A capital starts a word after a small letter (all|Reduce). It also starts a
 * word before a small letter, after capitals or digits (RMS|Norm, V1|Kernel). So A2A is one
 * word. */
static void add(words *w, char c, char next) {
    if (is_upper(c)) {
        if (is_lower(w->previous) ||
            ((is_upper(w->previous) || is_digit(w->previous)) && is_lower(next)))
            end_word(w);
        put(w, (char)(c - 'A' + 'a'));
    } else if (is_lower(c) || is_digit(c)) {
        put(w, c);
    } else if (c == '_' || c == '-') {
        end_word(w);
    } else {
        end_part(w);
        return;
    }
    w->previous = c;
}

static void words_end(words *w) {
    end_part(w);
    w->out[w->n] = '\0';
}

static void add_all(words *w, const char *bytes, size_t size) {
    for (size_t i = 0; i < size && w->n + 2 < w->room; i++)
        add(w, bytes[i], i + 1 < size ? bytes[i + 1] : '\0');
}

/* Adds the parts of a mangled name such as _ZN7deep_ep9intranode8dispatchILi8EEEvPi. Returns false
 * if the name is not mangled. */
static bool add_mangled(words *w, const char *bytes, size_t size) {
    size_t i = 2;
    if (size < 3 || memcmp(bytes, "_Z", 2) != 0)
        return false;
    /* A name that does not start with N has a single part. The types of the parameters follow. */
    bool nested = bytes[i] == 'N';
    while (i < size && !is_digit(bytes[i])) /* skip N, K, L and St: nested, const, static, std */
        if (i++ > 6)
            return false;
    for (bool first = true; i < size && is_digit(bytes[i]) && (first || nested); first = false) {
        size_t length = 0;
        for (; i < size && is_digit(bytes[i]) && length < size; i++)
            length = 10 * length + (size_t)(bytes[i] - '0');
        if (length > size - i)
            break; /* truncated */
        bool unnamed = length >= 7 && memcmp(bytes + i, "_GLOBAL", 7) == 0;
        if (!unnamed) { /* Leave out an anonymous namespace: its mangled name contains the file's
                           name. */
            add_all(w, bytes + i, length);
            end_part(w);
        }
        i += length;
        if (i < size && bytes[i] == 'L')
            i++;
    }
    return true;
}

/* Adds the namespaces and the function of a demangled name. Leaves out return type, template
 * arguments and parameters. */
static void add_demangled(words *w, const char *bytes, size_t size) {
    static const char unnamed[] = "(anonymous namespace)", call[] = "operator()";
    bool typed = memchr(bytes, '(', size) != NULL || memchr(bytes, '<', size) != NULL;
    int depth = 0;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i];
        if (c == '>' && depth > 0 && bytes[i - 1] != '-') {
            depth--;
        } else if (c == '<') {
            depth++;
        } else if (depth > 0) {
            continue;
        } else if (tm_begins_with(bytes + i, size - i, unnamed)) {
            i += sizeof unnamed - 2;
        } else if (tm_begins_with(bytes + i, size - i, call)) {
            i += sizeof call - 2;
        } else if (c == '(') {
            break;
        } else if (c == ' ' && typed) {
            w->n = 1;
            w->previous = '\0';
        } else {
            add(w, c, i + 1 < size ? bytes[i + 1] : '\0');
        }
    }
}

static bool matches_here(const char *pattern, const char *text);

/* Returns whether the pattern matches at this position or at any later one. Looks for the pattern's
 * first letter, which skips most of a long name. */
static bool matches_later(const char *pattern, const char *text) {
    for (; (text = strchr(text, *pattern)) != NULL; text++)
        if (matches_here(pattern, text))
            return true;
    return false;
}

static bool matches_here(const char *pattern, const char *text) {
    for (; *pattern; pattern++) {
        if (*pattern == '*')
            return matches_later(pattern + 1, text);
        if (*pattern == '_')
            text += *text == '_';
        else if (*pattern != *text++)
            return false;
    }
    return true;
}

/* Positions of word starts in a normalised name. */
typedef struct starts {
    const char *at[N_STARTS];
    size_t n;
} starts;

static void find_starts(const char *name, starts *out) {
    out->n = 0;
    for (char last = ':'; *name && out->n < N_STARTS; last = *name++)
        if (last == ':' || last == '_')
            out->at[out->n++] = name;
}

static bool matches(const row *r, const char *name, const starts *begins, const char *text) {
    const char *pattern = r->pattern;
    if (*pattern == '*' || *pattern == ':')
        return matches_later(pattern + (*pattern == '*'), r->where == IN_TEXT ? text : name);
    for (size_t i = 0; i < begins->n; i++)
        if (*begins->at[i] == *pattern && matches_here(pattern, begins->at[i]))
            return true;
    return false;
}

void tm_letters_of(const char *bytes, size_t size, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < size && n + 1 < TM_LETTERS; i++) {
        char c = bytes[i];
        if (is_upper(c))
            c = (char)(c - 'A' + 'a');
        if (is_lower(c))
            out[n++] = c;
    }
    out[n] = '\0';
}

tm_collective_kind tm_collective_kind_in(const char *letters) {
    /* The first word that matches counts. So "allreduce" must come before "reduce", for example. */
    static const struct {
        const char *word;
        tm_collective_kind kind;
    } meant[] = {
        {"sendrecv", TM_COLL_SENDRECV},   {"collectivepermute", TM_COLL_SENDRECV},
        {"allreduce", TM_COLL_ALLREDUCE}, {"reducescatter", TM_COLL_REDUCESCATTER},
        {"allgather", TM_COLL_ALLGATHER}, {"alltoall", TM_COLL_ALLTOALL},
        {"broadcast", TM_COLL_BROADCAST}, {"barrier", TM_COLL_BARRIER},
        {"gather", TM_COLL_GATHER},       {"scatter", TM_COLL_SCATTER},
        {"reduce", TM_COLL_REDUCE},       {"send", TM_COLL_SEND},
        {"recv", TM_COLL_RECV},
    };
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strstr(letters, meant[i].word))
            return meant[i].kind;
    return TM_COLL_OTHER;
}

static tm_collective_kind kind_of_row(const row *r, const words *name) {
    char letters[TM_LETTERS];
    if (r->kind != BY_WORDS)
        return (tm_collective_kind)r->kind;
    tm_letters_of(name->out, name->n, letters);
    return tm_collective_kind_in(letters);
}

tm_kernel_kind tm_kernel_kind_of(const char *bytes, size_t size) {
    char name[NAME_ROOM], text[TEXT_ROOM];
    starts begins;
    words n = words_begin(name, sizeof name), t = words_begin(text, sizeof text);
    if (!add_mangled(&n, bytes, size))
        add_demangled(&n, bytes, size);
    words_end(&n);
    add_all(&t, bytes, size);
    words_end(&t);
    find_starts(name, &begins);
    for (const row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
        if (matches(r, name, &begins, text))
            return (tm_kernel_kind){r->class, kind_of_row(r, &n)};
    return (tm_kernel_kind){TM_KERNEL_UNKNOWN, TM_COLL_OTHER};
}
