/* Progress on standard error: a line that is overwritten on a terminal, else a line now and then. A
 * thread updates it. */
#ifndef TMERGE_PROGRESS_LINE_H
#define TMERGE_PROGRESS_LINE_H

#include <stdbool.h>

struct tm_progress_state;

/** Begins to show progress. @param redraws the line may be overwritten, because standard error goes
 * to a terminal */
void tm_line_begin(bool redraws);

/** Shows the name of a phase. After a second, also shows how long the phase has taken so far.
 * @param what a static text; NULL: no phase */
void tm_line_phase(const char *what);

/** Shows a progress bar in place of the phase. The bar ends with the call in which state->ended is
 * set. */
void tm_line_bar(void *context, const struct tm_progress_state *state);

/** Ends showing progress. Does nothing if tm_line_begin was not called. */
void tm_line_end(void);

/** Remove the progress line and draw it again, so that other lines can be written to standard error
 * in between. */
void tm_line_make_room(void);
void tm_line_give_back(void);

#endif
