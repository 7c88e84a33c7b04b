/* A program of many test files, which the build lists in TESTS:
 *     PROGRAM [-t PATTERN] NAME...  runs the tests of each test_NAME.c that match the pattern
 *     PROGRAM                       lists the names */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Declared in program.h, whose other half is for test files. */
int in_full_set(void);
size_t first_of_every(size_t nth);

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

/** Returns the number of failed tests of a file; 1 if there is no such file. */
static int run(const char *name) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0)
            return files[i].run();
    fprintf(stderr, "there is no test_%s.c\n", name);
    return 1;
}

int main(int argc, char **argv) {
    int failed = 0, at = 1;
    if (argc > 2 && strcmp(argv[1], "-t") == 0) {
        cmocka_set_test_filter(argv[2]);
        at = 3;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files && argc < 2; i++)
        puts(files[i].name);
    for (; at < argc; at++)
        failed += run(argv[at]);
    return failed != 0;
}
