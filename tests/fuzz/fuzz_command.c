/* The lines of the input are used as command arguments, as lists of numbers, as lines of a rank
 * map, and as paths that may contain a rank. Each is either rejected with a reason or accepted. */
#include <stdbool.h>
#include <string.h>

#include "arguments/command.h"
#include "identity/rank_from_path.h"
#include "inputs/rank_map.h"
#include "require.h"

enum { ARGUMENTS_MAX = 64 };

/* All kinds of options: with and without letter or value, and a name that begins another one. */
static const tm_option options[] = {
    {"output", 'o', "FILE", ""}, {"out", 0, "FILE", ""},    {"quiet", 'q', NULL, ""},
    {"json", 0, NULL, ""},       {"rank", 'r', "LIST", ""},
};
enum { N_OPTIONS = sizeof options / sizeof *options };

static const tm_command command = {.name = "fuzz", .options = options, .n_options = N_OPTIONS};

static bool is_number_list(const char *text) {
    return strspn(text, "0123456789,-") == strlen(text) && *text != '\0';
}

static void try_list(const char *text) {
    tm_list list;
    tm_error err = {.status = TM_OK};
    tm_status status = tm_list_parse(text, "rank", &list, &err);
    require(status == TM_OK || (status == TM_ERR_USAGE && err.message[0] != '\0'));
    if (status != TM_OK)
        return;
    require(is_number_list(text) && list.n > 0 && list.n <= 256);
    for (size_t i = 0; i < list.n; i++) {
        require(list.ranges[i].first >= 0 && list.ranges[i].first <= list.ranges[i].last);
        require(tm_list_has(&list, list.ranges[i].first) &&
                tm_list_has(&list, list.ranges[i].last));
    }
    require(!tm_list_has(&list, -1));
}

static void try_rank_map(const char *text, size_t size) {
    char *line = malloc(size + 1);
    require(line != NULL);
    memcpy(line, text, size + 1);
    const char *path = NULL;
    int64_t rank = -1;
    tm_rank_map_kind kind = tm_rank_map_line(line, &path, &rank);
    if (kind == TM_RANK_MAP_ENTRY)
        require(path == line && *path != '\0' && strncmp(path, text, strlen(path)) == 0 &&
                rank >= 0 && rank <= 999999999);
    else
        require(kind == TM_RANK_MAP_NOTHING || kind == TM_RANK_MAP_BAD);
    free(line);
}

/* Returns whether a text points into one of the arguments. */
static bool is_inside(const char *text, char *const *arguments, int n) {
    for (int i = 0; i < n; i++)
        if (text >= arguments[i] && text <= arguments[i] + strlen(arguments[i]))
            return true;
    return false;
}

static void try_arguments(char *const *given, int n) {
    char *arguments[ARGUMENTS_MAX + 1] = {NULL};
    memcpy(arguments, given, (size_t)n * sizeof *arguments);
    tm_arguments out;
    tm_error err = {.status = TM_OK};
    tm_status status = tm_arguments_parse(&command, n, arguments, &out, &err);
    require(status == TM_OK || (status == TM_ERR_USAGE && err.message[0] != '\0'));
    if (status != TM_OK)
        return;
    require(out.n_operands <= (size_t)n);
    for (size_t i = 0; i < out.n_operands; i++)
        require(is_inside(out.operands[i], given, n));
    for (int i = 0; i < N_OPTIONS; i++) {
        const char *value = tm_argument(&out, options[i].name);
        require(!value || (options[i].argument ? is_inside(value, given, n) : *value == '\0'));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *arguments[ARGUMENTS_MAX] = {NULL};
    int n = 0;
    for (size_t at = 0; at < size && n < ARGUMENTS_MAX; n++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        arguments[n] = malloc(length + 1); /* exact size, so that a sanitizer sees its end */
        require(arguments[n] != NULL);
        memcpy(arguments[n], data + at, length);
        arguments[n][length] = '\0';
        at += length + 1;
    }
    try_arguments(arguments, n);
    for (int i = 0; i < n; i++) {
        size_t length = strlen(arguments[i]);
        try_list(arguments[i]);
        try_rank_map(arguments[i], length);
        require(tm_rank_of_path(arguments[i]) >= -1);
        free(arguments[i]);
    }
    return 0;
}
