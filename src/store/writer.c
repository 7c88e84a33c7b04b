/* Begins and ends a store: the file, its format, groups and attributes. */
#include "writer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"

tm_status tm_store_done(const tm_store_writer *writer, bool done, const char *what, tm_error *err) {
    /* Checks the sink first: after a failed write, it reports success to HDF5 for all later writes.
     */
    if (writer->sink.error == ENOMEM)
        return tm_fail_memory(err);
    if (writer->sink.error != 0)
        return tm_fail(err, TM_ERR_OUTPUT, writer->temp.path, -1, "cannot be written: %s",
                       strerror(writer->sink.error));
    if (!done)
        return tm_fail(err, TM_ERR_OUTPUT, writer->temp.path, -1,
                       "cannot be written: HDF5 failed to %s", what);
    return TM_OK;
}

/* Frees the writer. The caller closes the HDF5 file first: until then, HDF5 needs the driver, and
 * the driver needs the temporary file. */
static void destroy(tm_store_writer *writer) {
    if (writer->driver >= 0)
        H5FDunregister(writer->driver);
    tm_temp_file_discard(&writer->temp);
    tm_packer_destroy(writer->packer);
    free(writer->pending);
    free(writer);
}

/* Makes a writer with only invalid ids, so that destroy can always free it. */
static tm_store_writer *create(const char *path, const tm_store_options *options) {
    tm_store_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->file = writer->column = writer->driver = H5I_INVALID_HID;
    writer->text = writer->scalar = writer->plain = H5I_INVALID_HID;
    writer->chunked = writer->group = H5I_INVALID_HID;
    if (!tm_temp_file_create(&writer->temp, path)) {
        destroy(writer);
        return NULL;
    }
    writer->compress = options->compress;
    writer->chunk_rows = options->chunk_rows ? options->chunk_rows : TM_STORE_CHUNK_ROWS;
    return writer;
}

static bool create_file(tm_store_writer *writer) {
    writer->sink.error = tm_temp_file_open(&writer->temp);
    writer->sink.fd = writer->temp.fd;
    if (writer->sink.error != 0)
        return false;
    /* HDF5 only copies the path. The driver writes to the file descriptor. */
    writer->driver = tm_sink_driver();
    hid_t access = tm_sink_access(writer->driver, &writer->sink);
    if (writer->driver >= 0 && access >= 0)
        writer->file = H5Fcreate(writer->temp.path, H5F_ACC_EXCL, H5P_DEFAULT, access);
    tm_h5_close(access);
    return writer->file >= 0;
}

/* Datasets have no timestamps, so that equal stores have equal bytes. They have no fill values,
 * because every row is written. */
static bool make_shared(tm_store_writer *writer) {
    writer->scalar = H5Screate(H5S_SCALAR);
    writer->text = H5Tcopy(H5T_C_S1);
    writer->plain = H5Pcreate(H5P_DATASET_CREATE);
    return writer->scalar >= 0 && writer->text >= 0 && writer->plain >= 0 &&
           H5Tset_size(writer->text, H5T_VARIABLE) >= 0 &&
           H5Tset_cset(writer->text, H5T_CSET_UTF8) >= 0 &&
           H5Pset_obj_track_times(writer->plain, false) >= 0 &&
           H5Pset_fill_time(writer->plain, H5D_FILL_TIME_NEVER) >= 0;
}

bool tm_store_put_text(const tm_store_writer *writer, hid_t object, const char *name,
                       const char *text) {
    hid_t attribute =
        H5Acreate2(object, name, writer->text, writer->scalar, H5P_DEFAULT, H5P_DEFAULT);
    bool done = attribute >= 0 && H5Awrite(attribute, writer->text, &text) >= 0;
    tm_h5_close(attribute);
    return done;
}

bool tm_store_use_group(tm_store_writer *writer, const char *path, hid_t group) {
    tm_h5_close(writer->group);
    writer->group = group;
    (void)snprintf(writer->group_path, sizeof writer->group_path, "%s", path);
    return group >= 0;
}

bool tm_store_uses_group(const tm_store_writer *writer, const char *path) {
    return writer->group >= 0 && strcmp(writer->group_path, path) == 0;
}

static bool put_format(tm_store_writer *writer, const char *tool_version) {
    int64_t major = TM_STORE_MAJOR, minor = TM_STORE_MINOR;
    return tm_store_put_text(writer, writer->file, "format", "tmerge") &&
           tm_h5_put_number(writer->file, "schema_major", H5T_STD_I64LE, &major) &&
           tm_h5_put_number(writer->file, "schema_minor", H5T_STD_I64LE, &minor) &&
           tm_store_put_text(writer, writer->file, "tool_version", tool_version);
}

tm_status tm_store_create(const char *path, const tm_store_options *options, tm_store_writer **out,
                          tm_error *err) {
    assert(options->chunk_rows <= TM_STORE_CHUNK_MAX);
    tm_store_writer *writer = create(path, options);
    if (!writer)
        return tm_fail_memory(err);
    bool done = tm_h5_start() && create_file(writer) && make_shared(writer) &&
                put_format(writer, options->tool_version);
    tm_status status = tm_store_done(writer, done, "create the file", err);
    if (status != TM_OK) {
        tm_store_abandon(writer);
        return status;
    }
    *out = writer;
    return TM_OK;
}

tm_status tm_store_put_group(tm_store_writer *writer, const char *path, const char *doc,
                             tm_error *err) {
    bool done = tm_store_use_group(writer, path, tm_h5_make_group(writer->file, path)) &&
                tm_store_put_text(writer, writer->group, "doc", doc);
    return tm_store_done(writer, done, "make a group", err);
}

tm_status tm_store_put_attribute(tm_store_writer *writer, const tm_store_attribute *attribute,
                                 tm_error *err) {
    bool done =
        attribute->text
            ? tm_store_put_text(writer, writer->file, attribute->name, attribute->text)
            : tm_h5_put_number(writer->file, attribute->name, H5T_STD_I64LE, &attribute->number);
    return tm_store_done(writer, done, "write an attribute", err);
}

/* Closes every open object of the file, then the file. The sink does not see failures inside HDF5.
 */
static bool close_file(tm_store_writer *writer) {
    const hid_t shared[] = {writer->text, writer->scalar, writer->plain, writer->chunked,
                            writer->group};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        tm_h5_close(shared[i]);
    bool done = writer->file < 0 || H5Fclose(writer->file) >= 0;
    writer->file = writer->column = H5I_INVALID_HID;
    return done;
}

tm_status tm_store_commit(tm_store_writer *writer, tm_error *err) {
    /* Now HDF5 writes its buffers, and the driver appends the checksums. */
    bool done = close_file(writer);
    if (done && writer->sink.error == 0)
        writer->sink.error = tm_temp_file_publish(&writer->temp);
    tm_status status = tm_store_done(writer, done, "close the file", err);
    destroy(writer);
    return status;
}

void tm_store_abandon(tm_store_writer *writer) {
    if (!writer)
        return;
    if (writer->sink.error == 0)
        writer->sink.error =
            ECANCELED; /* makes the driver skip writes: the file is removed anyway */
    close_file(writer);
    destroy(writer);
}
