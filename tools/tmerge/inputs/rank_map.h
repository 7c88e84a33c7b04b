/* Parses the lines of --rank-map FILE. */
#ifndef TMERGE_RANK_MAP_H
#define TMERGE_RANK_MAP_H

#include <stdint.h>

typedef enum tm_rank_map_kind {
    TM_RANK_MAP_NOTHING, /* an empty line or a comment (#) */
    TM_RANK_MAP_ENTRY,
    TM_RANK_MAP_BAD
} tm_rank_map_kind;

/** Parses a line: PATH, blanks, RANK (at most 9 digits). The path may contain blanks.
 * @param line changed: a zero byte ends the path
 * @param path points into the line; set only if the line is an entry, like @p rank */
tm_rank_map_kind tm_rank_map_line(char *line, const char **path, int64_t *rank);

#endif
