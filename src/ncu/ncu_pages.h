/* Contents of a details page other than the figures: lines of sections, and rules. */
#ifndef TMERGE_NCU_NCU_PAGES_H
#define TMERGE_NCU_NCU_PAGES_H

#include "base/keys.h"
#include "base/vec.h"
#include "tmerge/ncu.h"

typedef struct tm_ncu_pages {
    tm_names *texts; /* borrowed */
    tm_keys metric_keys, rule_keys;
    tm_vec metrics; /* vector of tm_ncu_metric */
    tm_vec rules;   /* vector of tm_ncu_rule */
} tm_ncu_pages;

tm_ncu_pages tm_ncu_pages_make(tm_names *texts);
void tm_ncu_pages_free(tm_ncu_pages *pages);

/** A record of a page. A field that the page lacks is "". */
typedef struct tm_ncu_record {
    size_t launch;
    const char *section, *metric, *unit, *value;
    const char *rule, *rule_type, *rule_text, *speedup_type, *speedup;
} tm_ncu_record;

/** Keeps a record. Returns false if out of memory. */
bool tm_ncu_pages_take(tm_ncu_pages *pages, const tm_ncu_record *record);

#endif
