/* Put before every file of tests by the build, where main is the file's own name for it: a program
 * is made of many files of tests (program.c), for each program takes a second to link. */
#ifndef TMERGE_PROGRAM_H
#define TMERGE_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Few tests use their state. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#ifdef main
/** Runs the tests of the file; returns how many failed. */
int main(void);
#endif

/** For main: runs these tests, each of them between set-up and tear-down. */
#define RUN(...) RUN_WITH(NULL, NULL, __VA_ARGS__)
#define RUN_WITH(set_up, tear_down, ...)                                                           \
    run_each((const CMUnitTestFunction[]){__VA_ARGS__}, #__VA_ARGS__, set_up, tear_down)

/** @param names  of the tests, with commas between them */
int run_each(const CMUnitTestFunction *tests, const char *names, CMFixtureFunction set_up,
             CMFixtureFunction tear_down);

/** Whether the full set runs (tests/README.md); a test of that set alone begins with
 *  `if (!in_full_set()) skip();`. */
int in_full_set(void);

/** For the landing set, which takes every @p nth of many places: the one to begin with, below
 *  @p nth. It changes with the environment variable TMERGE_SEED. */
size_t first_of_every(size_t nth);

#endif
