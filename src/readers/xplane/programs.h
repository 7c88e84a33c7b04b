/* The compiled programs of an XSpace: protocol buffers of XLA's HLO in the plane /host:metadata. */
#ifndef TMERGE_XPLANE_PROGRAMS_H
#define TMERGE_XPLANE_PROGRAMS_H

#include "space.h"

/**
 * Takes what stands at the end of a path in a program. It may use the window: the walk goes on
 * behind the field.
 * @param field  its head was taken; tm_wire_take holds its bytes
 * @return       TM_OK; TM_ERR_INPUT: nothing more of this program is walked; TM_ERR_FAULT
 */
typedef tm_status tm_program_take(void *context, const tm_xmeta *program, tm_wire *wire,
                                  tm_wire_field *field, tm_error *err);

enum { TM_PROGRAM_PATH_MAX = 6, TM_PROGRAM_EACH = INT32_MAX };

/** Which field of which message: numbers from XEventMetadata on, and 0. Last instead of a number:
 * each that is an integer, a text or a message. */
typedef uint32_t tm_program_path[TM_PROGRAM_PATH_MAX + 1];

/* XEventMetadata.stats, XStat.bytes_value, HloProto.hlo_module */
#define TM_PROGRAM_MODULE 5, 6, 1

/** The number by which events name a program: "jit_f(6)"'s is 6, and that of its metadata before
 * JAX 0.9, which now counts programs by itself. */
int64_t tm_program_id(const tm_xmeta *program);

/**
 * Walks all programs, or one, without keeping them: HLO may be larger than what is kept of
 * metadata. What is damaged ends its own program alone.
 * @param id  of the program: tm_program_id; TM_PROGRAMS_ALL
 * @return    TM_OK; TM_ERR_INPUT where the source cannot be read again; TM_ERR_FAULT
 */
tm_status tm_programs_walk(tm_space *space, int64_t id, const tm_program_path path,
                           tm_program_take *take, void *context, tm_error *err) TM_MUST_CHECK;
#define TM_PROGRAMS_ALL INT64_MIN

#endif
