/* Put before every file of tests by the build, where main is the file's own name for it: a program
 * is made of many files of tests (program.c), for each program takes a second to link. */
#ifndef TMERGE_PROGRAM_H
#define TMERGE_PROGRAM_H

/** Runs the tests of the file; returns how many failed. */
int main(void);

/** Whether the full set runs (tests/README.md); a test of that set alone begins with
 *  `if (!in_full_set()) skip();`. */
int in_full_set(void);

#endif
