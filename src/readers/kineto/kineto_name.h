/* Names of events as they aggregate. */
#ifndef TMERGE_KINETO_NAME_H
#define TMERGE_KINETO_NAME_H

#include <stddef.h>

/**
 * Cuts the addresses that Python writes of objects, " at 0x7f5c2c0b1d30": each run and each rank
 * has others, so that no two calls would have the same name.
 * @param out  [room] the name without them
 * @return     the size of @p out; 0 where the name has none, or is too long for @p room
 */
size_t tm_kineto_cut_addresses(const char *name, size_t size, char *out, size_t room);

#endif
