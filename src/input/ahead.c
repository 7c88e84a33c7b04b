/* Decodes on a separate thread, a few blocks ahead of the reader. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "input/decoder.h"

enum { BLOCKS = 8, BLOCK_BYTES = 256 * 1024 };

typedef struct block {
    uint8_t *bytes;
    size_t n;
    int64_t consumed; /* raw bytes of the file consumed when this block had been decoded */
} block;

/* A ring buffer of blocks. The reader owns the blocks [n_taken, n_made); the thread owns the others
 * and, until `over` is set, the inner decoder. */
typedef struct ahead_decoder {
    tm_decoder base;
    tm_decoder *inner; /* borrowed */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members from `moved` to `over` */
    pthread_cond_t moved;
    size_t n_made, n_taken;
    bool stop;        /* the reader needs no more blocks */
    bool over;        /* the last block is complete; status and error are final */
    tm_status status; /* status of the inner decoder's last read */
    tm_error error;
    size_t at;        /* offset in the current block */
    int64_t consumed; /* raw bytes consumed when the current block had been decoded */
    block blocks[BLOCKS];
    uint8_t bytes[BLOCKS][BLOCK_BYTES];
} ahead_decoder;

/* Waits for a free block; returns false if the reader is done. */
static bool wait_for_room(ahead_decoder *ahead) {
    pthread_mutex_lock(&ahead->lock);
    while (ahead->n_made - ahead->n_taken == BLOCKS && !ahead->stop)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    bool wanted = !ahead->stop;
    pthread_mutex_unlock(&ahead->lock);
    return wanted;
}

static void *decode(void *context) {
    ahead_decoder *ahead = context;
    bool over = false;
    for (size_t i = 0; !over && wait_for_room(ahead); i++) {
        block *made = &ahead->blocks[i % BLOCKS];
        tm_error error;
        tm_status status =
            ahead->inner->read(ahead->inner, made->bytes, BLOCK_BYTES, &made->n, &error);
        made->consumed = ahead->inner->raw->consumed;
        over = status != TM_OK || made->n < BLOCK_BYTES;
        pthread_mutex_lock(&ahead->lock);
        ahead->n_made++;
        ahead->over = over;
        ahead->status = status;
        if (status != TM_OK)
            ahead->error = error;
        pthread_cond_signal(&ahead->moved);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

/* Waits for the next block; returns NULL at the end. */
static const block *wait_for_block(ahead_decoder *ahead) {
    pthread_mutex_lock(&ahead->lock);
    while (ahead->n_made == ahead->n_taken && !ahead->over)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    const block *next =
        ahead->n_made > ahead->n_taken ? &ahead->blocks[ahead->n_taken % BLOCKS] : NULL;
    pthread_mutex_unlock(&ahead->lock);
    return next;
}

static void give_back(ahead_decoder *ahead) {
    ahead->at = 0;
    pthread_mutex_lock(&ahead->lock);
    ahead->n_taken++;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
}

static tm_status read_ahead(tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                            tm_error *err) {
    ahead_decoder *ahead = (ahead_decoder *)decoder;
    *n = 0;
    while (*n < capacity) {
        const block *next = wait_for_block(ahead);
        if (!next) { /* the thread has finished, so status and error need no lock */
            if (ahead->status != TM_OK)
                *err = ahead->error;
            return ahead->status;
        }
        ahead->consumed = next->consumed;
        size_t left = next->n - ahead->at, taken = left < capacity - *n ? left : capacity - *n;
        memcpy(buffer + *n, next->bytes + ahead->at, taken);
        *n += taken;
        ahead->at += taken;
        if (ahead->at == next->n)
            give_back(ahead);
    }
    return TM_OK;
}

static void close_ahead(tm_decoder *decoder) {
    ahead_decoder *ahead = (ahead_decoder *)decoder;
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = true;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

static bool start_thread(ahead_decoder *ahead) {
    sigset_t all, before;
    sigfillset(&all); /* The thread blocks all signals, so that other threads handle them. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&ahead->thread, NULL, decode, ahead) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

tm_decoder *tm_ahead_open(tm_decoder *inner) {
    ahead_decoder *ahead = malloc(sizeof *ahead);
    if (!ahead)
        return NULL;
    memset(ahead, 0, offsetof(ahead_decoder, bytes));
    ahead->base = (tm_decoder){.read = read_ahead, .close = close_ahead, .raw = inner->raw};
    ahead->inner = inner;
    for (size_t i = 0; i < BLOCKS; i++)
        ahead->blocks[i].bytes = ahead->bytes[i];
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->moved, NULL);
    if (start_thread(ahead))
        return &ahead->base;
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
    return NULL;
}

int64_t tm_ahead_consumed(const tm_decoder *decoder) {
    return ((const ahead_decoder *)decoder)->consumed;
}
