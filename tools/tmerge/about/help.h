/* Help texts, also for likely mistakes on the command line. */
#ifndef TMERGE_ABOUT_HELP_H
#define TMERGE_ABOUT_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "arguments/command.h"

/** Returns the command of a name, or NULL. */
const tm_command *tm_help_find(const char *name);

/** Prints every command with its operands. */
void tm_help_usage(FILE *stream);

/** Prints the --help of a command. */
void tm_help_command(const tm_command *command);

/** Prints the answer to "tmerge help", with or without a command. TM_OK; TM_ERR_USAGE. */
tm_status tm_help_print(int n, char *const *words, tm_error *err) TM_MUST_CHECK;

/** Returns whether a command line without a command is a request for help and not a merge. This is
 * so if all arguments are stores, or if the first argument looks like a command and no file has
 * that name. */
bool tm_help_is_asked(int n, char *const *words);

/** Prints the help for which tm_help_is_asked returned true. Always fails with TM_ERR_USAGE; the
 * error has no message if this function has printed everything. */
tm_status tm_help_answer(int n, char *const *words, tm_error *err) TM_MUST_CHECK;

#endif
