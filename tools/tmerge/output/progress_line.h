/* Progress on standard error: a line that is overwritten if a person watches, else a line now and
 * then. A thread keeps it up to date. */
#ifndef TMERGE_PROGRESS_LINE_H
#define TMERGE_PROGRESS_LINE_H

#include <stdbool.h>

struct tm_progress_state;

/** Begins showing progress. @param redraws  the line may be overwritten, because a person
 * watches */
void tm_line_begin(bool redraws);

/** Shows a phase; after a second, also how long it takes. @p what is a static text; NULL: no phase.
 */
void tm_line_phase(const char *what);

/** Shows a progress bar instead of the phase, until a call with state->ended. */
void tm_line_bar(void *context, const struct tm_progress_state *state);

/** Ends showing progress. Does nothing if it was not begun. */
void tm_line_end(void);

/** Remove the progress line and draw it again, so that other lines can be written to standard error
 * in between. */
void tm_line_make_room(void);
void tm_line_give_back(void);

#endif
