/* Stands in for the built page if TMERGE_REPORT is OFF. */
#include "report/built.h"

const tm_built_part tm_built_page[TM_BUILT_PARTS] = {{NULL, 0}};
