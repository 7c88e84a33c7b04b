/* What a person sees: messages on standard error, and whether standard output gets colours. */
#ifndef TMERGE_CONSOLE_H
#define TMERGE_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "tmerge/status.h"

/** Escape sequences, or empty strings where there is no colour. */
typedef struct tm_colors {
    const char *strong, *warning, *off;
} tm_colors;

/** True where this process speaks for the job: process 0, or the only one. */
bool tm_console_speaks(void);

/**
 * Decides colours for a stream (1 or 2).
 * @param choice  the value of --color: "always", "never", or NULL and "auto", which asks whether a
 *                person looks on; NO_COLOR turns that off
 * @return        TM_OK; TM_ERR_USAGE for another word
 */
tm_status tm_console_colors(const char *choice, int stream, tm_colors *out,
                            tm_error *err) TM_MUST_CHECK;

/** Whether progress is shown.
 * @param choice  the value of --progress: "always", "never", or NULL and "auto": where a person
 * looks on at standard error
 * @param quiet   -q was given: never, whatever the choice
 * @return        TM_OK; TM_ERR_USAGE for another word */
tm_status tm_console_progress(const char *choice, bool quiet, bool *out,
                              tm_error *err) TM_MUST_CHECK;

/** Whether what stands on standard error may be drawn over: a person looks on. */
bool tm_console_redraws(void);

/** Columns of the terminal: COLUMNS, else those of standard output where it is one, else 80. */
int tm_console_width(void);

/** Prints a text to standard output, broken at blanks. Every line begins with two of them, save
 * what stands on it already, @p column characters. */
void tm_console_wrap(const char *text, int column, int width);

/** How many lines that takes. */
int tm_console_lines(const char *text, int column, int width);

/** Prints @p left, and from column @p at on a text, which goes on below where it began, to the
 * width of the terminal. Where left reaches so far the text is a blank behind it. */
void tm_console_beside(FILE *stream, const char *left, int at, const char *text);

/** Prints a line to standard error, which a terminal has broken at blanks to its width. */
void tm_console_say(const char *text);

/** Prints "tmerge: MESSAGE" so. */
void tm_console_error(const tm_error *err);
void tm_console_warn(const char *format, ...) TM_PRINTF(1, 2);

#endif
