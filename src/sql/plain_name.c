/* The functions of sql.h that do not need SQLite. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sql/sql.h"
#include "table/renamed.h"

void tm_sql_plain_name(const char *name, char *out, size_t size) {
    size_t n = strlen(name) < size ? strlen(name) : size - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(name[i] == '.' ? '_' : name[i]);
    out[n] = '\0';
}

/* Returns the length of a token that cannot name a table: blank, quoted, comment, operator. */
static size_t skip_other(const char *at) {
    const char close = (char)(*at == '[' ? ']' : *at);
    const char *end = NULL;
    if (strchr("'\"`[", *at))
        end = strchr(at + 1, close);
    else if (strncmp(at, "--", 2) == 0)
        end = strchr(at, '\n');
    else if (strncmp(at, "/*", 2) == 0 && (end = strstr(at + 2, "*/")) != NULL)
        end++;
    else
        return 1;
    return end ? (size_t)(end - at) + 1 : strlen(at);
}

/* Returns the length of an unquoted name; 0 if none starts here. */
static size_t name_size(const char *at) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *at >= '0' && *at <= '9' ? 0 : strspn(at, letters);
}

static bool is_word(const char *at, size_t size, const char *word) {
    return strlen(word) == size && strncasecmp(at, word, size) == 0;
}

static bool is_table(const tm_tables *tables, const char *at, size_t size) {
    for (size_t t = 0; t < tables->n_tables; t++)
        if (!tables->tables[t].def->internal && is_word(at, size, tables->tables[t].def->name))
            return true;
    for (size_t i = 0; i < tm_n_renames; i++)
        if (is_word(at, size, tm_renames[i].was))
            return true;
    return false;
}

bool tm_sql_write_names(char *statement, const tm_tables *tables) {
    bool changed = false, table_follows = false;
    for (char *at = statement; *at != '\0';) {
        size_t size = name_size(at),
               rest = size > 0 && at[size] == '.' ? name_size(at + size + 1) : 0;
        bool blank = strchr(" \t\r\n(", *at) != NULL;
        if (size == 0) {
            table_follows = blank ? table_follows : *at == ',';
            at += skip_other(at);
            continue;
        }
        size_t whole = size + 1 + rest;
        if (rest > 0 && (table_follows || at[whole] == '.') && is_table(tables, at, whole)) {
            at[size] = '_';
            changed = true;
        }
        table_follows = is_word(at, size, "from") || is_word(at, size, "join");
        at += rest > 0 ? whole : size;
    }
    return changed;
}
