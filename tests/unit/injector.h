/* Lets the n-th call for memory, or of the system, fail. The program is linked with --wrap for each
 * function (tests/CMakeLists.txt): calls from the project's own objects come
 * here, those inside of libraries do not. */
#ifndef TMERGE_TEST_INJECTOR_H
#define TMERGE_TEST_INJECTOR_H

#include <stdbool.h>

typedef enum injection {
    INJECT_NOTHING,
    INJECT_MEMORY,      /* the n-th request for memory fails, and none else */
    INJECT_NO_MEMORY,   /* that one and all behind it */
    INJECT_FAILURE,     /* the n-th call of the system fails with EIO */
    INJECT_INTERRUPTION /* the n-th call that waits is interrupted by a signal: EINTR */
} injection;

/** Counts from here; the n-th (from 1) and perhaps later ones fail. With 0 nothing fails, and by
 * which way of calls each is reached is noted. */
void inject(injection what, int n);

/** How many calls were noted. */
int n_recorded(void);

/** Whether the n-th noted call (from 1) is the 1st, 2nd, 4th, 8th ... that was reached by its way:
 * what is done about it is the same for the others. */
bool is_worth_failing(int n);

/** Ends that. Returns whether a call was made to fail. */
bool inject_end(void);

/** The name of the function that was made to fail last. */
const char *injected_into(void);

/** Blocks that were requested, and not freed, by the project's own objects. */
long live_blocks(void);

/** Descriptors that were opened, and not closed, by them. */
long live_files(void);

#endif
