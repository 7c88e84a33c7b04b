/* Put before every file of tests by the build, where main is the file's own name for it: a program
 * is made of many files of tests (program.c), for each program takes a second to link. */
#ifndef TMERGE_PROGRAM_H
#define TMERGE_PROGRAM_H

/** Runs the tests of the file; returns how many failed. */
int main(void);

#endif
