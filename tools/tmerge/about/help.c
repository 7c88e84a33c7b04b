#include "help.h"

#include <string.h>
#include <unistd.h>

#include "about/generate.h"
#include "arguments/guess.h"
#include "output/console.h"
#include "tmerge/store.h"

const tm_command *tm_help_find(const char *name) {
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

void tm_help_usage(FILE *stream) {
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    fputs("Merges the profiler traces of a distributed job and says where its time goes.\n\n"
          "  tmerge profile_rank_*\n\n",
          stream);
    for (size_t i = 0; i < n; i++) {
        char left[64];
        snprintf(left, sizeof left, "  tmerge %s", commands[i]->name);
        tm_console_beside(stream, left, 0, commands[i]->usage);
        tm_console_beside(stream, "", 6, commands[i]->summary);
    }
    fputs("\n", stream);
    tm_console_beside(
        stream, "", 0,
        "Without a command, tmerge merges. tmerge help COMMAND lists its options. For large "
        "traces, tmerge starts up to one process per core. srun --mpi=pmix or mpirun -n 8 can "
        "start the processes instead (with Open MPI, add --oversubscribe for more processes than "
        "cores; as root, set OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1). tmerge "
        "--version prints the "
        "version and the parts that are built in. tmerge --plugin-path prints the folder for "
        "HDF5_PLUGIN_PATH, which h5py needs to read stores.");
}

static int name_option(const tm_option *o, char *out, size_t size) {
    return snprintf(out, size, "  %c%c%s--%s%s%s", o->letter ? '-' : ' ',
                    o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
                    o->argument ? " " : "", o->argument ? o->argument : "");
}

static void print_option(const tm_option *o, int at) {
    char left[80];
    (void)name_option(o, left, sizeof left);
    tm_console_beside(stdout, left, at, o->doc);
}

/* Prints the lines of a text. Long lines are wrapped, and their continuation is indented as much as
 * their start. */
static void print_lines(const char *text) {
    while (*text) {
        char line[512];
        int size = (int)strcspn(text, "\n"), blanks = (int)strspn(text, " ");
        snprintf(line, sizeof line, "%.*s", size - blanks, text + blanks);
        tm_console_beside(stdout, "", blanks, line);
        text += size + (text[size] == '\n');
    }
}

void tm_help_command(const tm_command *command) {
    enum { LEFT_LEAST = 30 };
    char left[80], summary[256];
    snprintf(left, sizeof left, "tmerge %s", command->name);
    snprintf(summary, sizeof summary, "%s.", command->summary);
    tm_console_beside(stdout, left, 0, command->usage);
    puts("");
    print_lines(summary);
    print_lines(command->operands ? command->operands : "");
    puts("");
    int at = LEFT_LEAST;
    for (size_t i = 0; i < command->n_options; i++) {
        int size = name_option(&command->options[i], left, sizeof left) + 1;
        at = size > at ? size : at;
    }
    for (size_t i = 0; i < command->n_options; i++)
        print_option(&command->options[i], at);
    print_option(&(tm_option){"help", 0, NULL, "this text"}, at);
}

tm_status tm_help_print(int n, char *const *words, tm_error *err) {
    const bool all = n == 0 || (n == 1 && strcmp(words[0], "help") == 0);
    const tm_command *command = all ? NULL : tm_help_find(words[0]);
    if (n > 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge help takes one command");
    if (!all && !command) {
        tm_guess guess = {.word = words[0]};
        char hint[TM_GUESS_HINT];
        size_t n_commands;
        const tm_command *const *commands = tm_generate_commands(&n_commands);
        for (size_t i = 0; i < n_commands; i++)
            tm_guess_try(&guess, commands[i]->name);
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "'%s' is not a command%s; tmerge help lists them", words[0],
                       tm_guess_hint(&guess, "", hint));
    }
    if (!tm_console_speaks())
        return TM_OK;
    if (command)
        tm_help_command(command);
    else
        tm_help_usage(stdout);
    return TM_OK;
}

static tm_status check_word(const char *word, tm_error *err) {
    tm_guess guess = {.word = word};
    char hint[TM_GUESS_HINT];
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    if (strpbrk(word, "-@./*?[") || access(word, F_OK) == 0)
        return TM_OK;
    for (size_t i = 0; i < n; i++)
        tm_guess_try(&guess, commands[i]->name);
    tm_guess_try(&guess, "help");
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "no such command: '%s'%s, nor a file or folder of that name; tmerge help lists "
                   "the commands",
                   word, tm_guess_hint(&guess, "tmerge ", hint));
}

static bool are_stores(int n, char *const *words) {
    for (int i = 0; i < n; i++)
        if (words[i][0] == '-' || !tm_store_is_store(words[i]))
            return false;
    return true;
}

/* Prints a command and, as a shell comment, what the command does. The comment is on the same line
 * or, if there is no room, on the line above. */
static void print_command(const char *command, const char *store, const char *after,
                          const char *what) {
    const char *blank = *after ? " " : "";
    size_t size = strlen(command) + strlen(store) + strlen(after) + strlen(what) + 15;
    if (size <= (size_t)tm_console_width())
        fprintf(stderr, "  tmerge %s %s%s%s  # %s\n", command, store, blank, after, what);
    else
        fprintf(stderr, "  # %s\n  tmerge %s %s%s%s\n", what, command, store, blank, after);
}

static void print_stores(int n, char *const *words) {
    static const struct {
        const char *command, *after, *what;
    } lines[] = {
        {"show", "", "its verdict and its tables"},
        {"report", "", "its page, for a browser"},
        {"whatif", "--fix rank=0", "how much shorter steps would be if rank 0 were like its peers"},
        {"export", "", "its events for ui.perfetto.dev"},
        {"analyze", "", "all analyses again, with this version of tmerge"},
        {"check", "", "whether the store is undamaged"},
    };
    fprintf(stderr, "%s is a store that tmerge made from traces. You can do this with it:\n",
            words[0]);
    if (n == 2)
        print_command("diff", words[0], words[1], "what changed from one store to the other");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        print_command(lines[i].command, words[0], lines[i].after, lines[i].what);
}

bool tm_help_is_asked(int n, char *const *words) {
    tm_error unused;
    return check_word(words[0], &unused) != TM_OK || are_stores(n, words);
}

tm_status tm_help_answer(int n, char *const *words, tm_error *err) {
    TM_TRY(check_word(words[0], err));
    if (tm_console_speaks())
        print_stores(n, words);
    return TM_ERR_USAGE;
}
