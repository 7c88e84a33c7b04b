#include "kineto_name.h"

#include <string.h>

static const char address[] = " at 0x";
enum { ADDRESS = sizeof address - 1 };

/* The size of an address here, 0 for none. */
static size_t address_size(const char *at, const char *end) {
    size_t digits = 0;
    if (end - at <= ADDRESS || memcmp(at, address, ADDRESS) != 0)
        return 0;
    for (const char *p = at + ADDRESS; p < end && *p && strchr("0123456789abcdefABCDEF", *p); p++)
        digits++;
    return digits > 0 ? ADDRESS + digits : 0;
}

size_t tm_kineto_cut_addresses(const char *name, size_t size, char *out, size_t room) {
    const char *end = name + size, *at = name, *kept = name;
    size_t n = 0;
    while (size <= room && (at = memchr(at, ' ', (size_t)(end - at))) != NULL) {
        size_t cut = address_size(at, end);
        if (cut > 0) {
            memcpy(out + n, kept, (size_t)(at - kept));
            n += (size_t)(at - kept);
            kept = at + cut;
        }
        at += cut > 0 ? cut : 1;
    }
    if (kept == name)
        return 0;
    memcpy(out + n, kept, (size_t)(end - kept));
    return n + (size_t)(end - kept);
}
