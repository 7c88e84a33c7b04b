/* What needs no SQLite. */
#include <string.h>

#include "sql/sql.h"

void tm_sql_plain_name(const char *name, char *out, size_t size) {
    size_t n = strlen(name) < size ? strlen(name) : size - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(name[i] == '.' ? '_' : name[i]);
    out[n] = '\0';
}
