#include "kineto_name.h"

#include <ctype.h>
#include <string.h>

static const char before[] = " at ";
enum { BEFORE = sizeof before - 1 };

const char *tm_kineto_find_address(const char *name, size_t size) {
    const char *end = name + size, *from = name, *at;
    /* The search is for the 0 of the address, because it is rarer than the space before it. */
    while ((at = memchr(from, '0', (size_t)(end - from))) != NULL) {
        if (end - at > 2 && at[1] == 'x' && isxdigit((unsigned char)at[2]) && at - name >= BEFORE &&
            memcmp(at - BEFORE, before, BEFORE) == 0)
            return at - BEFORE;
        from = at + 1;
    }
    return NULL;
}

size_t tm_kineto_cut_addresses(const char *name, size_t size, char *out) {
    const char *end = name + size, *at;
    size_t n = 0;
    while ((at = tm_kineto_find_address(name, (size_t)(end - name))) != NULL) {
        memcpy(out + n, name, (size_t)(at - name));
        n += (size_t)(at - name);
        for (name = at + BEFORE + 2; name < end && isxdigit((unsigned char)*name);)
            name++;
    }
    memcpy(out + n, name, (size_t)(end - name));
    return n + (size_t)(end - name);
}
