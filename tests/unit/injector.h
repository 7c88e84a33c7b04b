/* Makes the n-th memory request or system call fail. The program is linked with --wrap for each
 * function (tests/CMakeLists.txt): only calls from the project's own objects are intercepted, not
 * those inside libraries. */
#ifndef TMERGE_TEST_INJECTOR_H
#define TMERGE_TEST_INJECTOR_H

#include <stdbool.h>

typedef enum injection {
    INJECT_NOTHING,
    INJECT_MEMORY,      /* only the n-th request for memory fails */
    INJECT_NO_MEMORY,   /* the n-th request and all later ones fail */
    INJECT_FAILURE,     /* the n-th system call fails with EIO */
    INJECT_INTERRUPTION /* the n-th blocking call is interrupted by a signal: EINTR */
} injection;

/** Restarts counting. The n-th call (from 1) then fails, and also later calls if @p what says so.
 * If n is 0, no call fails, and the call stack of each call is recorded. */
void inject(injection what, int n);

int n_recorded(void);

/** Returns whether the n-th recorded call (from 1) is worth a test: it is the 1st, 2nd, 4th, 8th
 * ... call with its call stack. Errors of other calls are handled in the same way. */
bool is_worth_failing(int n);

/** Ends the injection. Returns whether a call was made to fail. */
bool inject_end(void);

/** Returns the name of the function that failed last. */
const char *injected_into(void);

/** Returns the number of blocks that the project's own objects allocated and did not free. */
long live_blocks(void);

/** Returns the number of descriptors that the project's own objects opened and did not close. */
long live_files(void);

#endif
