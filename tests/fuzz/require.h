/* Invariants that a fuzz target checks for every input. */
#ifndef TMERGE_FUZZ_REQUIRE_H
#define TMERGE_FUZZ_REQUIRE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, also works in release builds, which run the corpus, too. */
#define require(holds) ((holds) ? (void)0 : require_broken(__FILE__, __LINE__, #holds))

static inline void require_broken(const char *file, int line, const char *promise) {
    (void)fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

#endif
