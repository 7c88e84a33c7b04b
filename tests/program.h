/* Put before every file of tests by the build, with what each of them needs. Main is the file's own
 * name for it: a program is made of many files of tests (program.c), for each program takes a
 * second to link. */
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

/* Few tests use the state that cmocka passes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/** Runs the tests of the file; returns how many failed. */
int main(void);

/** Whether the full set runs (tests/README.md); a test of that set alone begins with
 *  `if (!in_full_set()) skip();`. */
int in_full_set(void);

#endif
