/* Prints the columns of every table as TypeScript types, against which the names in the page and in
 * the code are checked. */
#include <stdio.h>

#include "tmerge/analysis.h"
#include "tmerge/diff.h"

static void print_table(const tm_table_def *def) {
    printf("  \"%s\":", def->name);
    for (int c = 0; c < def->n_columns; c++)
        printf(" | \"%s\"", def->columns[c].name);
    puts(";");
}

static void print_tables(const char *name, bool internal) {
    size_t n_analyses, n_diffs;
    const tm_analysis *const *analyses = tm_analyses(&n_analyses);
    const tm_table_def *const *diffs = tm_diff_defs(&n_diffs);
    printf("export interface %s {\n", name);
    for (size_t i = 0; i < n_analyses; i++)
        for (size_t t = 0; t < analyses[i]->n_tables; t++)
            if (analyses[i]->tables[t]->internal == internal)
                print_table(analyses[i]->tables[t]);
    for (size_t t = 0; t < n_diffs && !internal; t++)
        print_table(diffs[t]);
    puts("}");
}

int main(void) {
    print_tables("Tables", false);
    print_tables("InternalTables", true);
    return 0;
}
