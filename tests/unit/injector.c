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
    uint64_t ways[MOST_RECORDED]; /* hash of each call's stack */

    int n, calls;
    bool failed;
    const char *function;
    long blocks, files;
} injector;

void inject(injection what, int n) {
    injector.what = what;
    injector.n = n;
    injector.calls = 0;
    injector.failed = false;
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
    if (injector.n == 0) {
        record(call);
        return false;
    }
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

/* @param waits  a signal can interrupt the call */
static bool system_fails(const char *function, bool waits) {
    if (injector.what != INJECT_FAILURE && !(injector.what == INJECT_INTERRUPTION && waits))
        return false;
    if (!hit(false, function))
        return false;
    errno = injector.what == INJECT_FAILURE ? EIO : EINTR;
    return true;
}

/* The linker's --wrap resolves X to __wrap_X; __real_X is the library's function. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);
WRAPPED(void *, malloc, size_t size)
WRAPPED(void *, calloc, size_t n, size_t size)
WRAPPED(void *, realloc, void *old, size_t size)
WRAPPED(void *, aligned_alloc, size_t alignment, size_t size)
WRAPPED(void, free, void *block)
WRAPPED(int, open, const char *path, int flags, ...)
WRAPPED(int, close, int fd)
WRAPPED(int, fsync, int fd)

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

/* As on Linux, the descriptor is closed even if close fails. */
int __wrap_close(int fd) {
    bool fails = system_fails("close", true);
    int error = errno;
    injector.files--;
    int result = __real_close(fd);
    errno = error;
    return fails ? -1 : result;
}

/* Skips the real sync: no file outlives the test, and hundreds of disk syncs would be slow. */
int __wrap_fsync(int fd) {
    (void)fd;
    return system_fails("fsync", true) ? -1 : 0;
}

/* The remaining functions either fail or call the library's. */
#define FAILS(result, name, waits, parameters, arguments)                                          \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters {                                                              \
        return system_fails(#name, waits) ? -1 : __real_##name arguments;                          \
    }
FAILS(ssize_t, read, true, (int fd, void *buffer, size_t n), (fd, buffer, n))
FAILS(ssize_t, pread, true, (int fd, void *buffer, size_t n, off_t at), (fd, buffer, n, at))
FAILS(ssize_t, pwrite, true, (int fd, const void *buffer, size_t n, off_t at), (fd, buffer, n, at))
FAILS(int, fstat, false, (int fd, struct stat *out), (fd, out))
FAILS(int, stat, false, (const char *path, struct stat *out), (path, out))
FAILS(int, access, false, (const char *path, int how), (path, how))
FAILS(int, ftruncate, true, (int fd, off_t size), (fd, size))
FAILS(int, linkat, false, (int a, const char *from, int b, const char *to, int flags),
      (a, from, b, to, flags))
FAILS(int, rename, false, (const char *from, const char *to), (from, to))
FAILS(int, unlink, false, (const char *path), (path))
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
