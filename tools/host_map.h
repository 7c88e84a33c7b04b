/* Which host each rank ran on: --host-map, else what the trace says, else its file's name. */
#ifndef TMERGE_HOST_MAP_H
#define TMERGE_HOST_MAP_H

#include "mpi/load/load.h"

/**
 * Sets the host of every timeline that has none, or that the map names.
 *
 * Collective: over comm.
 * @param map     path of a file with lines RANK HOST ('#' begins a comment line), or NULL
 * @param loaded  its names get the hosts'
 * @return        TM_OK; TM_ERR_INPUT (the file, a line, a rank twice); TM_ERR_FAULT; the same on
 *                every process
 */
tm_status tm_host_names(MPI_Comm comm, const char *map, tm_loaded *loaded,
                        tm_error *err) TM_MUST_CHECK;

#endif
