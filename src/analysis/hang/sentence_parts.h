/* Parts of the sentences about a hang. */
#ifndef TMERGE_HANG_SENTENCE_PARTS_H
#define TMERGE_HANG_SENTENCE_PARTS_H

#include "causes.h"
#include "hang_words.h"

/** Returns front number @p i. Returns NULL if @p i is fronts.n, which stands for "no front". */
const tm_hang_front *tm_hang_front_at(const tm_hang_world *w, size_t i);

/** Returns the row of hang.group whose key is @p key. Returns TM_HANG_NO_ROW if there is none. */
size_t tm_hang_group_of(const tm_hang_world *w, int64_t key);

/** Returns the description that the program gave a group. If there is no description, returns the
 * group's name. */
const char *tm_hang_group_name(const tm_hang_world *w, size_t group);

/** Returns the operation of a front; "an operation" if it is not recorded. */
const char *tm_hang_op_of(const tm_hang_world *w, const tm_hang_front *f);

/** Adds "all_reduce, number 12 of group default_pg". */
void tm_hang_add_operation(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f);

/** Adds the forms in which ranks call the operation, at most four: "ranks 0-2 call all_reduce of
 * [[4]] Float; rank 3 calls ...". Returns false if out of memory. */
bool tm_hang_add_forms(tm_hang_words *t, const tm_hang_world *w, const tm_hang_front *f);

/** Each of these functions adds the text of one column of hang.job: verdict, evidence or chain.
 * They return false if out of memory. */
bool tm_hang_say_verdict(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c);
bool tm_hang_say_evidence(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c);
bool tm_hang_say_chain(tm_hang_words *t, const tm_hang_world *w, const tm_hang_causes *c);

#endif
