/* What the rules and boxes of jobs of TensorFlow and JAX share. */
#ifndef TMERGE_ADVICE_XLA_H
#define TMERGE_ADVICE_XLA_H

#include "advice_rules.h"

/** Whether a row of pod.rank counts. Where some ranks have steps, those that have none do not tell.
 * @param host  of which its rank must be; NULL: of any */
bool tm_facts_is_pod_row(const tm_facts *facts, size_t row, const char *host);

#endif
