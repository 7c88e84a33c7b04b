/* Derives the devices of a program from its collectives, because the trace viewer's JSON lacks the
 * XSpace's device assignment. Private to its reader. */
#ifndef TMERGE_VIEWER_PROGRAMS_H
#define TMERGE_VIEWER_PROGRAMS_H

#include "base/vec.h"
#include "tmerge/names.h"

typedef struct tm_viewer_programs {
    tm_vec runs, collectives;
} tm_viewer_programs;

void tm_viewer_programs_init(tm_viewer_programs *programs);
void tm_viewer_programs_free(tm_viewer_programs *programs);

/** Records a run of a program on the device of a process. Returns false if out of memory. */
bool tm_viewer_programs_run(tm_viewer_programs *programs, int64_t process, uint32_t name,
                            int64_t begin_ps, int64_t end_ps);

/**
 * Records an operation if it is a collective. Returns false if out of memory.
 *
 * @param name  short name of the operation
 * @param text  long name of the operation
 */
bool tm_viewer_programs_take(tm_viewer_programs *programs, int64_t process, tm_text name,
                             tm_text text, int64_t begin_ps);

/** A function that returns the device number of a process. */
typedef struct tm_viewer_devices {
    int64_t (*number_of)(void *context, int64_t process);
    void *context;
} tm_viewer_devices;

/**
 * Writes a plane that lists the devices of each program whose devices are certain. The devices are
 * certain if every collective of the program has a single group, and if this group has as many
 * devices as ran the program in this file. Then no other devices ran the program. The order of the
 * devices makes no difference.
 *
 * @param out  vector of uint8_t: an XSpace, to which the plane is appended
 * @return     false if out of memory
 */
bool tm_viewer_programs_write(tm_viewer_programs *programs, const tm_names *texts,
                              const tm_viewer_devices *devices, tm_vec *out);

#endif
