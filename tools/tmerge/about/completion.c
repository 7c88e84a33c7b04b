/* Writes the command table for bash and zsh. With it, completion.bash and completion.zsh
 * complete command lines without running tmerge. */
#include <stdio.h>
#include <string.h>

#include "about/generate.h"
#include "arguments/command.h"
#include "tmerge/analysis.h"

enum { WORDS_MAX = 512 };

/* Prints all names that can follow STORE in `tmerge show STORE`. */
static void print_names(void) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t i = 0; i < n; i++) {
        printf(" %s", analyses[i]->name);
        for (size_t t = 0; t < analyses[i]->n_tables; t++)
            if (!analyses[i]->tables[t]->internal)
                printf(" %s", analyses[i]->tables[t]->name);
    }
}

/* Returns the word by which the completion scripts know the operands of a command: "names" or
 * "name" if names of tables or analyses follow the store, otherwise the kind of the first
 * operand. */
static const char *operands_of(const tm_command *command) {
    return strstr(command->usage, "ANALYSIS")         ? "names"
           : strstr(command->usage, "NAME...")        ? "name"
           : strncmp(command->usage, "STORE", 5) == 0 ? "store"
           : strncmp(command->usage, "TRACE", 5) == 0 ? "trace"
                                                      : "none";
}

static void print_bash_options(const tm_command *command) {
    printf("    %s) operands=%s options='", command->name, operands_of(command));
    for (size_t i = 0; i < command->n_options; i++)
        printf("--%s ", command->options[i].name);
    puts("--help' ;;");
}

static void print_bash_value(const tm_command *command, const tm_option *option) {
    char words[WORDS_MAX];
    tm_values values = tm_generate_values(option, words, sizeof words);
    printf("    %s--%s", command->name, option->name);
    if (option->letter)
        printf(" | %s-%c", command->name, option->letter);
    printf(values == TM_VALUES_FILE ? ") value=file ;;\n" : ") value=word words='%s' ;;\n", words);
}

void tm_generate_bash(void) {
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    fputs("# Completion of tmerge for bash, generated from tmerge's table of "
          "commands.\n_tmerge_commands='",
          stdout);
    for (size_t i = 0; i < n; i++)
        printf(" %s", commands[i]->name);
    fputs(" help'\n_tmerge_names='", stdout);
    print_names();
    puts("'\n_tmerge_options() {\n    case $1 in");
    for (size_t i = 0; i < n; i++)
        print_bash_options(commands[i]);
    puts("    help) operands=command ;;\n    esac\n}\n_tmerge_value() {\n    case $1 in");
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < commands[c]->n_options; i++)
            if (commands[c]->options[i].argument)
                print_bash_value(commands[c], &commands[c]->options[i]);
    puts("    esac\n}");
}

/* Prints text inside single quotes. Escapes brackets and colons, because zsh's _arguments
 * interprets them. */
static void print_zsh_text(const char *text) {
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            printf("%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
}

static void print_zsh_option(const tm_option *option) {
    char words[WORDS_MAX];
    if (option->letter)
        printf("        '*'{-%c%s,--%s%s}'[", option->letter, option->argument ? "+" : "",
               option->name, option->argument ? "=" : "");
    else
        printf("        '*--%s%s[", option->name, option->argument ? "=" : "");
    print_zsh_text(option->doc);
    putchar(']');
    if (option->argument) {
        tm_values values = tm_generate_values(option, words, sizeof words);
        putchar(':');
        print_zsh_text(option->argument);
        if (values == TM_VALUES_FILE)
            fputs(":_files", stdout);
        else if (strchr(words, '=')) /* the user types a value right after the word */
            printf(":compadd -S \"\" -%s", words);
        else
            printf(values == TM_VALUES_WORD ? ":(%s)" : ":%s", words);
    }
    puts("'");
}

static void print_zsh_command(const tm_command *command) {
    static const char store[] = "STORE:_files -g \"*.h5(-.)\"";
    const char *operands = operands_of(command);
    printf("    %s) specs=(\n", command->name);
    for (size_t i = 0; i < command->n_options; i++)
        print_zsh_option(&command->options[i]);
    print_zsh_option(&(tm_option){"help", 0, NULL, "say what the options are"});
    if (strcmp(operands, "names") == 0)
        printf("        '1:%s'\n        '*:table:compadd -a _tmerge_names'\n", store);
    else if (strcmp(operands, "name") == 0)
        puts("        '*:name:compadd -a _tmerge_names'");
    else if (strcmp(operands, "store") == 0)
        printf("        '*:%s'\n", store);
    else if (strcmp(operands, "trace") == 0)
        puts("        '*:TRACE:{compset -P @; _files}'");
    puts("    ) ;;");
}

void tm_generate_zsh(void) {
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    puts("#compdef tmerge\n# Completion of tmerge for zsh, generated from tmerge's table of "
         "commands.\ntypeset -ga _tmerge_commands=(");
    for (size_t i = 0; i < n; i++) {
        printf("    '%s:", commands[i]->name);
        print_zsh_text(commands[i]->summary);
        puts("'");
    }
    fputs("    'help:Lists the options of a command'\n)\ntypeset -ga _tmerge_names=(", stdout);
    print_names();
    puts(" )\n_tmerge_specs() {\n    case $1 in");
    for (size_t i = 0; i < n; i++)
        print_zsh_command(commands[i]);
    fputs("    help) specs=('1:command:(", stdout);
    for (size_t i = 0; i < n; i++)
        printf("%s%s", i > 0 ? " " : "", commands[i]->name);
    puts(")') ;;\n    esac\n}");
}
