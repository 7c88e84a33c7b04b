#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "arguments/command.h"
#include "replay/whatif/scenario.h"
#include "tmerge/export.h"

const tm_command *const *tm_generate_commands(size_t *n) {
    static const tm_command *const commands[] = {
#define TM_COMMAND(name) &tm_command_##name,
#include "arguments/commands.def"
#undef TM_COMMAND
    };
    *n = sizeof commands / sizeof *commands;
    return commands;
}

static void add(char *words, size_t size, const char *word, const char *end) {
    size_t used = strlen(words);
    snprintf(words + used, size - used, " %s%s", word, end);
}

tm_values tm_generate_values(const tm_option *option, char *words, size_t size) {
    /* Words for the values of an option, by the placeholder that --help shows. The code below
     * handles the placeholders FORMAT and X. */
    static const char *const known[][2] = {
        {"WHEN", " auto always never"},
        {"HOW", " auto utc none"},
        {"WHAT", " rank host stage kind kernel"},
    };
    size_t n;
    *words = '\0';
    if (strncmp(option->argument, "FILE", 4) == 0)
        return TM_VALUES_FILE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(option->argument, known[i][0]) == 0)
            snprintf(words, size, "%s", known[i][1]);
    if (strcmp(option->argument, "FORMAT") == 0) {
        const tm_export_format *const *formats = tm_export_formats(&n);
        for (size_t i = 0; i < n; i++)
            add(words, size, formats[i]->name, "");
    }
    if (option->argument[0] == 'X')
        for (int i = 0; i < TM_N_CONDITIONS; i++)
            add(words, size, tm_condition_words[i], "=");
    return *words ? TM_VALUES_WORD : TM_VALUES_NONE;
}

bool tm_generate(const char *what) {
    static const struct {
        const char *name;
        void (*print)(void);
    } kinds[] = {{"man", tm_generate_manual}, {"bash", tm_generate_bash}, {"zsh", tm_generate_zsh}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(what, kinds[i].name) == 0) {
            kinds[i].print();
            return true;
        }
    return false;
}
