/* What is told to who asks for help, or seems to need it. */
#ifndef TMERGE_ABOUT_HELP_H
#define TMERGE_ABOUT_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

/** The command of a name, or NULL. */
const tm_command *tm_help_find(const char *name);

/** Every command with its operands. */
void tm_help_usage(FILE *stream);

/** What --help of a command prints. */
void tm_help_command(const tm_command *command);

/** What follows "tmerge help": nothing, or a command. TM_OK; TM_ERR_USAGE. */
tm_status tm_help_print(int n, char *const *words, tm_error *err) TM_MUST_CHECK;

/** Whether arguments without a command are no traces: a word that is no file and near a command, or
 * stores alone, with which other commands can do something. */
bool tm_help_is_asked(int n, char *const *words);

/** Says so to those. TM_ERR_USAGE, without a message where all was said. */
tm_status tm_help_answer(int n, char *const *words, tm_error *err) TM_MUST_CHECK;

#endif
