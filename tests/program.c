/* A program of many files of tests, which the build names in TESTS:
 *     PROGRAM NAME [PATTERN]  runs those of test_NAME.c, or of them those that the pattern names
 *     PROGRAM                 lists the names */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Of program.h, whose other half is of the files of tests. */
int in_full_set(void);

#define TEST(name) int main_of_##name(void);
TESTS
#undef TEST

#define TEST(name) {#name, main_of_##name},
static const struct {
    const char *name;
    int (*run)(void);
} files[] = {TESTS};

int in_full_set(void) {
    const char *set = getenv("TMERGE_FULL");
    return set && strcmp(set, "1") == 0;
}

int main(int argc, char **argv) {
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (argc < 2)
            puts(files[i].name);
        else if (strcmp(files[i].name, argv[1]) == 0)
            return files[i].run();
    return argc < 2 ? 0 : 2;
}
