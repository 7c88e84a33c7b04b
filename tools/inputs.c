#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mpi/agree.h"
#include "mpi/bytes.h"
#include "rank_map.h"

/* An input as it goes between processes: this, then its path with the terminating zero. */
typedef struct input_head {
    int64_t mapped_rank;
    int64_t from_folder;
} input_head;

static tm_status add_input(tm_vec *out, const char *path, bool from_folder, tm_error *err) {
    input_head head = {.mapped_rank = -1, .from_folder = from_folder};
    if (!tm_vec_append(out, &head, sizeof head) || !tm_vec_append(out, path, strlen(path) + 1))
        return tm_fail_memory(err);
    return TM_OK;
}

/* Numbers inside names compare by value, so that rank 9 stands before rank 10. */
static int natural(const char *a, const char *b) {
    while (*a && *b) {
        size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
        if (n > 0 && m > 0) {
            const char *x = a + strspn(a, "0"), *y = b + strspn(b, "0");
            x = x > a + n ? a + n : x;
            y = y > b + m ? b + m : y;
            ptrdiff_t longer = (a + n - x) - (b + m - y);
            int order = longer ? (longer > 0) - (longer < 0) : memcmp(x, y, (size_t)(a + n - x));
            if (order)
                return order;
            a += n;
            b += m;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}

static int by_name(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = natural(x, y);
    return order ? order : strcmp(x, y);
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Paths of the regular files in a folder, in natural order. */
static tm_status read_folder(const char *folder, DIR *dir, tm_vec *paths, tm_error *err) {
    const struct dirent *item;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (;;) {
        errno = 0; /* is_file may have set it */
        /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
        item = readdir(dir);
        if (!item)
            break;
        if (item->d_name[0] == '.')
            continue;
        size_t size = strlen(folder) + strlen(item->d_name) + 2;
        char *path = malloc(size);
        if (!path)
            return tm_fail_memory(err);
        snprintf(path, size, "%s%s%s", folder, slash, item->d_name);
        if (!is_file(path)) {
            free(path);
        } else if (!tm_vec_append(paths, &path, 1)) {
            free(path);
            return tm_fail_memory(err);
        }
    }
    if (errno)
        return tm_fail(err, TM_ERR_INPUT, folder, -1, "%s", strerror(errno));
    if (paths->n > 1)
        qsort(paths->data, paths->n, paths->size, by_name);
    return TM_OK;
}

static tm_status add_folder(tm_vec *out, const char *folder, tm_error *err) {
    DIR *dir = opendir(folder);
    if (!dir)
        return tm_fail(err, TM_ERR_INPUT, folder, -1, "%s", strerror(errno));
    tm_vec paths = TM_VEC(char *);
    tm_status status = read_folder(folder, dir, &paths, err);
    closedir(dir);
    for (size_t i = 0; i < paths.n; i++) {
        char *path = ((char **)paths.data)[i];
        if (status == TM_OK)
            status = add_input(out, path, true, err);
        free(path);
    }
    tm_vec_free(&paths);
    return status;
}

static tm_status add_path(tm_vec *out, const char *path, tm_error *err) {
    struct stat info;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return folder ? add_folder(out, path, err) : add_input(out, path, false, err);
}

static tm_status add_glob(tm_vec *out, const char *pattern, tm_error *err) {
    glob_t found;
    int code = glob(pattern, 0, NULL, &found);
    if (code == GLOB_NOMATCH)
        return tm_fail(err, TM_ERR_INPUT, pattern, -1, "no file matches this pattern");
    if (code != 0)
        return tm_fail(err, TM_ERR_INPUT, pattern, -1, "this pattern cannot be expanded");
    tm_status status = TM_OK;
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_name);
    for (size_t i = 0; i < found.gl_pathc && status == TM_OK; i++)
        status = add_path(out, found.gl_pathv[i], err);
    globfree(&found);
    return status;
}

static tm_status add_operand(tm_vec *out, const char *operand, tm_error *err) {
    struct stat info;
    if (stat(operand, &info) == 0)
        return add_path(out, operand, err);
    int error = errno;
    if (strpbrk(operand, "*?["))
        return add_glob(out, operand, err);
    return tm_fail(err, TM_ERR_INPUT, operand, -1, "%s", strerror(error));
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return strcmp(a, b) == 0 ||
           (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static bool map_input(tm_vec *inputs, const char *path, int64_t rank) {
    bool found = false;
    for (size_t at = 0; at < inputs->n;) {
        char *bytes = (char *)inputs->data + at;
        input_head head;
        memcpy(&head, bytes, sizeof head);
        if (same_file(bytes + sizeof head, path)) {
            head.mapped_rank = rank;
            memcpy(bytes, &head, sizeof head);
            found = true;
        }
        at += sizeof head + strlen(bytes + sizeof head) + 1;
    }
    return found;
}

static tm_status map_line(tm_vec *inputs, char *line, const char *map, int64_t offset,
                          tm_error *err) {
    const char *path;
    int64_t rank;
    switch (tm_rank_map_line(line, &path, &rank)) {
    case TM_RANK_MAP_NOTHING:
        return TM_OK;
    case TM_RANK_MAP_ENTRY:
        return map_input(inputs, path, rank) ? TM_OK
                                             : tm_fail(err, TM_ERR_INPUT, map, offset,
                                                       "%.300s is not among the inputs", path);
    default:
        return tm_fail(err, TM_ERR_INPUT, map, offset, "a line should be PATH RANK");
    }
}

static tm_status apply_map(tm_vec *inputs, const char *map, tm_error *err) {
    FILE *file = fopen(map, "r");
    if (!file)
        return tm_fail(err, TM_ERR_INPUT, map, -1, "%s", strerror(errno));
    char line[TM_PATH_MAX * 4];
    int64_t offset = 0;
    tm_status status = TM_OK;
    while (status == TM_OK && fgets(line, sizeof line, file)) {
        size_t size = strlen(line);
        status = map_line(inputs, line, map, offset, err);
        offset += (int64_t)size;
    }
    if (status == TM_OK && ferror(file))
        status = tm_fail(err, TM_ERR_INPUT, map, offset, "this file cannot be read");
    fclose(file);
    return status;
}

static tm_status list_bytes(const tm_arguments *arguments, const char *rank_map, tm_vec *out,
                            tm_error *err) {
    for (size_t i = 0; i < arguments->n_operands; i++)
        TM_TRY(add_operand(out, arguments->operands[i], err));
    return rank_map ? apply_map(out, rank_map, err) : TM_OK;
}

static tm_status unpack(tm_inputs *out, size_t size, tm_error *err) {
    const char *p = out->bytes, *end = p + size;
    while (p < end) {
        input_head head;
        memcpy(&head, p, sizeof head);
        tm_input input = {p + sizeof head, head.from_folder != 0, head.mapped_rank};
        if (!tm_vec_append(&out->list, &input, 1))
            return tm_fail_memory(err);
        p += sizeof head + strlen(input.path) + 1;
    }
    return TM_OK;
}

tm_status tm_inputs_list(MPI_Comm comm, const tm_arguments *arguments, const char *rank_map,
                         tm_inputs *out, tm_error *err) {
    int self;
    MPI_Comm_rank(comm, &self);
    tm_vec bytes = TM_VEC(char);
    tm_status status = self == 0 ? list_bytes(arguments, rank_map, &bytes, err) : TM_OK;
    status = tm_mpi_agree(comm, status, err);
    *out = (tm_inputs){.list = TM_VEC(tm_input), .bytes = bytes.data};
    size_t size = bytes.n;
    if (status == TM_OK)
        status = tm_mpi_broadcast_bytes(comm, &out->bytes, &size, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, unpack(out, size, err), err);
    if (status != TM_OK)
        tm_inputs_free(out);
    return status;
}

void tm_inputs_free(tm_inputs *inputs) {
    tm_vec_free(&inputs->list);
    free(inputs->bytes);
    inputs->bytes = NULL;
}
