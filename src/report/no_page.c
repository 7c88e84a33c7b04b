/* Replaces the built page with TMERGE_REPORT=OFF. */
#include "report/built.h"

const tm_built_part tm_built_page[TM_BUILT_PARTS] = {{NULL, 0}};
