#include "sql/sql_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file {
    sqlite3_file base; /* SQLite requires this member to be the first */
    tm_sql_output *output;
} file;

static tm_sql_output *output_of(sqlite3_file *base) {
    return ((file *)base)->output;
}

static int fail(tm_sql_output *output, int code) {
    if (output->error == 0)
        output->error = errno;
    return errno == ENOSPC ? SQLITE_FULL : code;
}

static int close_file(sqlite3_file *base) {
    (void)base;
    return SQLITE_OK;
}

/* Reads from the file. Bytes after its end are read as zeros. */
static int read_file(sqlite3_file *base, void *to, int size, sqlite3_int64 at) {
    int done = 0;
    while (done < size) {
        ssize_t n = pread(output_of(base)->fd, (char *)to + done, (size_t)(size - done),
                          (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(output_of(base), SQLITE_IOERR_READ);
        if (n == 0) {
            memset((char *)to + done, 0, (size_t)(size - done));
            return SQLITE_IOERR_SHORT_READ;
        }
        done += (int)n;
    }
    return SQLITE_OK;
}

static int write_file(sqlite3_file *base, const void *from, int size, sqlite3_int64 at) {
    for (int done = 0; done < size;) {
        ssize_t n = pwrite(output_of(base)->fd, (const char *)from + done, (size_t)(size - done),
                           (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(output_of(base), SQLITE_IOERR_WRITE);
        done += (int)n;
    }
    return SQLITE_OK;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size) {
    return ftruncate(output_of(base)->fd, (off_t)size) == 0
               ? SQLITE_OK
               : fail(output_of(base), SQLITE_IOERR_TRUNCATE);
}

/* Does nothing: the code that gives the file its name syncs it. */
static int sync_file(sqlite3_file *base, int flags) {
    (void)base;
    (void)flags;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *size) {
    struct stat status;
    if (fstat(output_of(base)->fd, &status) != 0)
        return fail(output_of(base), SQLITE_IOERR_FSTAT);
    *size = status.st_size;
    return SQLITE_OK;
}

/* Does nothing, because no other process uses the file. */
static int lock_file(sqlite3_file *base, int level) {
    (void)base;
    (void)level;
    return SQLITE_OK;
}

static int is_reserved(sqlite3_file *base, int *reserved) {
    (void)base;
    *reserved = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *base, int what, void *with) {
    (void)base;
    (void)what;
    (void)with;
    return SQLITE_NOTFOUND;
}

static int no_number(sqlite3_file *base) {
    (void)base;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control_file,
    .xSectorSize = no_number,
    .xDeviceCharacteristics = no_number,
};

/* Opens the database. SQLite's own functions open other files, which it needs for sorting. */
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out) {
    tm_sql_output *output = (tm_sql_output *)vfs;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return output->usual->xOpen(output->usual, name, base, flags, out);
    *(file *)base = (file){.base.pMethods = &methods, .output = output};
    if (out)
        *out = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync) {
    sqlite3_vfs *usual = ((tm_sql_output *)vfs)->usual;
    return usual->xDelete(usual, name, sync);
}

/* Says that no other file exists: there is no journal. */
static int has_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs;
    (void)name;
    (void)flags;
    *out = 0;
    return SQLITE_OK;
}

static int whole_name(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    (void)vfs;
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
}

int tm_sql_output_begin(tm_sql_output *output, int fd) {
    int code = sqlite3_initialize();
    sqlite3_vfs *usual = code == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (!usual)
        return code == SQLITE_OK ? SQLITE_ERROR : code;
    *output = (tm_sql_output){.vfs = *usual, .usual = usual, .fd = fd};
    output->vfs.pNext = NULL;
    output->vfs.zName = TM_SQL_OUTPUT;
    output->vfs.xOpen = open_file;
    output->vfs.xDelete = delete_file;
    output->vfs.xAccess = has_access;
    output->vfs.xFullPathname = whole_name;
    if (output->vfs.szOsFile < (int)sizeof(file))
        output->vfs.szOsFile = (int)sizeof(file);
    return sqlite3_vfs_register(&output->vfs, 0);
}

void tm_sql_output_end(tm_sql_output *output) {
    (void)sqlite3_vfs_unregister(&output->vfs);
}
