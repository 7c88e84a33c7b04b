/* What is made of the command table besides --help: the manual and the shells' completions. */
#ifndef TMERGE_GENERATE_H
#define TMERGE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>

struct tm_command;
struct tm_option;

/** All commands, in the order of --help. */
const struct tm_command *const *tm_generate_commands(size_t *n);

/** What completes the value of an option. */
typedef enum tm_values {
    TM_VALUES_NONE, /* nothing that is known: a number, a pattern */
    TM_VALUES_FILE,
    TM_VALUES_WORD, /* one of its words; one that ends in "=" has more behind it */
} tm_values;

/** @p words: room for those of an option, behind blanks. */
tm_values tm_generate_values(const struct tm_option *option, char *words, size_t size);

/** Prints to standard output the manual, as mdoc; "bash" or "zsh": what completes command lines
 * there. */
void tm_generate_manual(void);
void tm_generate_bash(void);
void tm_generate_zsh(void);

/** Prints "man", "bash" or "zsh". False where @p what is neither. */
bool tm_generate(const char *what);

#endif
