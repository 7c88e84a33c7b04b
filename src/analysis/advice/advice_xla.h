/* Helpers of the rules and of the checklist's boxes for jobs of TensorFlow and JAX. */
#ifndef TMERGE_ADVICE_XLA_H
#define TMERGE_ADVICE_XLA_H

#include "advice_rules.h"

/**
 * Returns whether a row of pod.rank counts. If some ranks have steps, ranks without steps do not
 * count.
 * @param host  counts only ranks of this host; NULL: ranks of all hosts
 */
bool tm_facts_is_pod_row(const tm_facts *facts, size_t row, const char *host);

#endif
