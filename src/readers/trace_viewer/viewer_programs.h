/* Which devices run a program, of what the trace viewer's JSON tells of its collectives: the
 * assignment of devices, which an XSpace holds, is not in it. Private to its reader. */
#ifndef TMERGE_VIEWER_PROGRAMS_H
#define TMERGE_VIEWER_PROGRAMS_H

#include "base/vec.h"
#include "tmerge/names.h"

typedef struct tm_viewer_programs {
    tm_vec runs, collectives;
} tm_viewer_programs;

void tm_viewer_programs_init(tm_viewer_programs *programs);
void tm_viewer_programs_free(tm_viewer_programs *programs);

/** Takes a run of a program on the device of a process. False when memory is out. */
bool tm_viewer_programs_run(tm_viewer_programs *programs, int64_t process, uint32_t name,
                            int64_t begin_ps, int64_t end_ps);

/** Takes an operation, if it is a collective: its short name and its text. False when memory is
 * out. */
bool tm_viewer_programs_take(tm_viewer_programs *programs, int64_t process, tm_text name,
                             tm_text text, int64_t begin_ps);

/** Tells the number of a process's device. */
typedef struct tm_viewer_devices {
    int64_t (*number_of)(void *context, int64_t process);
    void *context;
} tm_viewer_devices;

/**
 * Writes the plane that says on which devices programs run, as far as that is certain: where all
 * collectives of a program have one group that holds as many devices as ran it here. Then these are
 * all of its devices, and which of them has which place makes no difference.
 *
 * @param out  of uint8_t, an XSpace: appended to
 * @return     false when memory is out
 */
bool tm_viewer_programs_write(tm_viewer_programs *programs, const tm_names *texts,
                              const tm_viewer_devices *devices, tm_vec *out);

#endif
