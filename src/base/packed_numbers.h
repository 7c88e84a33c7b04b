/* Packs arrays of numbers that are near one another, such as times and indices, to about a third of
 * their size. Packing and unpacking are nearly as fast as copying. */
#ifndef TMERGE_PACKED_NUMBERS_H
#define TMERGE_PACKED_NUMBERS_H

#include <stdint.h>

#include "base/vec.h"

/** An array to pack. Its elements consist of lanes, which are 32-bit numbers. */
typedef struct tm_number_array {
    void *data;   /* [n] elements */
    size_t n;     /* number of elements */
    size_t size;  /* size of an element [B] */
    size_t lanes; /* number of lanes, at most 11. The bytes of an element after them are padding,
                     and are not packed */
} tm_number_array;

/** Appends the packed array. False when out of memory. */
bool tm_numbers_pack(const tm_number_array *array, tm_vec *out);

/** Ends a vector of packed arrays: adds bytes that tm_numbers_unpack may read, and frees excess
 * capacity. False when out of memory. */
bool tm_numbers_end(tm_vec *out);

/** Unpacks an array to array->data, except padding. Returns the end of its packed bytes. */
const uint8_t *tm_numbers_unpack(const uint8_t *in, const tm_number_array *array);

#endif
