/* Payloads as NCCL's nvtx.h declares them and Nsight stores them. A payload starts with a header of
 * 32 bytes, which has the schema's id at offset 8 and the payload's size at offset 16. After the
 * header come the fields, at their offsets. */
#include "write_nsys_nccl.h"

#include <string.h>

#include "synth/base/rng.h"

#define HEADER_BYTES 32

/* Types of fields as NVTX numbers them, except NCCL's own enumeration of reductions. */
enum { TYPE_INT32 = 5, TYPE_U64 = 18, TYPE_SIZE = 22, TYPE_REDUCTION = 0x1000010 };

#define FIELDS_MAX 4

/* The payload of a function: its index among NCCL's schemas, and its fields. */
static const struct function {
    const char *name;
    int schema;
    size_t bytes;
    struct field {
        const char *name; /* NULL after the last field */
        int type;
        int offset;
    } fields[FIELDS_MAX];
} functions[TMS_NCCL_COUNT] = {
#define COMMUNICATOR                                                                               \
    { "NCCL communicator ID", TYPE_U64, 0 }
#define SIZE                                                                                       \
    { "Message size [bytes]", TYPE_SIZE, 8 }
#define REDUCTION                                                                                  \
    { "Reduction operation", TYPE_REDUCTION, 16 }
#define PEER                                                                                       \
    { "Peer rank", TYPE_INT32, 16 }
    [TMS_ALL_REDUCE] = {"ncclAllReduce", 5, 24, {COMMUNICATOR, SIZE, REDUCTION}},
    [TMS_ALL_GATHER] = {"ncclAllGather", 4, 16, {COMMUNICATOR, SIZE}},
    [TMS_REDUCE_SCATTER] = {"ncclReduceScatter", 7, 24, {COMMUNICATOR, SIZE, REDUCTION}},
    [TMS_BROADCAST] = {"ncclBroadcast", 6, 24, {COMMUNICATOR, SIZE, {"Root", TYPE_INT32, 16}}},
    [TMS_SEND] = {"ncclSend", 9, 24, {COMMUNICATOR, SIZE, PEER}},
    [TMS_RECV] = {"ncclRecv", 10, 24, {COMMUNICATOR, SIZE, PEER}},
    [TMS_NCCL_INIT] = {"ncclCommInitRank",
                       0,
                       24,
                       {COMMUNICATOR,
                        {"No. of ranks", TYPE_INT32, 8},
                        {"Rank", TYPE_INT32, 12},
                        {"CUDA device", TYPE_INT32, 16}}},
};

static int64_t schema_id(int function) {
    return 0x1000000 + functions[function].schema;
}

const char *tms_nccl_name(int function) {
    return functions[function].name;
}

void tms_nccl_schemas(tms_db *db) {
    for (int i = 0; i < TMS_NCCL_COUNT; i++) {
        const struct function *function = &functions[i];
        int n = 0;

        while (n < FIELDS_MAX && function->fields[n].name != NULL) {
            const struct field *field = &function->fields[n];

            /* Real exports have NULL in place of the offset 0. */
            TMS_ROW(db, TMS_TABLE_PAYLOAD_ENTRY, TMS_INT(TMS_NCCL_DOMAIN), TMS_INT(schema_id(i)),
                    TMS_INT(n), TMS_INT(field->type), TMS_TEXT(field->name),
                    field->offset != 0 ? TMS_INT(field->offset) : TMS_NULL);
            n++;
        }
        TMS_ROW(db, TMS_TABLE_PAYLOAD_SCHEMA, TMS_INT(TMS_NCCL_DOMAIN), TMS_INT(schema_id(i)),
                TMS_INT(1), TMS_INT(n), TMS_INT((int64_t)function->bytes));
    }
}

/* Writes little-endian on any machine. */
static void put(uint8_t *bytes, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Writes the header, and the communicator as the first field. Returns the start of the payload. */
static uint8_t *begin(uint8_t *bytes, int function, const tms_groups *groups,
                      const tms_channel *channel) {
    uint64_t state = (uint64_t)groups->config->seed << 20 ^ (uint64_t)(channel - groups->channels);

    memset(bytes, 0, TMS_NCCL_BYTES);
    put(bytes + 8, (uint64_t)schema_id(function), 4);
    put(bytes + 16, functions[function].bytes, 8);
    put(bytes + 24, HEADER_BYTES, 8);
    /* A hash that is the same on all members and different for each communicator. */
    put(bytes + HEADER_BYTES, tms_splitmix64(&state), 8);
    return bytes + HEADER_BYTES;
}

size_t tms_nccl_call(uint8_t *bytes, const tms_groups *groups, const tms_channel *channel,
                     const tms_comm *comm) {
    uint8_t *payload = begin(bytes, (int)comm->what, groups, channel);
    int64_t element = tms_dtype_get(comm->dtype)->bytes;
    int64_t count = comm->bytes / element;

    /* For these two kinds, NCCL's argument is the size of one rank's part. */
    if (comm->what == TMS_ALL_GATHER || comm->what == TMS_REDUCE_SCATTER) {
        count /= channel->ranks.size;
    }
    put(payload + 8, (uint64_t)(count * element), 8);
    /* Reduction and root stay 0: a sum, and the first rank. */
    if (comm->what == TMS_SEND || comm->what == TMS_RECV) {
        put(payload + 16, (uint64_t)tms_ranks_position(&channel->ranks, comm->peer), 4);
    }
    return HEADER_BYTES + functions[comm->what].bytes;
}

size_t tms_nccl_init(uint8_t *bytes, const tms_groups *groups, const tms_channel *channel,
                     const tms_placement *placement) {
    uint8_t *payload = begin(bytes, TMS_NCCL_INIT, groups, channel);

    put(payload + 8, (uint64_t)channel->ranks.size, 4);
    put(payload + 12, (uint64_t)tms_ranks_position(&channel->ranks, placement->rank), 4);
    put(payload + 16, (uint64_t)placement->device, 4);
    return HEADER_BYTES + functions[TMS_NCCL_INIT].bytes;
}
