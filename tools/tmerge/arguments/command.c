#include "command.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guess.h"

static int find_long(const tm_command *command, const char *name, size_t size) {
    for (size_t i = 0; i < command->n_options; i++)
        if (strlen(command->options[i].name) == size &&
            memcmp(command->options[i].name, name, size) == 0)
            return (int)i;
    return -1;
}

static int find_letter(const tm_command *command, char letter) {
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].letter == letter)
            return (int)i;
    return -1;
}

/* Takes the value of an option. If text is attached to the option, the value is this text;
 * otherwise it is the next argument. */
static tm_status take_value(tm_arguments *out, int option, const char *attached, char *const *next,
                            bool *used_next, tm_error *err) {
    const tm_option *o = &out->command->options[option];
    *used_next = false;
    if (!o->argument) {
        if (attached)
            return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s takes no value", o->name);
        out->values[option] = "";
        return TM_OK;
    }
    if (!attached && !*next)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s needs a value: %s", o->name, o->argument);
    *used_next = !attached;
    out->values[option] = attached ? attached : *next;
    return TM_OK;
}

/* Fails for an unknown option and suggests a similar one. */
static tm_status fail_option(const tm_command *command, const char *text, tm_error *err) {
    char name[64], hint[TM_GUESS_HINT];
    tm_guess guess = {.word = name};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text + strspn(text, "-"), "="),
             text + strspn(text, "-"));
    for (size_t i = 0; i < command->n_options && text[1] == '-'; i++)
        tm_guess_try(&guess, command->options[i].name);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "%s is not an option of tmerge %s%s; see tmerge %s --help", text, command->name,
                   tm_guess_hint(&guess, "--", hint), command->name);
}

static tm_status take_option(tm_arguments *out, char *const *argument, bool *used_next,
                             tm_error *err) {
    const tm_command *command = out->command;
    const char *text = *argument;
    int option;
    const char *attached = NULL;
    if (text[1] == '-') {
        const char *equals = strchr(text, '=');
        size_t size = equals ? (size_t)(equals - text - 2) : strlen(text) - 2;
        option = find_long(command, text + 2, size);
        attached = equals ? equals + 1 : NULL;
    } else {
        option = find_letter(command, text[1]);
        attached = text[2] ? text + 2 : NULL;
    }
    if (option < 0)
        return fail_option(command, text, err);
    if (out->n_given == TM_GIVEN_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "more than %d options", TM_GIVEN_MAX);
    TM_TRY(take_value(out, option, attached, argument + 1, used_next, err));
    out->given[out->n_given].name = command->options[option].name;
    out->given[out->n_given++].value = out->values[option];
    return TM_OK;
}

tm_status tm_arguments_parse(const tm_command *command, int argc, char **argv, tm_arguments *out,
                             tm_error *err) {
    size_t n_operands = 0;
    bool only_operands = false;
    assert(command->n_options <= TM_OPTIONS_MAX);
    *out = (tm_arguments){.command = command, .operands = argv};
    for (int i = 0; i < argc; i++) {
        bool used_next = false;
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1] != '\0') {
            TM_TRY(take_option(out, argv + i, &used_next, err));
            i += used_next;
        } else {
            argv[n_operands++] = argv[i];
        }
    }
    out->n_operands = n_operands;
    return TM_OK;
}

const char *tm_argument(const tm_arguments *arguments, const char *name) {
    int option = find_long(arguments->command, name, strlen(name));
    return option < 0 ? NULL : arguments->values[option];
}

tm_status tm_list_parse(const char *text, const char *option, tm_list *out, tm_error *err) {
    out->n = 0;
    if (!text || tm_list_read(text, out))
        return TM_OK;
    return out->n == TM_LIST_MAX
               ? tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s has too many parts", option)
               : tm_fail(err, TM_ERR_USAGE, NULL, -1,
                         "--%s takes a list such as 0,3,8-15, not '%s'", option, text);
}

tm_status tm_count_parse(const char *text, const char *option, int64_t *out, tm_error *err) {
    tm_list number;
    *out = -1;
    if (!text)
        return TM_OK;
    if (tm_list_parse(text, option, &number, err) != TM_OK || number.n != 1 ||
        number.ranges[0].first != number.ranges[0].last)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s takes one number, not '%s'", option,
                       text);
    *out = number.ranges[0].first;
    return TM_OK;
}

tm_status tm_size_parse(const char *text, const char *option, int64_t *out, tm_error *err) {
    static const char units[] = "KMGT";
    char *end = NULL;
    *out = 0;
    if (!text)
        return TM_OK;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const char *rest = unit ? end + 1 : end;
    for (ptrdiff_t i = 0; unit && i <= unit - units; i++)
        value *= 1024.0;
    if (end == text || (*rest && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0) ||
        !(value >= 1 << 20 && value < 1e18))
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--%s takes a size of 1M or more, such as 512M or 8G, not '%s'", option,
                       text);
    *out = (int64_t)value;
    return TM_OK;
}
