/* The command table and the arguments of a command. One table of options drives parsing and
 * --help. */
#ifndef TMERGE_COMMAND_H
#define TMERGE_COMMAND_H

#include <stddef.h>

#include "base/list.h"
#include "tmerge/status.h"

enum { TM_OPTIONS_MAX = 32, TM_GIVEN_MAX = 256 };

typedef struct tm_option {
    const char *name;     /* without the dashes */
    char letter;          /* 0 for none */
    const char *argument; /* placeholder of the option's value in --help; NULL for a flag */
    const char *doc;
} tm_option;

struct tm_arguments;

typedef struct tm_command {
    const char *name;
    const char *usage;        /* what follows the command's name in --help */
    const char *summary;      /* one line */
    const char *operands;     /* description of the operands; NULL if `usage` says enough */
    const tm_option *options; /* without --help, which every command has */
    size_t n_options;         /* at most TM_OPTIONS_MAX */
    tm_status (*run)(const struct tm_arguments *arguments, tm_error *err);
} tm_command;

typedef struct tm_arguments {
    const tm_command *command;
    const char *values[TM_OPTIONS_MAX]; /* value of each option: "" for a flag, NULL if not given */
    struct {
        const char *name, *value;
    } given[TM_GIVEN_MAX]; /* [n_given] options in the order typed */
    size_t n_given;
    char *const *operands; /* [n_operands] arguments without options and their values */
    size_t n_operands;
    char *const *typed; /* [n_typed] arguments as typed, after the program's name; set by main */
    size_t n_typed;
} tm_arguments;

#define TM_COMMAND(name) extern const tm_command tm_command_##name;
#include "commands.def"
#undef TM_COMMAND

/** Separates options from operands.
 * @param argv [argc] operands move to the front
 * @return      TM_OK; TM_ERR_USAGE */
tm_status tm_arguments_parse(const tm_command *command, int argc, char **argv, tm_arguments *out,
                             tm_error *err) TM_MUST_CHECK;

/** Returns the value of an option ("" for a flag), or NULL if it was not given. */
const char *tm_argument(const tm_arguments *arguments, const char *name);

/** Parses the list of numbers of an option. If @p text is NULL, the list is empty, and tm_list_has
 * returns true for every number. TM_OK; TM_ERR_USAGE. */
tm_status tm_list_parse(const char *text, const char *option, tm_list *out,
                        tm_error *err) TM_MUST_CHECK;

/** Parses a number, such as the value of --top. Sets -1 if @p text is NULL. TM_OK; TM_ERR_USAGE. */
tm_status tm_count_parse(const char *text, const char *option, int64_t *out,
                         tm_error *err) TM_MUST_CHECK;

/** Parses a size [B] with an optional unit: K, M, G or T, powers of 1024. Sets 0 if @p text is
 * NULL. TM_OK; TM_ERR_USAGE, also if the size is below 1 MiB. */
tm_status tm_size_parse(const char *text, const char *option, int64_t *out,
                        tm_error *err) TM_MUST_CHECK;

#endif
