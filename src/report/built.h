/* The page as tools/web/build.mjs made it, in the parts between which the data are put. */
#ifndef TMERGE_REPORT_BUILT_H
#define TMERGE_REPORT_BUILT_H

#include <stddef.h>

enum {
    TM_BUILT_HEAD,    /* up to the end of the policy */
    TM_BUILT_TITLE,   /* from there to the title */
    TM_BUILT_BODY,    /* from the title to the tables */
    TM_BUILT_PROGRAM, /* from the tables to the blocks of data */
    TM_BUILT_END,     /* behind the blocks */
    TM_BUILT_PARTS
};

typedef struct tm_built_part {
    const unsigned char *bytes;
    size_t size;
} tm_built_part;

/** All of size 0 where no page is built in. */
extern const tm_built_part tm_built_page[TM_BUILT_PARTS];

#endif
