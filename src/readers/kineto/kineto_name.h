/* Removes from event names what differs between runs and ranks. */
#ifndef TMERGE_KINETO_NAME_H
#define TMERGE_KINETO_NAME_H

#include <stddef.h>

/** Finds the first address as Python writes it, " at 0x7f5c2c0b1d30"; NULL if there is none. */
const char *tm_kineto_find_address(const char *name, size_t size);

/**
 * Removes all addresses, which differ between runs and ranks and would make every name unique.
 * @param out  [size] the name without them
 * @return     its length
 */
size_t tm_kineto_cut_addresses(const char *name, size_t size, char *out);

#endif
