#include "rank_map.h"

#include <stdlib.h>
#include <string.h>

tm_rank_map_kind tm_rank_map_line(char *line, const char **path, int64_t *rank) {
    size_t size = strcspn(line, "\r\n");
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t'))
        size--;
    line[size] = '\0';
    if (size == 0 || *line == '#')
        return TM_RANK_MAP_NOTHING;
    char *digits = line + size;
    while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    char *end = digits;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (*digits == '\0' || strlen(digits) > 9 || end == digits || end == line)
        return TM_RANK_MAP_BAD;
    *rank = strtol(digits, NULL, 10);
    *path = line;
    *end = '\0';
    return TM_RANK_MAP_ENTRY;
}
