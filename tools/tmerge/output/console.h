/* Messages on standard error, colours, progress and line wrapping. */
#ifndef TMERGE_CONSOLE_H
#define TMERGE_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "tmerge/status.h"

/** Escape sequences; empty strings without colours. */
typedef struct tm_colors {
    const char *strong, *warning, *off;
} tm_colors;

/** Returns whether this process prints for the job: it is process 0, or the only process. */
bool tm_console_speaks(void);

/** Decides on colours for a stream (1 or 2).
 * @param choice the value of --color: "always"; "never"; "auto" or NULL: colours if the stream is a
 * terminal and NO_COLOR is not set
 * @return        TM_OK; TM_ERR_USAGE for another word */
tm_status tm_console_colors(const char *choice, int stream, tm_colors *out,
                            tm_error *err) TM_MUST_CHECK;

/** Decides whether progress is shown.
 * @param choice the value of --progress: "always"; "never"; "auto" or NULL: progress if standard
 * error is a terminal
 * @param quiet -q was given: no progress, whatever the choice
 * @return        TM_OK; TM_ERR_USAGE for another word */
tm_status tm_console_progress(const char *choice, bool quiet, bool *out,
                              tm_error *err) TM_MUST_CHECK;

/** Returns whether text on standard error may be overwritten, because it goes to a terminal. */
bool tm_console_redraws(void);

/** Returns the width for standard output: COLUMNS if it is set, else the terminal's width, else 80.
 */
int tm_console_width(void);

/** Prints a text to standard output, wrapped at blanks and indented by two. If @p column is not 0,
 * this many characters are already on the line, and the text continues there. */
void tm_console_wrap(const char *text, int column, int width);

/** Returns the number of lines that tm_console_wrap prints. */
int tm_console_lines(const char *text, int column, int width);

/** Prints @p left, and to the right of it a text that starts at column @p at and is wrapped to the
 * terminal's width. If @p left reaches beyond this column, the text follows after a blank. */
void tm_console_beside(FILE *stream, const char *left, int at, const char *text);

/** Prints a line to standard error. Wraps it if standard error is a terminal. */
void tm_console_say(const char *text);

/** Print "tmerge: MESSAGE" and "tmerge: warning: MESSAGE", wrapped as by tm_console_say. */
void tm_console_error(const tm_error *err);
void tm_console_warn(const char *format, ...) TM_PRINTF(1, 2);

/** Warns that a table or an analysis has a new name, if @p name was its name in the previous
 * version. */
void tm_console_renamed(const char *name);

#endif
