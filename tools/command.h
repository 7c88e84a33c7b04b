/* The command table, and the arguments of a command: one row makes parsing and --help. */
#ifndef TMERGE_COMMAND_H
#define TMERGE_COMMAND_H

#include <stddef.h>

#include "base/list.h"
#include "tmerge/status.h"

enum { TM_OPTIONS_MAX = 24, TM_GIVEN_MAX = 256 };

typedef struct tm_option {
    const char *name;     /* without the dashes */
    char letter;          /* 0 for none */
    const char *argument; /* what stands for its value in --help, NULL for a flag */
    const char *doc;
} tm_option;

struct tm_arguments;

typedef struct tm_command {
    const char *name;
    const char *usage;        /* what follows the name */
    const char *summary;      /* one line */
    const char *operands;     /* what they may be, in sentences; NULL where the usage says it */
    const tm_option *options; /* besides --help, which every command has */
    size_t n_options;         /* at most TM_OPTIONS_MAX */
    tm_status (*run)(const struct tm_arguments *arguments, tm_error *err);
} tm_command;

typedef struct tm_arguments {
    const tm_command *command;
    const char *values[TM_OPTIONS_MAX]; /* by option: its value, "" for a flag, NULL if absent */
    struct {
        const char *name, *value;
    } given[TM_GIVEN_MAX]; /* [n_given] options in the order in which they were typed */
    size_t n_given;
    char *const *operands; /* [n_operands] what is no option, in order */
    size_t n_operands;
    char *const *typed; /* [n_typed] all of them behind the program, as typed; set by main */
    size_t n_typed;
} tm_arguments;

#define TM_COMMAND(name) extern const tm_command tm_command_##name;
#include "commands.def"
#undef TM_COMMAND

/**
 * Sorts arguments into options and operands.
 * @param argv  [argc] operands are moved to its front
 * @return      TM_OK; TM_ERR_USAGE
 */
tm_status tm_arguments_parse(const tm_command *command, int argc, char **argv, tm_arguments *out,
                             tm_error *err) TM_MUST_CHECK;

/** The value of an option by its name ("" for a flag), or NULL where it was not given. */
const char *tm_argument(const tm_arguments *arguments, const char *name);

/** The list of an option, as typed behind it; without @p text the empty one, which tm_list_has
 * takes for all. TM_OK; TM_ERR_USAGE. */
tm_status tm_list_parse(const char *text, const char *option, tm_list *out,
                        tm_error *err) TM_MUST_CHECK;

/** One number, such as of --top; -1 where @p text is NULL. TM_OK; TM_ERR_USAGE. */
tm_status tm_count_parse(const char *text, const char *option, int64_t *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
