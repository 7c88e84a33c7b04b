#include "injector.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_RECORDED = 20000, MOST_FRAMES = 48 };

static struct {
    injection what;
    bool records;
    uint64_t ways[MOST_RECORDED]; /* of each call, by the addresses it is reached by */

    int n, calls;
    bool failed;
    const char *function;
    long blocks, files;
} injector;

void inject(injection what, int n) {
    injector.what = what;
    injector.records = false;
    injector.n = n;
    injector.calls = 0;
    injector.failed = false;
}

void inject_record(injection what) {
    inject(what, 0);
    injector.records = true;
}

int n_recorded(void) {
    return injector.calls < MOST_RECORDED ? injector.calls : MOST_RECORDED;
}

bool is_worth_failing(int n) {
    int times = 0;
    for (int i = 0; i < n; i++)
        times += injector.ways[i] == injector.ways[n - 1];
    return (times & (times - 1)) == 0;
}

static void record(int call) {
    void *frames[MOST_FRAMES];
    uint64_t way = 0;
    for (int i = 0, n = backtrace(frames, MOST_FRAMES); i < n; i++)
        way = (way ^ (uint64_t)(uintptr_t)frames[i]) * 0x9e3779b97f4a7c15ULL;
    if (call <= MOST_RECORDED)
        injector.ways[call - 1] = way;
}

bool inject_end(void) {
    injector.what = INJECT_NOTHING;
    return injector.failed;
}

const char *injected_into(void) {
    return injector.function;
}

long live_blocks(void) {
    return injector.blocks;
}

long live_files(void) {
    return injector.files;
}

static bool hit(bool lasting, const char *function) {
    int call = ++injector.calls;
    if (injector.records)
        record(call);
    if (injector.n == 0)
        return false;
    if (call != injector.n && !(lasting && call > injector.n))
        return false;
    if (!injector.failed)
        injector.function = function;
    injector.failed = true;
    return true;
}

static bool no_memory(const char *function) {
    bool lasting = injector.what == INJECT_NO_MEMORY;
    if (!lasting && injector.what != INJECT_MEMORY)
        return false;
    if (!hit(lasting, function))
        return false;
    errno = ENOMEM;
    return true;
}

/* waits: the call may be interrupted by a signal. */
static bool system_fails(const char *function, bool waits) {
    if (injector.what != INJECT_FAILURE && !(injector.what == INJECT_INTERRUPTION && waits))
        return false;
    if (!hit(false, function))
        return false;
    errno = injector.what == INJECT_FAILURE ? EIO : EINTR;
    return true;
}

/* The linker gives these names their meaning: __wrap_X stands for X, __real_X is the library's. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_read(int fd, void *buffer, size_t n);
ssize_t __real_pread(int fd, void *buffer, size_t n, off_t at);
ssize_t __real_pwrite(int fd, const void *buffer, size_t n, off_t at);
int __real_fstat(int fd, struct stat *out);
int __real_stat(const char *path, struct stat *out);
int __real_access(const char *path, int how);
int __real_ftruncate(int fd, off_t size);
int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *buffer, size_t n);
ssize_t __wrap_pread(int fd, void *buffer, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *buffer, size_t n, off_t at);
int __wrap_fstat(int fd, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);
int __wrap_access(const char *path, int how);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_fsync(int fd);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);

void *__wrap_malloc(size_t size) {
    void *block = no_memory("malloc") ? NULL : __real_malloc(size);
    injector.blocks += block != NULL;
    return block;
}

void *__wrap_calloc(size_t n, size_t size) {
    void *block = no_memory("calloc") ? NULL : __real_calloc(n, size);
    injector.blocks += block != NULL;
    return block;
}

void *__wrap_realloc(void *old, size_t size) {
    void *block = no_memory("realloc") ? NULL : __real_realloc(old, size);
    injector.blocks += block != NULL && old == NULL;
    return block;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    void *block = no_memory("aligned_alloc") ? NULL : __real_aligned_alloc(alignment, size);
    injector.blocks += block != NULL;
    return block;
}

void __wrap_free(void *block) {
    injector.blocks -= block != NULL;
    __real_free(block);
}

int __wrap_open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT || flags & O_RDWR ? va_arg(more, mode_t) : 0;
    va_end(more);
    int fd = system_fails("open", true) ? -1 : __real_open(path, flags, mode);
    injector.files += fd >= 0;
    return fd;
}

/* The descriptor is gone in either case, as Linux does it. */
int __wrap_close(int fd) {
    bool fails = system_fails("close", true);
    int error = errno;
    injector.files--;
    int result = __real_close(fd);
    errno = error;
    return fails ? -1 : result;
}

ssize_t __wrap_read(int fd, void *buffer, size_t n) {
    return system_fails("read", true) ? -1 : __real_read(fd, buffer, n);
}

ssize_t __wrap_pread(int fd, void *buffer, size_t n, off_t at) {
    return system_fails("pread", true) ? -1 : __real_pread(fd, buffer, n, at);
}

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t n, off_t at) {
    return system_fails("pwrite", true) ? -1 : __real_pwrite(fd, buffer, n, at);
}

int __wrap_fstat(int fd, struct stat *out) {
    return system_fails("fstat", false) ? -1 : __real_fstat(fd, out);
}

int __wrap_stat(const char *path, struct stat *out) {
    return system_fails("stat", false) ? -1 : __real_stat(path, out);
}

int __wrap_access(const char *path, int how) {
    return system_fails("access", false) ? -1 : __real_access(path, how);
}

int __wrap_ftruncate(int fd, off_t size) {
    return system_fails("ftruncate", true) ? -1 : __real_ftruncate(fd, size);
}

/* Nothing here outlives the test, and waiting for a disk some hundred times would. */
int __wrap_fsync(int fd) {
    (void)fd;
    return system_fails("fsync", true) ? -1 : 0;
}

int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return system_fails("linkat", false) ? -1
                                         : __real_linkat(from_folder, from, to_folder, to, flags);
}

int __wrap_rename(const char *from, const char *to) {
    return system_fails("rename", false) ? -1 : __real_rename(from, to);
}

int __wrap_unlink(const char *path) {
    return system_fails("unlink", false) ? -1 : __real_unlink(path);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
