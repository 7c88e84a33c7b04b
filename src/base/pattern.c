#include "pattern.h"

tm_status tm_pattern_compile(const char *pattern, int flags, regex_t *out, tm_error *err) {
    int code = regcomp(out, pattern, REG_EXTENDED | REG_ICASE | flags);
    if (code == 0)
        return TM_OK;
    if (code == REG_ESPACE)
        return tm_fail_memory(err);
    char reason[128];
    regerror(code, out, reason, sizeof reason);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1, "'%s' is not a regular expression: %s", pattern,
                   reason);
}
