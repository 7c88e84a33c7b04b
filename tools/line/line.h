/* The line on standard error that shows what a run is at: one for the program, drawn over itself
 * where a person looks on, else lines now and then. A thread keeps it moving. */
#ifndef TMERGE_LINE_H
#define TMERGE_LINE_H

#include <stdbool.h>

struct tm_progress_state;

/** Begins to show, with nothing at first. @param redraws  a person looks on */
void tm_line_begin(bool redraws);

/** Shows what is being done, and from the first second on for how long; @p what, a static text, is
 * NULL: nothing. */
void tm_line_phase(const char *what);

/** Shows how far a phase has come, in place of its name, until @p state has ended. */
void tm_line_bar(void *context, const struct tm_progress_state *state);

/** Shows nothing any more. May be called where nothing was begun. */
void tm_line_end(void);

/** Between the two other lines may be written to standard error. */
void tm_line_make_room(void);
void tm_line_give_back(void);

#endif
