/* XSpaces made from lines of text, in the order in which the profiler writes them. */
#ifndef TMERGE_TEST_XPLANE_FIXTURE_H
#define TMERGE_TEST_XPLANE_FIXTURE_H

#include "base/vec.h"
#include "timeline_fixture.h"
#include "tmerge/source.h"

/**
 * Returns the bytes of a space. Each line of `text` has words separated by blanks (~ is a blank
 * inside a word) and belongs to the line or plane before it:
 *
 *   plane NAME STAT...           line ID TIMESTAMP_NS NAME
 *   event NAME OFFSET_PS DURATION_PS STAT...            times NAME OCCURRENCES STAT...
 *   meta NAME STAT...            shared by events of this name, before the first of them
 *   shown NAME DISPLAY_NAME      likewise
 *   error TEXT    warning TEXT    host NAME
 *
 * A stat is KEY=5 (an int64), KEY=u5 (a uint64), KEY=d1.5 (a double), KEY='text, KEY=&text (by
 * reference) or KEY=#text (bytes).
 *
 * @return  of uint8_t; free it with tm_vec_free
 */
tm_vec space_of(const char *text);

#endif
