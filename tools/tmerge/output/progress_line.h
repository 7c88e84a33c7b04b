/* Progress line on standard error: overwritten in place if a person watches, else printed now
 * and then. A thread keeps it up to date. */
#ifndef TMERGE_PROGRESS_LINE_H
#define TMERGE_PROGRESS_LINE_H

#include <stdbool.h>

struct tm_progress_state;

/** Begins showing progress. @param redraws  the line may be overwritten, because a person
 * watches */
void tm_line_begin(bool redraws);

/** Shows a phase, from the first second with its duration. @p what is a static text; NULL: none. */
void tm_line_phase(const char *what);

/** Shows a progress bar in place of the phase's name, until a call with state->ended. */
void tm_line_bar(void *context, const struct tm_progress_state *state);

/** Ends showing progress. Allowed if it was never started. */
void tm_line_end(void);

/** Remove and redraw the progress line. Other lines may be written to standard error in between. */
void tm_line_make_room(void);
void tm_line_give_back(void);

#endif
