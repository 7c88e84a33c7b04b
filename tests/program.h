/* The build puts this before every test file, with what each of them needs. It renames each file's
 * main: as linking takes a second, one program has many test files (program.c). */
#ifndef TMERGE_PROGRAM_H
#define TMERGE_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* TM_OK, or the generator's TMS_OK. */
#define assert_ok(status) assert_int_equal(status, 0)

/* Few tests use the state that cmocka passes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { TESTS_MAX = 64 };

/* Tests of a file, added by its TEST(name) before main begins. */
static struct tests_of_file {
    struct CMUnitTest all[TESTS_MAX];
    size_t n;
} tests_of_file __attribute__((unused));

#define TEST(name)                                                                                 \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void) {                                    \
        assert_true(tests_of_file.n < TESTS_MAX);                                                  \
        tests_of_file.all[tests_of_file.n++] = (struct CMUnitTest)cmocka_unit_test(name);          \
    }                                                                                              \
    static void name(void **state)

/* Ends such a file; WITH: each test runs between set-up and tear-down. */
#define RUN_TESTS() RUN_TESTS_WITH(NULL, NULL)
#define RUN_TESTS_WITH(set_up, tear_down)                                                          \
    int main(void) {                                                                               \
        for (size_t i = 0; i < tests_of_file.n; i++) {                                             \
            tests_of_file.all[i].setup_func = set_up;                                              \
            tests_of_file.all[i].teardown_func = tear_down;                                        \
        }                                                                                          \
        return _cmocka_run_group_tests("tests", tests_of_file.all, tests_of_file.n, NULL, NULL);   \
    }

/** Runs the tests of the file; returns the number of failures. */
int main(void);

/** Whether the full set runs (tests/README.md). A test only for that set begins with the line `if
 * (!in_full_set()) skip();`. */
int in_full_set(void);

/** For the landing set, which takes every @p nth of many positions: returns the first of them
 * (below @p nth). It varies with the environment variable TMERGE_SEED. */
size_t first_of_every(size_t nth);

#endif
