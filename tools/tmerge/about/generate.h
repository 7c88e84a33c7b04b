/* Output generated from the command table, apart from --help: manual and shell completions. */
#ifndef TMERGE_GENERATE_H
#define TMERGE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>

struct tm_command;
struct tm_option;

/** Returns all commands, in the order of --help. */
const struct tm_command *const *tm_generate_commands(size_t *n);

/** How an option's value is completed. */
typedef enum tm_values {
    TM_VALUES_NONE, /* not completed, such as a number or a pattern */
    TM_VALUES_FILE,
    TM_VALUES_WORD, /* one of the option's words; a word that ends in "=" is followed by a value */
} tm_values;

/** Returns how the value of an option is completed.
 * @param words gets the words that the value may be, each with a blank before it */
tm_values tm_generate_values(const struct tm_option *option, char *words, size_t size);

/** Print to standard output the manual, as mdoc, or the completion table of bash or zsh. */
void tm_generate_manual(void);
void tm_generate_bash(void);
void tm_generate_zsh(void);

/** Prints the output of --generate=WHAT. @p what is "man", "bash" or "zsh"; for any other word,
 * returns false. */
bool tm_generate(const char *what);

#endif
