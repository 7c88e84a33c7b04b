/* The scanner - json.c and chrome_event.c, events of the Chrome form - is compiled once for
 * each instruction set that it can use, and the best that the processor has is taken at run time
 * (scanner.h). Each build but the portable one adds the name of its set to the functions, so
 * that all of them can be linked. */
#ifndef TMERGE_SIMD_H
#define TMERGE_SIMD_H

#define TM_SIMD_SSE2 1
#define TM_SIMD_AVX2 2

#ifndef TM_SIMD
#define TM_SIMD 0 /* portable C; the build sets it for the others */
#endif

#if TM_SIMD == TM_SIMD_SSE2
#define TM_SIMD_NAME(name) name##_sse2
#elif TM_SIMD == TM_SIMD_AVX2
#define TM_SIMD_NAME(name) name##_avx2
#endif

#if TM_SIMD
#define tm_json_utf8_valid TM_SIMD_NAME(tm_json_utf8_valid)
#define tm_json_string_rest TM_SIMD_NAME(tm_json_string_rest)
#define tm_json_literal TM_SIMD_NAME(tm_json_literal)
#define tm_json_skip TM_SIMD_NAME(tm_json_skip)
#define tm_json_skip_value TM_SIMD_NAME(tm_json_skip_value)
#define tm_json_decode TM_SIMD_NAME(tm_json_decode)
#endif

#endif
