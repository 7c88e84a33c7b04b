#include "gpu_collectives.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/median.h"

enum { NESTED_MAX = 8 };

/* Returns the total size of all arrays of a shape [bytes]; -1 if it is unknown. */
static int64_t bytes_of(tm_wire_message shape, int nested) {
    int64_t sum = 0;
    if (!tm_hlo_is_tuple(shape))
        return tm_hlo_array_read(shape).bytes;
    for (size_t i = 0; nested < NESTED_MAX; i++) {
        tm_wire_message element = tm_hlo_element(shape, i);
        if (!element.p)
            return sum > 0 ? sum : -1;
        int64_t one = bytes_of(element, nested + 1);
        if (one < 0 || sum > INT64_MAX / 4)
            return -1;
        sum += one;
    }
    return -1;
}

/* The groups that a collective instruction gives. */
typedef struct groups {
    tm_vec *text; /* vector of char: "replica_groups={{0,1},{2,3}},channel_id=1" */
    /* number of devices of each group; 0: not given; -1: unknown, or the groups differ in size */
    int64_t size;
    bool ok, unknown; /* ok: memory did not run out. unknown: the groups are in an unknown form. */
} groups;

static void put(groups *g, const char *text) {
    g->ok = g->ok && tm_vec_append(g->text, text, strlen(text));
}

static void put_number(groups *g, const char *before, int64_t value) {
    char text[48];
    snprintf(text, sizeof text, "%s%" PRId64, before, value);
    put(g, text);
}

/* Appends the numbers in a field to the text. Returns how many numbers there are. */
static int64_t put_numbers(groups *g, tm_wire_message message, uint32_t field) {
    tm_hlo_numbers numbers = tm_hlo_numbers_of(message, field);
    int64_t value, n = 0;
    while (tm_hlo_next_number(&numbers, &value))
        put_number(g, n++ > 0 ? "," : "", value);
    return n;
}

/* Reads a ReplicaGroup, whose field 1 is replica_ids. Returns whether the message has such
 * groups. */
static bool put_listed(groups *g, tm_wire_message message, uint32_t number) {
    tm_wire_field field;
    bool any = false;
    while (tm_wire_next(&message, &field)) {
        if (field.number != number || field.type != TM_WIRE_BYTES)
            continue;
        put(g, any ? ",{" : "replica_groups={{");
        int64_t n = put_numbers(g, tm_wire_inner(&field), 1);
        put(g, "}");
        g->size = !any || g->size == n ? n : -1;
        any = true;
    }
    put(g, any ? "}" : "");
    return any;
}

/* Reads an IotaReplicaGroupListProto. Its fields are: 1 groups, 2 devices per group, 3 dimensions,
 * 4 transposition. */
static void put_counted(groups *g, tm_wire_message iota) {
    int64_t sizes[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        tm_hlo_numbers one = tm_hlo_numbers_of(iota, i + 1);
        (void)tm_hlo_next_number(&one, &sizes[i]);
        put_number(g, i ? "," : "replica_groups=[", sizes[i]);
    }
    put(g, "]<=[");
    put_numbers(g, iota, 3);
    put(g, "]T(");
    if (put_numbers(g, iota, 4) == 0 && g->ok)
        g->text->n -= 2;
    else
        put(g, ")");
    g->size = sizes[1] > 0 && sizes[1] <= INT32_MAX ? sizes[1] : -1;
}

/* Reads SourceTarget pairs. Field 1 of a pair is the source, field 2 is the target. */
static void put_pairs(groups *g, tm_wire_message message) {
    tm_wire_field field;
    bool any = false;
    while (tm_wire_next(&message, &field)) {
        if (field.number != TM_HLO_PAIRS || field.type != TM_WIRE_BYTES)
            continue;
        for (uint32_t end = 1; end <= 2; end++) {
            tm_hlo_numbers one = tm_hlo_numbers_of(tm_wire_inner(&field), end);
            /* stays 0 if the field is missing, because protobuf does not write a 0 */
            int64_t device = 0;
            (void)tm_hlo_next_number(&one, &device);
            put_number(g, end == 2 ? "," : any ? ",{" : "source_target_pairs={{", device);
        }
        put(g, "}");
        any = true;
    }
    put(g, any ? "}" : "");
}

/* Reads the groups from a CollectiveDeviceListProto. Its field 1 is replica_groups, its field 2 is
 * iota. Newer versions have other fields. */
static groups read_groups(const tm_hlo_instruction *of, tm_vec *text) {
    tm_wire_message list = of->devices, counted = tm_hlo_inner(list, 2);
    groups g = {.text = text, .ok = true};
    text->n = 0;
    if (counted.p)
        put_counted(&g, counted);
    else if (!put_listed(&g, list, 1) && !put_listed(&g, of->all, TM_HLO_GROUPS))
        g.unknown = list.p != list.end;
    put_pairs(&g, of->all);
    put(&g, of->channel ? ",channel_id=1" : "");
    put(&g, of->global_ids ? ",use_global_device_ids=true" : "");
    /* If a collective has a channel but no global ids, a group has all partitions of its
     * replicas. */
    if ((of->channel && !of->global_ids) || g.unknown)
        g.size = -1;
    return g;
}

/* Sets the bytes of a collective's operands and results from the shape of its result. The result of
 * a -start instruction is a tuple that begins with the operand and the result. (The result of an
 * all-reduce-start is not a tuple.) */
static void read_bytes(tm_wire_message shape, bool starts, int64_t size, tm_gpu_collective *out) {
    bool gathers = strcmp(out->word, "all-gather") == 0;
    bool scatters = strcmp(out->word, "reduce-scatter") == 0;
    if (starts) {
        out->in_bytes = bytes_of(tm_hlo_element(shape, 0), 1);
        out->out_bytes = bytes_of(tm_hlo_element(shape, 1), 1);
        return;
    }
    int64_t given = out->out_bytes = bytes_of(shape, 0);
    if (!gathers && !scatters)
        out->in_bytes = given;
    else if (given >= 0 && size > 0 && gathers)
        out->in_bytes = given % size == 0 ? given / size : -1;
    else if (given >= 0 && size > 0)
        out->in_bytes = given <= INT64_MAX / 4 / size ? given * size : -1;
}

typedef struct known {
    uint64_t hash; /* hash of everything that the group depends on */
    uint32_t name;
    int32_t n_members;
    int ends;
} known;

/* The devices that take part in a collective together with a given device. */
typedef struct members {
    tm_vec of;  /* vector of int64_t */
    bool local; /* all devices are in one process, and `of` has their numbers in this process */
    int ends;   /* as in tm_gpu_collective */
} members;

static bool is_device_of(const tm_xread *r, int64_t number) {
    const tm_xdevice *v = r->devices.data;
    for (size_t i = 0; i < r->devices.n; i++)
        if (v[i].number == number)
            return true;
    return false;
}

/* Lists the ids that this device may have in the job. The number in a profile is the id in the job
 * if the job has only one process, or if the device is a CPU. */
static bool list_own(const tm_gpu_collectives *c, const tm_assignment *a, tm_vec *out) {
    const tm_xread *r = c->r;
    size_t n = a->n_replicas * a->n_parts, inside = 0;
    for (size_t i = 0; i < n; i++)
        inside += is_device_of(r, a->devices[i]);
    for (size_t i = 0; i < n; i++) {
        int64_t own = a->devices[i], place = own % (int64_t)r->devices.n;
        bool same = inside == n || r->device->kind == TM_X_CPU;
        bool may = same ? own == r->device->number : !c->numbered || place == r->device->number;
        if (may && !tm_vec_append(out, &own, 1))
            return false;
    }
    return true;
}

static bool is_equal(const tm_vec *a, const tm_vec *b, int64_t shift) {
    const int64_t *x = a->data, *y = b->data;
    bool equal = a->n == b->n;
    for (size_t i = 0; i < a->n && equal; i++)
        equal = x[i] + shift == y[i];
    return equal;
}

/* Whether all members of a group are devices of one process. @p first is the first device of this
 * process. */
static bool lies_inside(const tm_vec *group, int64_t first, int64_t n) {
    const int64_t *v = group->data;
    return group->n > 0 && v[0] >= first && v[group->n - 1] < first + n;
}

/* Finds the group of this device. If the group differs between the processes of the job, the result
 * is empty, unless the group is inside one process. */
static bool find_members(const tm_gpu_collectives *c, const tm_hlo *hlo, const tm_assignment *a,
                         members *found) {
    tm_vec *out = &found->of;
    tm_vec own = TM_VEC(int64_t), other = TM_VEC(int64_t);
    int64_t n_local = (int64_t)c->r->devices.n, place = c->r->device->number;
    bool ok = list_own(c, a, &own), same = true, inside = c->numbered;
    const int64_t *v = own.data;
    ok = ok && (own.n == 0 || tm_hlo_group(hlo, a, v[0], out));
    inside = inside && own.n > 1 && lies_inside(out, v[0] - place, n_local);
    found->ends = own.n > 0 ? tm_hlo_ends(hlo, a, v[0]) : 0;
    for (size_t i = 1; i < own.n; i++)
        found->ends = tm_hlo_ends(hlo, a, v[i]) == found->ends ? found->ends : 0;
    for (size_t i = 1; i < own.n && ok && (same || inside); i++) {
        ok = tm_hlo_group(hlo, a, v[i], &other);
        same = same && is_equal(out, &other, 0);
        inside = inside && is_equal(out, &other, v[i] - v[0]);
    }
    found->local = !same && inside;
    int64_t *numbers = out->data;
    for (size_t i = 0; i < out->n && found->local; i++)
        numbers[i] -= v[0] - place;
    if (!same && !inside)
        out->n = 0;
    tm_vec_free(&own);
    tm_vec_free(&other);
    return ok;
}

static bool find_group(tm_gpu_collectives *c, const tm_hlo *hlo, const tm_assignment *a,
                       known *out) {
    tm_xread *r = c->r;
    members group = {.of = TM_VEC(int64_t)};
    tm_text host = tm_names_text(r->names, r->trace->host);
    bool ok = find_members(c, hlo, a, &group);
    out->name = TM_NO_NAME;
    if (ok && group.of.n > 1 && (!group.local || host.size > 0)) {
        out->n_members = (int32_t)group.of.n;
        out->ends = group.ends;
        out->name = tm_hlo_group_name(r->names, "devices", &group.of,
                                      group.local ? host : (tm_text){"", 0});
        const tm_communicator own = {
            .name = out->name, .n_ranks = out->n_members, .place = -1, .used = true};
        ok = out->name != TM_NAME_FAILED && tm_xread_add_communicator(r, &own);
    }
    tm_vec_free(&group.of);
    return ok;
}

/* Sets the group of a collective. Groups are cached, because most collectives have one of a few
 * groups. */
static bool set_group(tm_gpu_collectives *c, int64_t program, tm_gpu_collective *out) {
    const tm_assignment a = tm_xassignments_of(&c->assignments, program);
    const tm_hlo hlo = {.opcode = {out->word, strlen(out->word)},
                        .attributes = {c->text.data, c->text.n}};
    const known *v = c->known.data;
    known added = {0};
    if (!a.devices)
        return true;
    added.hash = tm_hash_mixed(a.n_parts, a.devices, a.n_replicas * a.n_parts * sizeof *a.devices);
    added.hash = tm_hash_mixed(added.hash, hlo.opcode.bytes, hlo.opcode.size);
    added.hash = tm_hash_mixed(added.hash, hlo.attributes.bytes, hlo.attributes.size);
    size_t i = 0;
    while (i < c->known.n && v[i].hash != added.hash)
        i++;
    if (i == c->known.n &&
        (!find_group(c, &hlo, &a, &added) || !tm_vec_append(&c->known, &added, 1)))
        return false;
    const known *found = (const known *)c->known.data + i;
    out->group = found->name;
    out->n_members = found->n_members;
    out->ends = found->ends;
    return true;
}

bool tm_gpu_collective_read(tm_gpu_collectives *c, int64_t program, tm_text category,
                            const tm_hlo_instruction *of, tm_gpu_collective *out) {
    static const char *const words[] = {"all-reduce", "all-gather",         "reduce-scatter",
                                        "all-to-all", "collective-permute", "collective-broadcast"};
    *out = (tm_gpu_collective){.in_bytes = -1, .out_bytes = -1, .group = TM_NO_NAME};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        out->word = tm_text_is(category, words[i]) ? words[i] : out->word;
    if (!out->word)
        return true;
    const groups g = read_groups(of, &c->text);
    bool starts = of->opcode.size != category.size && !tm_text_is(of->opcode, "all-reduce-start");
    read_bytes(of->shape, starts, g.size, out);
    /* an async- instruction has no groups: the groups are in the computation that it starts */
    bool wraps = tm_text_begins(of->opcode, "async-");
    return g.ok && (g.unknown || wraps || set_group(c, program, out));
}

/* Returns whether the ids of devices in the job are their numbers in the process plus k * n, where
 * n is the number of devices per process, and k is the same for all. For example, the ids 4 to 7
 * fit the numbers 0 to 3. Both vectors are sorted. */
static bool counts_up(const tm_gpu_collectives *c, const tm_vec *job, const tm_vec *process) {
    const int64_t *v = job->data, *own = process->data;
    int64_t n = (int64_t)c->r->devices.n;
    bool up = true;
    for (size_t i = 0; i < job->n && up; i++)
        up = v[i] % n == own[i] && v[i] / n == v[0] / n;
    return up;
}

/* Sets *fits to the result of counts_up if the program's device assignment has as many devices as
 * ran the program in this file, because then no other process ran it. A program of only device 0
 * proves nothing. In all other cases, *fits stays unchanged. */
static bool fits_program(const tm_gpu_collectives *c, const tm_xassigned *program,
                         const tm_vec *runs, bool *fits) {
    const tm_gpu_run *run = runs->data;
    size_t n = program->n_replicas * program->n_parts;
    tm_vec job = TM_VEC(int64_t), process = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < runs->n && ok; i++)
        ok = run[i].program != program->id || tm_vec_append(&process, &run[i].device, 1);
    if (ok && process.n == n && n > 0) {
        ok = tm_vec_append(&job, (const int64_t *)c->assignments.devices.data + program->first, n);
        if (ok && (n > 1 || *(const int64_t *)job.data != 0)) {
            tm_sort_values(job.data, n);
            tm_sort_values(process.data, n);
            *fits = counts_up(c, &job, &process);
        }
    }
    tm_vec_free(&job);
    tm_vec_free(&process);
    return ok;
}

/* Whether the programs together use the devices 0 to n - 1, where n is a multiple of the number of
 * devices per process. */
static bool is_whole(const tm_gpu_collectives *c) {
    tm_vec all = c->assignments.devices;
    int64_t *v = all.n > 0 ? malloc(all.n * sizeof *v) : NULL, n = 0;
    if (!v)
        return false;
    memcpy(v, all.data, all.n * sizeof *v);
    tm_sort_values(v, all.n);
    for (size_t i = 0; i < all.n; i++)
        n += v[i] == n;
    bool whole = n == v[all.n - 1] + 1 && n % (int64_t)c->r->devices.n == 0;
    free(v);
    return whole;
}

static bool check_numbers(tm_gpu_collectives *c, const tm_vec *runs) {
    const tm_xassigned *v = c->assignments.programs.data;
    bool fits = is_whole(c), ok = true;
    for (size_t i = 0; i < c->assignments.programs.n && ok && fits; i++)
        ok = fits_program(c, &v[i], runs, &fits);
    c->numbered = fits;
    return ok;
}

tm_status tm_gpu_collectives_open(tm_gpu_collectives *out, tm_xread *r, const tm_vec *runs,
                                  tm_error *err) {
    const tm_xplane *planes = r->space.planes.data;
    const tm_xdevice *devices = r->devices.data;
    size_t n = 0;
    *out = (tm_gpu_collectives){.r = r, .text = TM_VEC(char), .known = TM_VEC(known)};
    for (size_t i = 0; i < r->space.planes.n; i++)
        n += tm_text_begins(planes[i].name, "/device:GPU:");
    out->numbered = n == r->devices.n;
    for (size_t i = 0; i < r->devices.n; i++)
        out->numbered = out->numbered && devices[i].number == (int64_t)i;
    TM_TRY(tm_xassignments_read(&r->space, &out->assignments, err));
    return !out->numbered || check_numbers(out, runs) ? TM_OK : tm_fail_memory(err);
}

void tm_gpu_collectives_close(tm_gpu_collectives *c) {
    tm_xassignments_free(&c->assignments);
    tm_vec_free(&c->text);
    tm_vec_free(&c->known);
}
