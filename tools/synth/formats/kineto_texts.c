/* Makes the constant texts of a file. This happens once per file, so it may use printf and memory
 * streams. The writing loop only copies the texts. */
#include "kineto_texts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streaming multiprocessors of the card that the file's header describes. */
#define DEVICE_SMS 132

/* Torch lists up to this many members of a group. If there are more, "..." follows. */
#define LISTED_RANKS 30

/* Address and size of the memory that torch's caching allocator has reserved. The values are
 * arbitrary. */
#define HEAP_ADDRESS 139926520725504LL
#define RESERVED_BYTES 75161927680LL /* 88 % of an H100's memory, a usual value */

typedef struct builder {
    tms_kineto_texts *texts;
    const tms_groups *groups;
    const tms_placement *placement;
} builder;

/* Closes a memory stream. Returns false when out of memory. */
static bool close_text(FILE *stream) {
    bool good = !ferror(stream);

    return fclose(stream) == 0 && good;
}

/* Makes the last JSON members of NCCL kernels and record_param_comms, which describe the process
 * group. */
static bool make_group(const builder *m, tms_role role) {
    const tms_channel *channel = tms_groups_channel(m->groups, m->placement, role);
    int64_t ranks;
    size_t size;
    FILE *stream;

    if (channel == NULL) {
        return true;
    }
    stream = open_memstream(&m->texts->group[role], &size);
    if (stream == NULL) {
        return false;
    }
    ranks = channel->group.size;
    fprintf(stream,
            "\", \"In split size\": \"[]\", \"Out split size\": \"[]\", "
            "\"Process Group Name\": \"%lld\", \"Process Group Description\": \"%s\", "
            "\"Process Group Ranks\": \"[",
            (long long)channel->name, channel->description);
    for (int64_t i = 0; i < ranks && i < LISTED_RANKS; i++) {
        fprintf(stream, "%s%lld", i > 0 ? ", " : "", (long long)tms_ranks_at(&channel->group, i));
    }
    fprintf(stream, "%s]\"", ranks > LISTED_RANKS ? ", ..." : "");
    return close_text(stream);
}

/* Writes a kernel's launch parameters. They depend only on its kind. */
static void print_launch(FILE *stream, const tms_launch *launch) {
    const int *grid = launch->grid;
    const int *block = launch->block;
    double blocks = (double)grid[0] * grid[1] * grid[2] / DEVICE_SMS;
    /* A block takes whole warps, each of 32 threads. */
    int block_warps = (block[0] * block[1] * block[2] + 31) / 32;

    fprintf(stream,
            ",      \"registers per thread\": %d,      \"shared memory\": %d,"
            "      \"blocks per SM\": %f,      \"warps per SM\": %f,"
            "      \"grid\": [%d, %d, %d],      \"block\": [%d, %d, %d],"
            "      \"est. achieved occupancy %%\": %d",
            launch->registers, launch->shared_bytes, blocks, blocks * block_warps, grid[0], grid[1],
            grid[2], block[0], block[1], block[2], launch->occupancy);
}

/* Writes device and stream of GPU work. The number that the caller writes next is the
 * correlation. */
static void print_place(FILE *stream, const tms_placement *placement, tms_track track) {
    fprintf(stream, "\"device\": %lld, \"context\": 1,      \"stream\": %lld, \"correlation\": ",
            (long long)placement->device, (long long)placement->tid[track]);
}

/* Writes the part of an event between its External id and its main number. Blanks are as Kineto
 * writes them when it appends members. */
static void print_middle(FILE *stream, const builder *m, const tms_kind_info *info,
                         tms_track track) {
    /* Each case ends with the name of a member, whose value is the event's number. */
    switch (info->shape) {
    case TMS_SHAPE_OP:
    case TMS_SHAPE_ANNOTATION:
        fprintf(stream,
                "\"Record function id\": 0, %s\"Ev Idx\": ", info->args != NULL ? info->args : "");
        break;
    case TMS_SHAPE_INSTANT:
        fprintf(stream, "\"Device Type\": 1, \"Device Id\": %lld, \"Addr\": %lld, \"Bytes\": ",
                (long long)m->placement->device, HEAP_ADDRESS);
        break;
    case TMS_SHAPE_RUNTIME:
        fprintf(stream, "      \"cbid\": %d, \"correlation\": ", info->cbid);
        break;
    case TMS_SHAPE_KERNEL:
    case TMS_SHAPE_COMM:
        fprintf(stream, "      \"queued\": 0, ");
        print_place(stream, m->placement, track);
        break;
    case TMS_SHAPE_MEMCPY:
    case TMS_SHAPE_MEMSET:
        fprintf(stream, "      ");
        print_place(stream, m->placement, track);
        break;
    case TMS_SHAPE_GPU_ANNOTATION:
    case TMS_SHAPE_COUNT:
        break;
    }
}

static void print_tail(FILE *stream, tms_kind kind) {
    const tms_kind_info *info = tms_kind_get(kind);

    if (info->shape == TMS_SHAPE_KERNEL || info->shape == TMS_SHAPE_COMM) {
        print_launch(stream, &info->launch);
    } else if (info->shape == TMS_SHAPE_INSTANT) {
        fprintf(stream, ", \"Total Reserved\": %lld", RESERVED_BYTES);
    }
    /* Arguments of collectives depend on the collective, so the writer adds them. */
    if (kind != TMS_OP_COMMS && info->shape != TMS_SHAPE_COMM) {
        fprintf(stream, "\n    }\n  },\n");
    }
}

/* Returns the length of the text written since the previous call. */
static size_t mark(FILE *stream, size_t *before) {
    long at = ftell(stream);
    size_t length = at < 0 ? 0 : (size_t)at - *before;

    *before += length;
    return length;
}

/* Prints all parts into one string, and records their lengths. */
static bool make_text(const builder *m, tms_kind kind, tms_track track) {
    const tms_kind_info *info = tms_kind_get(kind);
    tms_kineto_text *made = &m->texts->of[kind][track];
    bool instant = info->shape == TMS_SHAPE_INSTANT;
    size_t size;
    size_t before = 0;
    FILE *stream = open_memstream(&made->text, &size);

    if (stream == NULL) {
        return false;
    }
    fprintf(stream, "  {\n    \"ph\": \"%s\", \"cat\": \"%s\",%s \"name\": \"%s",
            instant ? "i" : "X", tms_shape_category(info->shape), instant ? " \"s\": \"t\"," : "",
            info->name);
    made->head = mark(stream, &before);
    fprintf(stream, "\",%s\"pid\": %lld, \"tid\": %lld,\n    \"ts\": ", instant ? "\n    " : " ",
            (long long)m->placement->pid[track], (long long)m->placement->tid[track]);
    made->place = mark(stream, &before);
    fprintf(stream, ",\n    \"args\": {\n      ");
    made->open = mark(stream, &before);
    print_middle(stream, m, info, track);
    made->middle = mark(stream, &before);
    print_tail(stream, kind);
    made->tail = mark(stream, &before);
    return close_text(stream);
}

/* Returns whether a kind can be on a track. For a small file, making texts of impossible pairs
 * would be most of the work. */
static bool possible(const builder *m, tms_kind kind, tms_track track) {
    bool gpu = false;

    switch (tms_kind_get(kind)->shape) {
    case TMS_SHAPE_KERNEL:
    case TMS_SHAPE_COMM:
    case TMS_SHAPE_MEMCPY:
    case TMS_SHAPE_MEMSET:
    case TMS_SHAPE_GPU_ANNOTATION:
        gpu = true;
        break;
    case TMS_SHAPE_OP:
    case TMS_SHAPE_ANNOTATION:
    case TMS_SHAPE_INSTANT:
    case TMS_SHAPE_RUNTIME:
    case TMS_SHAPE_COUNT:
        break;
    }
    return gpu == tms_track_gpu(track) &&
           tms_placement_used(m->groups->config, m->placement, track);
}

bool tms_kineto_texts_make(tms_kineto_texts *texts, const tms_groups *groups,
                           const tms_placement *placement) {
    builder m = {texts, groups, placement};

    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        if (!make_group(&m, (tms_role)role)) {
            return false;
        }
    }
    for (int kind = 0; kind < TMS_KIND_COUNT; kind++) {
        for (int track = 0; track < TMS_TRACK_COUNT; track++) {
            if (possible(&m, (tms_kind)kind, (tms_track)track) &&
                !make_text(&m, (tms_kind)kind, (tms_track)track)) {
                return false;
            }
        }
    }
    return true;
}

void tms_kineto_texts_free(tms_kineto_texts *texts) {
    for (int kind = 0; kind < TMS_KIND_COUNT; kind++) {
        for (int track = 0; track < TMS_TRACK_COUNT; track++) {
            free(texts->of[kind][track].text);
        }
    }
    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        free(texts->group[role]);
    }
    memset(texts, 0, sizeof *texts);
}
