#include "csv_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temp_file.h"
#include "output_file.h"

tm_status tm_csv_folder_make(const char *folder, tm_error *err) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return TM_OK;
    return tm_fail(err, TM_ERR_OUTPUT, folder, -1, "the folder cannot be made: %s",
                   strerror(errno));
}

/* The text is the first member, so a pointer to it is also a pointer to the csv_file. */
typedef struct csv_file {
    tm_out text;
    tm_temp_file temp;
} csv_file;

static tm_status fail_write(const csv_file *file, int code, tm_error *err) {
    return tm_fail(err, TM_ERR_OUTPUT, file->temp.path, -1, "cannot be written: %s",
                   strerror(code));
}

static tm_status spill(tm_out *out, tm_error *err) {
    const csv_file *file = (const csv_file *)out;
    const char *bytes = out->bytes.data;
    if (out->failed)
        return tm_fail_memory(err);
    for (size_t left = out->bytes.n; left > 0;) {
        ssize_t n = write(file->temp.fd, bytes, left);
        if (n < 0 && errno != EINTR)
            return fail_write(file, errno, err);
        bytes += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    out->bytes.n = 0;
    return TM_OK;
}

static tm_status write_rows(csv_file *file, const tm_rows *rows, tm_error *err) {
    const tm_sink_out sink = {&file->text, spill};
    int code = tm_temp_file_open(&file->temp);
    if (code != 0)
        return fail_write(file, code, err);
    TM_TRY(tm_stream_csv(rows, &sink, err));
    TM_TRY(spill(&file->text, err));
    code = tm_temp_file_publish(&file->temp);
    return code == 0 ? TM_OK : fail_write(file, code, err);
}

tm_status tm_csv_folder_add(const char *folder, const tm_rows *rows, tm_error *err) {
    char path[TM_PATH_MAX];
    csv_file file = {.text = TM_OUT()};
    int size = snprintf(path, sizeof path, "%s/%s.csv", folder, rows->def->name);
    if (size < 0 || (size_t)size >= sizeof path)
        return tm_fail(err, TM_ERR_OUTPUT, folder, -1, "this path is too long");
    tm_status status = tm_temp_file_create(&file.temp, path) ? TM_OK : tm_fail_memory(err);
    tm_output_watch(path);
    if (status == TM_OK)
        status = write_rows(&file, rows, err);
    tm_temp_file_discard(&file.temp);
    tm_vec_free(&file.text.bytes);
    return status;
}

tm_status tm_csv_folder_write(const char *folder, const tm_table *const *tables, size_t n_tables,
                              tm_error *err) {
    TM_TRY(tm_csv_folder_make(folder, err));
    for (size_t t = 0; t < n_tables; t++) {
        const tm_rows rows = tm_rows_of(tables[t]);
        TM_TRY(tm_csv_folder_add(folder, &rows, err));
    }
    return TM_OK;
}
