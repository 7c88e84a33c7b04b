#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sorted.h"

/* The linker (option --wrap) defines these names: __real_X is the function X of the C library, and
 * calls of X become calls of __wrap_X. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static const size_t LARGE = (size_t)1 << 20;

/* A block in the file. It may grow in place to ROOM_FACTOR times its first size. When a block is
 * freed, its offset is not used again, but its space on the disk is given back. */
enum { ROOM_FACTOR = 4 };
typedef struct mapped {
    char *at;
    size_t size, room; /* whole pages [B] */
    off_t offset;
} mapped;

static struct {
    pthread_mutex_t mutex; /* guards the members below */
    mapped *blocks;        /* owned; [n], ascending in address */
    size_t n, cap, hand;   /* hand: index of the block whose pages leave memory next */
    int fd, statm;         /* the file, and /proc/self/statm; -1: not open */
    off_t end;             /* offset of the next block in the file [B] */
    int64_t bytes, most;   /* size of all blocks now, and its maximum so far [B] */
    int error;             /* see tm_spill_error */
    size_t page;
    char *folder; /* owned */
    bool asked;

    atomic_llong bound;   /* of the resident memory [B]; 0: none */
    atomic_size_t n_seen; /* equals n */
} spill = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .statm = -1};

/* Returns the resident memory of the process [B]; 0 if unknown. */
static long long resident(void) {
    char text[128];
    ssize_t n = pread(spill.statm, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *blank = strchr(text, ' ');
    return blank ? strtoll(blank, NULL, 10) * (long long)spill.page : 0;
}

static bool must_spill(size_t size) {
    const long long bound = atomic_load(&spill.bound);
    return size >= LARGE && bound > 0 &&
           (size > PTRDIFF_MAX / 2 || resident() + (long long)size > bound / 2);
}

/* If the resident memory exceeds 7/8 of `bound`, drops pages of blocks from memory, one block after
 * another, until 5/8 are left. The content of a dropped page stays in the file. It also stays in
 * the system's cache as long as there is room. */
static void make_room(void) {
    const long long bound = atomic_load(&spill.bound);
    if (resident() <= bound / 8 * 7)
        return;
    pthread_mutex_lock(&spill.mutex);
    for (size_t i = 0; i < spill.n && resident() > bound / 8 * 5; i++) {
        spill.hand = (spill.hand + 1) % spill.n;
        const mapped *block = &spill.blocks[spill.hand];
        (void)madvise(block->at, block->size, MADV_DONTNEED);
        (void)madvise(block->at, block->size, MADV_NORMAL);
    }
    pthread_mutex_unlock(&spill.mutex);
}

static void *keep_bound(void *unused) {
    (void)unused;
    static const struct timespec wait = {0, 2000000};
    for (;;) {
        make_room();
        nanosleep(&wait, NULL);
    }
    return NULL;
}

/* Starts the thread that calls make_room. Blocks all signals in that thread, so that other threads
 * get them. */
static int start_thread(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, keep_bound, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? pthread_detach(thread) : error;
}

/* Opens a temporary file that has no name. If the file system does not support this, makes a file
 * with a name and removes the name at once. */
static int open_file(void) {
    char path[4096];
    int fd = open(spill.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "%s/.tmerge-XXXXXX.tmerge-tmp", spill.folder);
    fd = mkostemps(path, (int)strlen(".tmerge-tmp"), O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Makes the file and starts the thread, if there is no file yet. Returns 0 or an errno. */
static int begin_file(void) {
    if (spill.fd >= 0)
        return 0;
    spill.fd = open_file();
    return spill.fd >= 0 ? start_thread() : errno;
}

static size_t whole_pages(size_t size) {
    return (size + spill.page - 1) / spill.page * spill.page;
}

/* Reserves space for a block in the file. Without this, writing to the block would kill the process
 * if the disk is full. */
static int reserve(off_t offset, size_t size) {
    if (fallocate(spill.fd, 0, offset, (off_t)size) == 0)
        return 0;
    return errno == EOPNOTSUPP ? posix_fallocate(spill.fd, offset, (off_t)size) : errno;
}

/* Gives space back to the disk. If the file system cannot do this, the space is used until the
 * process ends. */
static void release(off_t offset, size_t size) {
    (void)fallocate(spill.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, (off_t)size);
}

static void count(int64_t bytes) {
    spill.bytes += bytes;
    spill.most = spill.bytes > spill.most ? spill.bytes : spill.most;
}

static bool is_below(const void *block, const void *at) {
    return ((const mapped *)block)->at < *(const char *const *)at;
}

/* Returns the index of the first block that starts at or after an address. */
static size_t find(const char *at) {
    return tm_bisect(spill.blocks, spill.n, sizeof *spill.blocks, &at, is_below);
}

static void insert(mapped block) {
    size_t i = find(block.at);
    memmove(spill.blocks + i + 1, spill.blocks + i, (spill.n - i) * sizeof block);
    spill.blocks[i] = block;
    atomic_store(&spill.n_seen, ++spill.n);
}

static mapped take_out(size_t i) {
    mapped block = spill.blocks[i];
    memmove(spill.blocks + i, spill.blocks + i + 1, (spill.n - i - 1) * sizeof block);
    atomic_store(&spill.n_seen, --spill.n);
    return block;
}

static bool has_slot(void) {
    if (spill.n < spill.cap)
        return true;
    size_t cap = 2 * spill.cap + 64;
    mapped *blocks = __real_realloc(spill.blocks, cap * sizeof *blocks);
    if (!blocks)
        return false;
    spill.blocks = blocks;
    spill.cap = cap;
    return true;
}

/* Maps a part of the file. Returns 0 or an errno. */
static int map(size_t size, off_t offset, char **out) {
    int error = begin_file();
    error = error ? error : reserve(offset, size);
    if (error)
        return error;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, spill.fd, offset);
    *out = at;
    if (at == MAP_FAILED)
        return errno;
    (void)madvise(at, size, MADV_RANDOM); /* a new block has no content to read ahead */
    return 0;
}

/* Adds a block at the end of the file and maps it. Returns NULL with spill.error set on failure. */
static void *map_block(size_t size) {
    mapped block = {.size = whole_pages(size), .offset = spill.end};
    block.room = block.size * ROOM_FACTOR;
    int error = has_slot() ? map(block.size, block.offset, &block.at) : ENOMEM;
    if (error) {
        spill.error = spill.error ? spill.error : error;
        return NULL;
    }
    spill.end += (off_t)block.room;
    count((int64_t)block.size);
    insert(block);
    return block.at;
}

/* Returns a zeroed block of the file, or NULL. After NULL, the caller has to fail if *fails is set;
 * otherwise, it allocates ordinary memory. */
static void *allocate(size_t size, bool *fails) {
    *fails = false;
    if (!must_spill(size))
        return NULL;
    make_room(); /* the thread may not get a core in time, so this checks, too */
    pthread_mutex_lock(&spill.mutex);
    void *at = map_block(size);
    *fails = !at && spill.asked;
    pthread_mutex_unlock(&spill.mutex);
    if (*fails)
        errno = ENOMEM;
    return at;
}

/* Returns whether a block may be in the file. Blocks in the file start at a page, so other
 * addresses are not in it. */
static bool could_be(const void *block) {
    return atomic_load(&spill.n_seen) > 0 && block && (uintptr_t)block % spill.page == 0;
}

/* Changes the size of a block in place. Returns NULL if the room after the block is too small. */
static void *resize(mapped *block, size_t size) {
    size = whole_pages(size);
    if (size > block->room || (size > block->size && reserve(block->offset + (off_t)block->size,
                                                             size - block->size) != 0))
        return NULL;
    void *at = mremap(block->at, block->size, size, MREMAP_MAYMOVE);
    if (at == MAP_FAILED)
        return NULL;
    if (size < block->size)
        release(block->offset + (off_t)size, block->size - size);
    count((int64_t)size - (int64_t)block->size);
    block->at = at;
    block->size = size;
    return at;
}

/* Removes a block. Returns false if it is not in the file. */
static bool unmap(void *at) {
    pthread_mutex_lock(&spill.mutex);
    size_t i = find(at);
    bool found = i < spill.n && spill.blocks[i].at == at;
    if (found) {
        mapped block = take_out(i);
        munmap(block.at, block.size);
        release(block.offset, block.size);
        count(-(int64_t)block.size);
    }
    pthread_mutex_unlock(&spill.mutex);
    return found;
}

/* Resizes a block of the file. Returns its previous size; 0 if @p at is not in the file. Sets *out
 * to the resized block, or to NULL if the block cannot grow in place. */
static size_t resize_block(void *at, size_t size, void **out) {
    size_t before = 0;
    *out = NULL;
    pthread_mutex_lock(&spill.mutex);
    size_t i = find(at);
    if (i < spill.n && spill.blocks[i].at == at) {
        mapped block = take_out(i);
        before = block.size;
        *out = resize(&block, size);
        insert(block);
    }
    pthread_mutex_unlock(&spill.mutex);
    return before;
}

static void *move(void *from, size_t used, size_t size) {
    void *to = __wrap_malloc(size);
    if (to) {
        memcpy(to, from, used < size ? used : size);
        __wrap_free(from);
    }
    return to;
}

void *__wrap_malloc(size_t size) {
    bool fails = false;
    void *at = size < LARGE ? NULL : allocate(size, &fails);
    return at || fails ? at : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
    bool fails = false;
    bool large = size > 0 && n >= LARGE / size && n <= PTRDIFF_MAX / size;
    void *at = large ? allocate(n * size, &fails) : NULL;
    return at || fails ? at : __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    bool fails = false;
    void *at = size < LARGE || alignment > 4096 ? NULL : allocate(size, &fails);
    return at || fails ? at : __real_aligned_alloc(alignment, size);
}

void *__wrap_realloc(void *block, size_t size) {
    void *at = NULL;
    size_t before = could_be(block) ? resize_block(block, size > 0 ? size : 1, &at) : 0;
    if (before > 0)
        return at ? at : move(block, before, size);
    if (!block || !must_spill(size))
        return block ? __real_realloc(block, size) : __wrap_malloc(size);
    return move(block, malloc_usable_size(block), size);
}

void __wrap_free(void *block) {
    if (!could_be(block) || !unmap(block))
        __real_free(block);
}

void tm_spill_begin(int64_t bytes, const char *folder, bool asked) {
    pthread_mutex_lock(&spill.mutex);
    spill.page = (size_t)sysconf(_SC_PAGESIZE);
    spill.asked = asked;
    spill.folder = strdup(folder);
    spill.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    pthread_mutex_unlock(&spill.mutex);
    if (spill.folder)
        atomic_store(&spill.bound, bytes);
}

int64_t tm_spill_most(void) {
    return spill.most;
}

int tm_spill_error(void) {
    return spill.error;
}
