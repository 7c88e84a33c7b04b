/* Goes through the compiled programs of an XSpace: XLA's HLO in the plane /host:metadata. */
#ifndef TMERGE_XPLANE_PROGRAMS_H
#define TMERGE_XPLANE_PROGRAMS_H

#include "readers/xplane/plane/space.h"

/**
 * Handles a field at the end of a path in a program. The function may read any part of the field,
 * because the walk continues after the field.
 *
 * @param field  the tag and the length of the field were read; tm_wire_take returns its bytes
 * @return       TM_OK; TM_ERR_INPUT ends the walk of this program; TM_ERR_FAULT
 */
typedef tm_status tm_program_take(void *context, const tm_xmeta *program, tm_wire *wire,
                                  tm_wire_field *field, tm_error *err);

enum { TM_PROGRAM_PATH_MAX = 6, TM_PROGRAM_EACH = INT32_MAX };

/** A path of field numbers that starts at XEventMetadata. The last number is followed by 0. If the
 * last number is TM_PROGRAM_EACH, the path leads to every field that is an integer, a text or a
 * message. */
typedef uint32_t tm_program_path[TM_PROGRAM_PATH_MAX + 1];

/* XEventMetadata.stats, XStat.bytes_value, HloProto.hlo_module */
#define TM_PROGRAM_MODULE 5, 6, 1

/** Returns the id by which events refer to a program. For the name "jit_f(6)", it is 6. If the name
 * has no such number (before JAX 0.9), it is the id of the program's metadata. */
int64_t tm_program_id(const tm_xmeta *program);

/**
 * Goes through all programs, or through one program. Does not keep programs in memory, because HLO
 * may be very large. If a program is damaged, skips the rest of it.
 *
 * @param id  the program, as returned by tm_program_id; TM_PROGRAMS_ALL: all programs
 * @return    TM_OK; TM_ERR_INPUT if the source cannot be read again; TM_ERR_FAULT
 */
tm_status tm_programs_walk(tm_space *space, int64_t id, const tm_program_path path,
                           tm_program_take *take, void *context, tm_error *err) TM_MUST_CHECK;
#define TM_PROGRAMS_ALL INT64_MIN

#endif
