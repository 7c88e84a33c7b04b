/* The page that tools/web/build.mjs builds. It is split at the places where data is inserted. */
#ifndef TMERGE_REPORT_BUILT_H
#define TMERGE_REPORT_BUILT_H

#include <stddef.h>

enum {
    TM_BUILT_HEAD,    /* the page from its start to the end of the content security policy */
    TM_BUILT_TITLE,   /* the page from the end of the content security policy to the title */
    TM_BUILT_BODY,    /* the page from the title to the tables */
    TM_BUILT_PROGRAM, /* the page from the tables to the blocks of data */
    TM_BUILT_END,     /* the page after the blocks of data */
    TM_BUILT_PARTS
};

typedef struct tm_built_part {
    const unsigned char *bytes;
    size_t size;
} tm_built_part;

/** All parts have size 0 if no page is built in. */
extern const tm_built_part tm_built_page[TM_BUILT_PARTS];

#endif
