/* The scanner (json.c and chrome_event.c) is compiled once per instruction set, and the best one
 * for the processor is selected at run time (scanner.h). Every build except the portable one adds
 * its instruction set to the function names, so that all can be linked. */
#ifndef TMERGE_SIMD_H
#define TMERGE_SIMD_H

#define TM_SIMD_SSE2 1
#define TM_SIMD_AVX2 2

#ifndef TM_SIMD
#define TM_SIMD 0 /* portable C; CMake defines TM_SIMD for the other builds */
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
