/* Names of events as they aggregate. */
#ifndef TMERGE_KINETO_NAME_H
#define TMERGE_KINETO_NAME_H

#include <stddef.h>

/** The first address that Python writes of an object, " at 0x7f5c2c0b1d30"; NULL for none. */
const char *tm_kineto_find_address(const char *name, size_t size);

/**
 * Cuts all addresses: each run and each rank has others, so that no two calls would have the same
 * name.
 * @param out  [size] the name without them
 * @return     how many bytes of it
 */
size_t tm_kineto_cut_addresses(const char *name, size_t size, char *out);

#endif
