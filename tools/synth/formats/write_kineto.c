/* Writes events: constant text from kineto_texts.c, with numbers in between. This is the program's
 * inner loop, so it formats no text that can be made once per file. */
#include "write_kineto.h"

#include <stdlib.h>
#include <string.h>

#include "kineto_frame.h"
#include "kineto_texts.h"
#include "synth/base/rng.h"

/* The allocator's memory when the recording starts: weights and optimizer state [B]. */
#define ALLOCATED_BYTES INT64_C(8589934592)

/* Appends a literal, whose length the compiler computes. */
#define LITERAL(out, text) tms_out_text((out), (text), sizeof(text) - 1)

struct tms_kineto {
    const tms_groups *groups; /* borrowed */
    const tms_config *config; /* borrowed */
    tms_out *out;             /* borrowed */
    tms_placement placement;
    tms_kineto_texts texts;
    int64_t count;           /* number of duration and instant events so far */
    int64_t op_index;        /* value of the next "Ev Idx" */
    int64_t allocated_bytes; /* allocated memory after the last [memory] event so far [B] */
};

tms_status tms_kineto_begin(tms_kineto **kineto, const tms_groups *groups, int64_t rank,
                            tms_out *out, tms_error *err) {
    tms_kineto *made = calloc(1, sizeof *made);

    if (made == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace");
    }
    made->groups = groups;
    made->config = groups->config;
    made->out = out;
    made->placement = tms_placement_of(groups->config, rank);
    made->allocated_bytes = ALLOCATED_BYTES;
    if (!tms_kineto_texts_make(&made->texts, groups, &made->placement)) {
        tms_kineto_free(made);
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for the texts of a trace");
    }
    tms_kineto_header(out, groups, &made->placement);
    *kineto = made;
    return TMS_OK;
}

/* Writes the start or end of the last event's arrow. */
static void write_flow(tms_kineto *kineto, const tms_event *event, const tms_kind_info *info) {
    tms_out *out = kineto->out;
    bool op = info->shape == TMS_SHAPE_OP;

    LITERAL(out, "  {\n    \"ph\": \"");
    tms_out_text(out, info->flow == TMS_FLOW_OUT ? "s" : "f", 1);
    LITERAL(out, "\", \"id\": ");
    /* Kineto repeats the event's track and time exactly, because viewers find the event by them.
     * The id is the sequence number of an operator or the correlation of a launch. */
    tms_out_int(out, op ? event->value : event->correlation);
    LITERAL(out, ", \"pid\": ");
    tms_out_int(out, kineto->placement.pid[event->track]);
    LITERAL(out, ", \"tid\": ");
    tms_out_int(out, kineto->placement.tid[event->track]);
    LITERAL(out, ", \"ts\": ");
    tms_out_us(out, event->begin_ns - TMS_BASE_NS);
    /* Both categories count ids from 1, so readers must identify an arrow by category and id. */
    if (op) {
        LITERAL(out, ",\n    \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"");
    } else {
        LITERAL(out, ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"");
    }
    if (info->flow == TMS_FLOW_IN) {
        LITERAL(out, ", \"bp\": \"e\"");
    }
    LITERAL(out, "\n  },\n");
}

/* Writes a size [B], and a bandwidth [B/ns = GB/s] with six decimals. Formats integer part and
 * fraction separately: a double would print the same but take ten times as long. */
static void write_copy(tms_out *out, const tms_event *event) {
    int64_t micro = event->value * 1000000 / event->duration_ns;
    char fraction[7] = {'.'};

    LITERAL(out, ",      \"bytes\": ");
    tms_out_int(out, event->value);
    LITERAL(out, ", \"memory bandwidth (GB/s)\": ");
    tms_out_int(out, micro / 1000000);
    for (int i = 6; i > 0; i--, micro /= 10) {
        fraction[i] = (char)('0' + micro % 10);
    }
    tms_out_text(out, fraction, sizeof fraction);
}

/* Writes the main number of an event's arguments, and the members that depend on it. */
static void write_numbers(tms_kineto *kineto, const tms_event *event, tms_shape shape) {
    tms_out *out = kineto->out;

    switch (shape) {
    case TMS_SHAPE_OP:
    case TMS_SHAPE_ANNOTATION:
        tms_out_int(out, kineto->op_index++);
        if (shape == TMS_SHAPE_OP && event->value != 0) {
            LITERAL(out, ", \"Sequence number\": ");
            tms_out_int(out, event->value);
            LITERAL(out, ", \"Fwd thread id\": ");
            /* Torch's number of the forward thread. It is 0 for operators of the forward pass. For
             * operators on the backward thread, it is the number of the Python thread, which is 1.
             */
            tms_out_int(out, event->track == TMS_TRACK_AUTOGRAD);
        }
        break;
    case TMS_SHAPE_INSTANT:
        /* The sum counts over the whole file, so that the curve of memory use is complete. */
        kineto->allocated_bytes += event->value;
        tms_out_int(out, event->value);
        LITERAL(out, ", \"Total Allocated\": ");
        tms_out_int(out, kineto->allocated_bytes);
        break;
    case TMS_SHAPE_RUNTIME:
    case TMS_SHAPE_KERNEL:
    case TMS_SHAPE_COMM:
        tms_out_int(out, event->correlation);
        break;
    case TMS_SHAPE_MEMCPY:
    case TMS_SHAPE_MEMSET:
        tms_out_int(out, event->correlation);
        write_copy(out, event);
        break;
    case TMS_SHAPE_GPU_ANNOTATION:
    case TMS_SHAPE_COUNT:
        break;
    }
}

/* Writes ', "name": value'. */
static void member(tms_out *out, const char *name, int64_t value) {
    LITERAL(out, ", \"");
    tms_out_string(out, name);
    LITERAL(out, "\": ");
    tms_out_int(out, value);
}

/* Returns a collective's id, which is the same on all members: a hash of the group's name and
 * ranks, and of the sequence number. */
static uint64_t comms_id(const tms_channel *channel, const tms_comm *comm) {
    bool message = comm->what == TMS_SEND || comm->what == TMS_RECV;
    uint64_t state = (uint64_t)channel->name << 1 | (message ? 1 : 0);

    state = tms_splitmix64(&state) ^ (uint64_t)comm->seq;
    state = tms_splitmix64(&state) ^ (uint64_t)channel->group.start;
    state = tms_splitmix64(&state) ^ (uint64_t)channel->group.stride;
    state = tms_splitmix64(&state) ^ (uint64_t)channel->group.size;
    return tms_splitmix64(&state);
}

/* Writes the ids of a collective. Traces have them only since 2026. */
static void write_identity(tms_kineto *kineto, const tms_channel *channel, const tms_comm *comm) {
    tms_out *out = kineto->out;

    if (kineto->config->seq != 0) {
        member(out, "Seq", comm->seq);
    }
    if (kineto->config->comms_id != 0) {
        char field[20];
        char *end = field + sizeof field;
        char *digits = tms_out_digits(end, comms_id(channel, comm));

        LITERAL(out, ", \"Comms Id\": ");
        tms_out_text(out, digits, (size_t)(end - digits));
    }
}

/* Writes the attributes that both the operator and the kernel of a collective have. */
static void write_collective(tms_kineto *kineto, const tms_channel *channel, const tms_comm *comm) {
    tms_out *out = kineto->out;
    const tms_dtype_info *dtype = tms_dtype_get(comm->dtype);
    int64_t whole = comm->bytes / dtype->bytes;
    int64_t piece = whole / channel->ranks.size;

    LITERAL(out, ", \"Collective name\": \"");
    tms_out_string(out, tms_collective_get(comm->what)->name);
    LITERAL(out, "\"");
    member(out, "In msg nelems", comm->what == TMS_ALL_GATHER ? piece : whole);
    member(out, "Out msg nelems", comm->what == TMS_REDUCE_SCATTER ? piece : whole);
    member(out, "Group size", channel->group.size);
    LITERAL(out, ", \"dtype\": \"");
    tms_out_string(out, dtype->name);
    tms_out_string(out, kineto->texts.group[comm->role]);
    if (comm->what == TMS_SEND) {
        member(out, "Dst Rank", comm->peer);
    } else if (comm->what == TMS_RECV) {
        member(out, "Src Rank", comm->peer);
    }
    write_identity(kineto, channel, comm);
}

/* Writes the arguments of an event of a collective, and closes it. */
static void write_comm(tms_kineto *kineto, const tms_event *event, const tms_comm *comm) {
    const tms_channel *channel = tms_groups_channel(kineto->groups, &kineto->placement, comm->role);
    tms_out *out = kineto->out;
    bool message = comm->what == TMS_SEND || comm->what == TMS_RECV;
    int64_t rank = message ? comm->peer : kineto->placement.rank;

    if (event->kind == TMS_OP_COMMS) {
        /* Number of a rank in the group: of this rank or, for a send or receive, of the peer. */
        member(out, "Rank", tms_ranks_position(&channel->group, rank));
        member(out, "Global rank start", channel->group.start);
        member(out, "Global rank stride", channel->group.stride);
        write_collective(kineto, channel, comm);
    } else if (kineto->config->no_metadata == 0 && kineto->config->graphs == 0 &&
               event->kind != TMS_GPU_CUSTOM_ONE_STAGE && event->kind != TMS_GPU_CUSTOM_TWO_STAGE) {
        write_collective(kineto, channel, comm);
    }
    LITERAL(out, "\n    }\n  },\n");
}

/* Writes the number at the end of the name. Only some kinds have one. */
static void write_name_number(tms_kineto *kineto, const tms_event *event, const tms_comm *comm) {
    tms_number number = tms_kind_get(event->kind)->number;

    if (number == TMS_NUMBER_STEP) {
        tms_out_int(kineto->out, event->value);
    } else if (number == TMS_NUMBER_PEER && comm != NULL) {
        const tms_channel *channel =
            tms_groups_channel(kineto->groups, &kineto->placement, comm->role);

        tms_out_int(kineto->out, tms_ranks_position(&channel->group, kineto->placement.rank));
        tms_out_text(kineto->out, comm->what == TMS_SEND ? "->" : "<-", 2);
        tms_out_int(kineto->out, tms_ranks_position(&channel->group, comm->peer));
    }
}

/* Writes an event, then the start or end of its arrow, in the order of real files. @p comm is the
 * collective of the event; NULL for most events. */
static void write_event(tms_kineto *kineto, const tms_event *event, const tms_comm *comm) {
    const tms_kind_info *info = tms_kind_get(event->kind);
    const tms_kineto_text *text = &kineto->texts.of[event->kind][event->track];
    const char *p = text->text;
    tms_out *out = kineto->out;
    /* Kineto widens the GPU copies of annotations by 1 ns on each side. */
    int64_t wider_ns = info->shape == TMS_SHAPE_GPU_ANNOTATION;

    tms_out_text(out, p, text->head);
    p += text->head;
    if (info->number != TMS_NUMBER_NONE) {
        write_name_number(kineto, event, comm);
    }
    tms_out_text(out, p, text->place);
    p += text->place;
    tms_out_us(out, event->begin_ns - wider_ns - TMS_BASE_NS);
    if (info->shape != TMS_SHAPE_INSTANT) {
        LITERAL(out, ", \"dur\": ");
        tms_out_us(out, event->duration_ns + 2 * wider_ns);
    }
    tms_out_text(out, p, text->open);
    p += text->open;
    if (event->external_id != 0) {
        LITERAL(out, "\"External id\": ");
        tms_out_int(out, event->external_id);
        /* A GPU annotation ends here, so no comma follows. */
        tms_out_text(out, ",", wider_ns != 0 ? 0 : 1);
    }
    tms_out_text(out, p, text->middle);
    p += text->middle;
    write_numbers(kineto, event, info->shape);
    tms_out_text(out, p, text->tail);
    if (comm != NULL && (event->kind == TMS_OP_COMMS || info->shape == TMS_SHAPE_COMM)) {
        write_comm(kineto, event, comm);
    }
    if (info->flow != TMS_FLOW_NONE) {
        write_flow(kineto, event, info);
    }
}

void tms_kineto_events(tms_kineto *kineto, const tms_events *events, tms_section section) {
    for (size_t i = 1; i <= events->count; i++) {
        const tms_event *event = &events->items[i];

        if (tms_events_section(event->kind, event->track) == section) {
            write_event(kineto, event, event->comm > 0 ? &events->comms[event->comm - 1] : NULL);
            kineto->count++;
        }
    }
}

void tms_kineto_end(tms_kineto *kineto, int64_t begin_ns, int64_t end_ns, const char *name) {
    tms_window window = {begin_ns - TMS_BASE_NS, end_ns - TMS_BASE_NS};

    kineto->count +=
        tms_kineto_footer(kineto->out, kineto->config, &kineto->placement, window, name);
}

int64_t tms_kineto_count(const tms_kineto *kineto) {
    return kineto->count;
}

void tms_kineto_free(tms_kineto *kineto) {
    if (kineto == NULL) {
        return;
    }
    tms_kineto_texts_free(&kineto->texts);
    free(kineto);
}
