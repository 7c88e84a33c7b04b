#include "xplane_fixture.h"

#include <stdio.h>

enum { WORDS_MAX = 24, IDS_MAX = 256 };

/* Names in a plane, numbered from 1. Names of event metadata also have their encoded body. */
typedef struct ids {
    char *names[IDS_MAX];
    tm_vec bodies[IDS_MAX];
    size_t n;
} ids;

typedef struct plane {
    tm_vec head, lines, line, stats;
    ids events, stat_names;
    bool open, in_line;
} plane;

static void put(tm_vec *out, const void *bytes, size_t size) {
    assert_true(size == 0 || tm_vec_append(out, bytes, size));
}

static void put_varint(tm_vec *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        put(out, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    put(out, &(uint8_t){(uint8_t)value}, 1);
}

static void put_number(tm_vec *out, unsigned field, uint64_t value) {
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void put_bytes(tm_vec *out, unsigned field, const void *bytes, size_t size) {
    put_varint(out, field << 3 | 2);
    put_varint(out, size);
    put(out, bytes, size);
}

/* Writes a message as a field and empties it. */
static void close_into(tm_vec *out, unsigned field, tm_vec *message) {
    put_bytes(out, field, message->data, message->n);
    tm_vec_free(message);
}

static uint64_t id_of(ids *all, const char *name) {
    size_t i = 0;
    while (i < all->n && strcmp(all->names[i], name) != 0)
        i++;
    if (i == all->n) {
        assert_true(i < IDS_MAX);
        all->names[i] = strdup(name);
        all->bodies[i] = TM_VEC(uint8_t);
        all->n++;
    }
    return i + 1;
}

static void put_stat(plane *p, tm_vec *out, unsigned field, const char *word) {
    tm_vec stat = TM_VEC(uint8_t);
    const char *value = strchr(word, '=') + 1;
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)(value - 1 - word), word);
    put_number(&stat, 1, id_of(&p->stat_names, key));
    if (*value == '\'' || *value == '#')
        put_bytes(&stat, *value == '#' ? 6 : 5, value + 1, strlen(value + 1));
    else if (*value == '&')
        put_number(&stat, 7, id_of(&p->stat_names, value + 1));
    else if (*value == 'd') {
        double real = strtod(value + 1, NULL);
        put_varint(&stat, 2 << 3 | 1);
        put(&stat, &real, sizeof real); /* little-endian, as all machines that tmerge runs on */
    } else {
        put_number(&stat, *value == 'u' ? 3 : 4,
                   *value == 'u' ? strtoull(value + 1, NULL, 10)
                                 : (uint64_t)strtoll(value, NULL, 10));
    }
    close_into(out, field, &stat);
}

static void put_ids(tm_vec *out, unsigned field, ids *all, bool events) {
    for (size_t i = 0; i < all->n; i++) {
        tm_vec value = TM_VEC(uint8_t), entry = TM_VEC(uint8_t);
        put_number(&value, 1, i + 1);
        put_bytes(&value, 2, all->names[i], strlen(all->names[i]));
        if (events)
            put(&value, all->bodies[i].data, all->bodies[i].n);
        put_number(&entry, 1, i + 1);
        close_into(&entry, 2, &value);
        close_into(out, field, &entry);
        tm_vec_free(&all->bodies[i]);
        free(all->names[i]);
    }
    all->n = 0;
}

static void close_line(plane *p) {
    if (p->in_line)
        close_into(&p->lines, 3, &p->line);
    p->in_line = false;
}

static void close_plane(plane *p, tm_vec *out) {
    close_line(p);
    if (p->open) {
        put(&p->head, p->lines.data, p->lines.n);
        put_ids(&p->head, 4, &p->events, true);
        put_ids(&p->head, 5, &p->stat_names, false);
        put(&p->head, p->stats.data, p->stats.n);
        close_into(out, 1, &p->head);
        tm_vec_free(&p->lines);
        tm_vec_free(&p->stats);
    }
    p->open = false;
}

static void put_event(plane *p, char **words, int n, bool timed) {
    tm_vec event = TM_VEC(uint8_t);
    int first = timed ? 4 : 3;
    put_number(&event, 1, id_of(&p->events, words[1]));
    put_number(&event, timed ? 2 : 5, (uint64_t)strtoll(words[2], NULL, 10));
    if (timed)
        put_number(&event, 3, (uint64_t)strtoll(words[3], NULL, 10));
    for (int i = first; i < n; i++)
        put_stat(p, &event, 4, words[i]);
    close_into(&p->line, 4, &event);
}

static void take_line(plane *p, tm_vec *out, char **words, int n) {
    if (strcmp(words[0], "plane") == 0) {
        close_plane(p, out);
        *p = (plane){.head = TM_VEC(uint8_t),
                     .lines = TM_VEC(uint8_t),
                     .line = TM_VEC(uint8_t),
                     .stats = TM_VEC(uint8_t),
                     .open = true};
        put_bytes(&p->head, 2, words[1], strlen(words[1]));
        for (int i = 2; i < n; i++)
            put_stat(p, &p->stats, 6, words[i]);
    } else if (strcmp(words[0], "line") == 0) {
        close_line(p);
        p->line = TM_VEC(uint8_t);
        p->in_line = true;
        put_number(&p->line, 1, (uint64_t)strtoll(words[1], NULL, 10));
        put_bytes(&p->line, 2, words[3], strlen(words[3]));
        put_number(&p->line, 3, (uint64_t)strtoll(words[2], NULL, 10));
    } else if (strcmp(words[0], "meta") == 0) {
        uint64_t id = id_of(&p->events, words[1]);
        for (int i = 2; i < n; i++)
            put_stat(p, &p->events.bodies[id - 1], 5, words[i]);
    } else if (strcmp(words[0], "shown") == 0) {
        uint64_t id = id_of(&p->events, words[1]);
        put_bytes(&p->events.bodies[id - 1], 4, words[2], strlen(words[2]));
    } else if (strcmp(words[0], "event") == 0 || strcmp(words[0], "times") == 0) {
        put_event(p, words, n, words[0][0] == 'e');
    } else {
        close_plane(p, out);
        put_bytes(out,
                  words[0][0] == 'e'   ? 2
                  : words[0][0] == 'w' ? 3
                                       : 4,
                  words[1], strlen(words[1]));
    }
}

tm_vec space_of(const char *text) {
    tm_vec out = TM_VEC(uint8_t);
    plane p = {.open = false};
    char *copy = strdup(text), *line_end = NULL;
    for (char *line = strtok_r(copy, "\n", &line_end); line;
         line = strtok_r(NULL, "\n", &line_end)) {
        static char none[] = "";
        char *words[WORDS_MAX], *word_end = NULL;
        int n = 0;
        for (int i = 0; i < WORDS_MAX; i++)
            words[i] = none;
        for (char *word = strtok_r(line, " ", &word_end); word;
             word = strtok_r(NULL, " ", &word_end)) {
            assert_true(n < WORDS_MAX);
            for (char *c = word; *c; c++)
                *c = *c == '~' ? ' ' : *c;
            words[n++] = word;
        }
        if (n > 0)
            take_line(&p, &out, words, n);
    }
    close_plane(&p, &out);
    free(copy);
    return out;
}
