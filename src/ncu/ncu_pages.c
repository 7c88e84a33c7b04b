#include "ncu/ncu_pages.h"

#include <math.h>

#include "ncu/metrics.h"

/* Key of a metric or a rule on the details page: its launch, section and name. */
typedef struct line_key {
    uint32_t launch, section, name;
} line_key;

tm_ncu_pages tm_ncu_pages_make(tm_names *texts) {
    return (tm_ncu_pages){.texts = texts,
                          .metric_keys = TM_KEYS(line_key),
                          .rule_keys = TM_KEYS(line_key),
                          .metrics = TM_VEC(tm_ncu_metric),
                          .rules = TM_VEC(tm_ncu_rule)};
}

void tm_ncu_pages_free(tm_ncu_pages *pages) {
    tm_keys_free(&pages->metric_keys);
    tm_keys_free(&pages->rule_keys);
    tm_vec_free(&pages->metrics);
    tm_vec_free(&pages->rules);
}

/* Interns a text, so that it stays valid as long as the names. Returns false if out of memory. */
static bool keep(tm_names *texts, const char *text, tm_text *out) {
    const uint32_t id = tm_names_intern_string(texts, text);
    if (id != TM_NAME_FAILED)
        *out = tm_names_text(texts, id);
    return id != TM_NAME_FAILED;
}

/* Returns the line of a record. Adds the line if it is new. Returns NULL if out of memory. */
static void *line_of(tm_ncu_pages *pages, const tm_ncu_record *r, const char *name, tm_keys *keys,
                     tm_vec *lines) {
    const line_key key = {(uint32_t)r->launch, tm_names_intern_string(pages->texts, r->section),
                          tm_names_intern_string(pages->texts, name)};
    return key.section == TM_NAME_FAILED || key.name == TM_NAME_FAILED
               ? NULL
               : tm_keys_value(keys, lines, &key);
}

static double number(const char *text) {
    double value;
    return tm_value_parse(text, &value) ? value : (double)NAN;
}

bool tm_ncu_pages_take(tm_ncu_pages *pages, const tm_ncu_record *r) {
    tm_names *texts = pages->texts;
    if (*r->metric) {
        tm_ncu_metric *m = line_of(pages, r, r->metric, &pages->metric_keys, &pages->metrics);
        if (!m)
            return false;
        m->launch = r->launch;
        m->value = number(r->value);
        return keep(texts, r->section, &m->section) && keep(texts, r->metric, &m->name) &&
               keep(texts, r->unit, &m->unit) && keep(texts, r->value, &m->text);
    }
    if (!*r->rule)
        return true;
    tm_ncu_rule *rule = line_of(pages, r, r->rule, &pages->rule_keys, &pages->rules);
    if (!rule)
        return false;
    rule->launch = r->launch;
    rule->speedup_pct = number(r->speedup);
    return keep(texts, r->section, &rule->section) && keep(texts, r->rule, &rule->name) &&
           keep(texts, r->rule_type, &rule->type) && keep(texts, r->rule_text, &rule->text) &&
           keep(texts, r->speedup_type, &rule->speedup_type);
}
