/* The constant text around the numbers of each kind of event. It is made once per file, so that
 * writing an event takes only a few copies. */
#ifndef TMERGE_SYNTH_KINETO_TEXTS_H
#define TMERGE_SYNTH_KINETO_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "synth/base/catalogue.h"
#include "synth/base/config.h"
#include "synth/base/placement.h"
#include "synth/base/synth_groups.h"

/* The text of a kind on a track, in five parts that are stored one after another. The numbers of an
 * event are written between the parts, in this order: head [step number] place ts ["dur"] open
 * [External id] middle number [more] tail. What is in brackets is written only for some kinds. An
 * event of a collective then ends with the collective's members and the closing brackets. */
typedef struct tms_kineto_text {
    char *text;  /* owned */
    size_t head; /* head, place, open, middle, tail: lengths of the five parts [B] */
    size_t place;
    size_t open;
    size_t middle;
    size_t tail;
} tms_kineto_text;

typedef struct tms_kineto_texts {
    tms_kineto_text of[TMS_KIND_COUNT][TMS_TRACK_COUNT];
    char *group[TMS_ROLE_COUNT]; /* owned: JSON members of a process group; NULL if the rank has
                                    none */
} tms_kineto_texts;

/** Makes the texts of a rank's file.
 * @param texts zeroed; free it also after a failure
 * @return false when out of memory */
bool tms_kineto_texts_make(tms_kineto_texts *texts, const tms_groups *groups,
                           const tms_placement *placement);

void tms_kineto_texts_free(tms_kineto_texts *texts);

#endif
