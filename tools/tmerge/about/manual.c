/* Generates tmerge(1) in mdoc: the --help of each command, made from the same table, and the text
 * around it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "about/generate.h"
#include "arguments/command.h"
#include "tmerge/analysis.h"
#include "tmerge/export.h"
#include "tmerge/reader.h"

/* Prints text as an argument of a macro or as a line of its own. Escapes hyphens, quotes and
 * backslashes, so that the manual shows them unchanged. Each sentence starts on a new line. "\&"
 * keeps a line from being read as a macro. */
static void print_text(const char *text) {
    fputs("\\&", stdout);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (strncmp(text, ". ", 2) == 0 && isupper((unsigned char)text[2])) {
            fputs(".\n\\&", stdout);
            text++;
        } else
            printf(*text == '-' ? "\\-" : *text == '"' ? "\\(dq" : "%c", *text);
}

static void print_line(const char *text) {
    print_text(text);
    putchar('\n');
}

static void print_item(const char *name, const char *text) {
    fputs(".It Cm ", stdout);
    print_line(name);
    print_line(text);
}

static void print_option(const tm_option *o) {
    fputs(".It ", stdout);
    if (o->letter)
        printf("Fl %c , ", o->letter);
    fputs("Fl \\-", stdout);
    print_text(o->name);
    if (o->argument) {
        fputs(" Ar ", stdout);
        print_text(o->argument);
    }
    putchar('\n');
    print_line(o->doc);
}

static void print_synopsis(void) {
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    puts(".Sh SYNOPSIS");
    for (size_t i = 0; i < n; i++) {
        puts(i == 0 ? ".Nm mpirun Fl n Ar N Nm" : ".Nm");
        printf(i == 0 ? ".Op Cm %s\n" : ".Cm %s\n", commands[i]->name);
        print_line(commands[i]->usage);
    }
    puts(".Nm\n.Cm help\n.Op Ar COMMAND\n"
         ".Nm\n.Fl V | Fl \\-version | Fl \\-help | Fl \\-plugin\\-path");
}

static void print_commands(void) {
    size_t n;
    const tm_command *const *commands = tm_generate_commands(&n);
    puts(".Sh COMMANDS\nWithout a command,\n.Nm\nmerges.\nEvery command has\n.Fl \\-help ,\nwhich "
         "prints its part of this page.");
    for (size_t i = 0; i < n; i++) {
        printf(".Ss tmerge %s\n", commands[i]->name);
        print_text(commands[i]->summary);
        puts(".\n.Bl -tag -width Ds");
        for (size_t k = 0; k < commands[i]->n_options; k++)
            print_option(&commands[i]->options[k]);
        print_option(&(tm_option){"help", 0, NULL, "print this section"});
        puts(".El");
    }
}

static void print_formats(void) {
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    puts(".Sh TRACES\nThe format of a file is recognised by its content, also if it is compressed "
         "with gzip or zstd:\n.Bl -tag -width Ds");
    for (size_t i = 0; i < n; i++)
        print_item(formats[i]->name, formats[i]->summary);
    puts(".El\n.Pp\nAn operand is a trace, a folder of traces, a pattern in quotation marks, which "
         "every host\nexpands itself, or\n.Ar @FILE ,\na file with one operand per line.\nAn "
         "operand in such a list extends to the end of its line, and has no quotation\nmarks or "
         "escapes.\nEmpty lines "
         "and lines that start with # are skipped; paths are relative to the\nworking folder, as "
         "on the command line.\nIn a list, write ./ before a name that starts with #, and ? for a "
         "line break in\na name, as in any pattern.\nIf there is a file whose name is @FILE, that "
         "file itself is read.\nThe total length of names on the command line is limited: by the "
         "system, and "
         "to 128 KiB by\n.Xr mpirun 1 .\n.Pp\nThe rank of a trace comes from\n.Fl \\-rank\\-map "
         ",\nor else from the trace, from a number in its file name, or from its position among "
         "the operands, with a warning.");
}

static void print_analyses(void) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    puts(".Sh ANALYSES\nThe analyses that\n.Nm\n.Cm show\nprints.\nTheir tables and columns, with "
         "units and definitions, are in\n.Nm\n.Cm list Fl \\-doc .\n.Bl -tag -width Ds");
    for (size_t i = 0; i < n; i++)
        print_item(analyses[i]->name, analyses[i]->summary);
    puts(".El");
}

static void print_exports(void) {
    size_t n;
    const tm_export_format *const *formats = tm_export_formats(&n);
    puts(".Sh EXPORTS\nThe formats of\n.Nm\n.Cm export :\n.Bl -tag -width Ds");
    for (size_t i = 0; i < n; i++)
        print_item(formats[i]->name, formats[i]->summary);
    puts(".El");
}

/* The line .Dd has the date on which the manual's text was last changed. */
static const char begin[] = ".\\\" Made by tmerge --generate=man from its table of commands.\n"
                            ".Dd November 30, 2026\n"
                            ".Dt TMERGE 1\n"
                            ".Os tmerge " TMERGE_VERSION "\n"
                            ".Sh NAME\n"
                            ".Nm tmerge\n"
                            ".Nd merge and analyse the profiler traces of a distributed job\n";

static const char description[] =
    ".Sh DESCRIPTION\n.Nm\nreads the traces that the ranks of a distributed training job have "
    "written, in parallel\nand as one job, and says where the time goes: which ranks make the "
    "others wait, how much that costs\nand where to look.\nIt writes the merged events of all "
    "ranks and all results into a store,\n.Pa tmerge.h5 ,\nand a report,\n.Pa tmerge.html ,\none "
    "file that opens "
    "in any browser, and prints the summary.\nThe results are the same for any number of "
    "processes.\n";

static const char end[] =
    ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev NO_COLOR\nNo colours, unless\n.Fl \\-color Ns "
    "=always .\n.It Ev COLUMNS\nWidth of the output in columns; by default that of the terminal, "
    "or 80 without one.\n.It Ev TMERGE_SILENCE\nSeconds (4 to 3600; default 20) after which a host "
    "that does not answer counts as\nlost, which ends the run.\n.It Ev PATH\nFolders in "
    "which\n.Nm\nsearches\n.Xr nsys 1 ,\nwhich exports reports of Nsight Systems (.nsys-rep).\n.It "
    "Ev "
    "HDF5_PLUGIN_PATH\nFolder in which other programs find the plugin that reads the compressed "
    "chunks of a store: see\n.Sx FILES .\n.El\n.Sh FILES\n.Bl -tag -width Ds\n.It Pa "
    "tmerge.h5\nThe store, an HDF5 file.\nIts chunks are compressed with zstd (filter 32015), "
    "unless\n.Fl \\-no\\-compress .\nOther programs read them through a plugin that is installed "
    "with\n.Nm .\n.Nm\n.Fl \\-plugin\\-path\nprints its folder:\n.Pp\n.Dl export "
    "HDF5_PLUGIN_PATH=$(tmerge \\-\\-plugin\\-path)\n.It Pa tmerge.html\nThe report, named after "
    "the store.\n.El\n.Pp\nEach file is written without a name or under a temporary name, and gets "
    "its name when it is\ncomplete.\n.Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n.It 0\ndone; "
    "there may have been warnings\n.It 2\nwrong usage\n.It 3\nan input is missing or malformed; "
    "with\n.Fl \\-strict\nalso: missing records could change the figures\n.It 4\nan output could "
    "not be written\n.It 5\na fault of\n.Nm\nor of MPI\n.It 6\n.Cm gate :\na limit is "
    "exceeded\n.It 7\n.Cm gate :\nthe steps are too few or too uneven to decide\n.El\n.Sh "
    "EXAMPLES\nMerge the traces of a job, and print a table of its results for a script:\n.Bd "
    "-literal -offset indent\ntmerge profile_rank_*\ntmerge show tmerge.h5 overlap.rank "
    "\\-\\-json\n.Ed\n.Pp\nAn overview of the store, and the steps in which rank 3 idled for more "
    "than 2 ms, the longest\nfirst:\n.Bd -literal -offset indent\ntmerge show tmerge.h5\ntmerge "
    "show tmerge.h5 overlap.step \\-\\-where \\(dqrank = 3 and idle_ns > 2ms\\(dq \\-\\-sort "
    "\\-idle_ns\n.Ed\n.Pp\nHow much shorter steps would be if the host of ranks 4 to 7 were not "
    "slower than the others:\n.Pp\n.Dl tmerge whatif tmerge.h5 \\-\\-fix rank=4\\-7+kind=host\n.Sh "
    "SEE ALSO\n.Xr h5dump 1 ,\n.Xr mpirun 1\n";

void tm_generate_manual(void) {
    fputs(begin, stdout);
    print_synopsis();
    fputs(description, stdout);
    print_commands();
    print_formats();
    print_analyses();
    print_exports();
    fputs(end, stdout);
}
