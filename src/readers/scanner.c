#include "scanner.h"

#if defined(TM_HAS_X86_SCANNERS)
const char *tm_json_skip_sse2(tm_json_cursor *cursor, const char *p, tm_json_skip_state *state,
                              const char **resume);
const char *tm_json_skip_avx2(tm_json_cursor *cursor, const char *p, tm_json_skip_state *state,
                              const char **resume);
const char *tm_chrome_event_parse_sse2(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                       tm_chrome_event *out);
const char *tm_chrome_event_parse_avx2(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                       tm_chrome_event *out);
#endif

static const tm_scanner scanners[] = {
    {"portable", tm_chrome_event_parse, tm_json_skip},
#if defined(TM_HAS_X86_SCANNERS)
    {"sse2", tm_chrome_event_parse_sse2,
     tm_json_skip_sse2}, /* every x86-64 processor supports SSE2 */
    {"avx2", tm_chrome_event_parse_avx2, tm_json_skip_avx2},
#endif
};

const tm_scanner *tm_scanners(size_t *n) {
    *n = sizeof scanners / sizeof *scanners;
#if defined(TM_HAS_X86_SCANNERS)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        *n -= 1;
#endif
    return scanners;
}

const tm_scanner *tm_scanner_best(void) {
    size_t n;
    const tm_scanner *all = tm_scanners(&n);
    return &all[n - 1];
}
