/* A program of many files of tests, which the build names in TESTS:
 *     PROGRAM NAME [PATTERN]  runs those of test_NAME.c, or of them those that the pattern names
 *     PROGRAM                 lists the names */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

size_t first_of_every(size_t nth) {
    const char *seed = getenv("TMERGE_SEED");
    size_t sum = 0;
    for (; seed && *seed; seed++)
        sum = sum * 31 + (unsigned char)*seed;
    return sum % nth;
}

int run_each(const CMUnitTestFunction *tests, const char *names, CMFixtureFunction set_up,
             CMFixtureFunction tear_down) {
    static char text[4000]; /* longer than any list of names, and so more than there are tests */
    static struct CMUnitTest rows[sizeof text];
    size_t n = 0;
    if (strlen(names) >= sizeof text)
        abort();
    strcpy(text, names);
    for (char *name = strtok(text, ", "); name; name = strtok(NULL, ", "), n++)
        rows[n] = (struct CMUnitTest){name, tests[n], set_up, tear_down, NULL};
    return _cmocka_run_group_tests("tests", rows, n, NULL, NULL);
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
