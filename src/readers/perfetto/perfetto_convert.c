#include "perfetto_convert.h"

#include <stdlib.h>
#include <string.h>

#include "base/export_mark.h"
#include "perfetto_events.h"
#include "perfetto_json.h"
#include "perfetto_slices.h"
#include "tmerge/reader.h"
#include "tmerge/timeline.h"

/* JSON is made in pieces of about this size. A piece may be longer, because its last packet is
 * converted as a whole. */
enum { PIECE_BYTES = 1 << 18 };

static const int64_t second_ns = 1000000000;

struct tm_pf_convert {
    tm_source *source; /* borrowed */
    /* borrowed; the rank to read from a tmerge export; NULL to read the whole trace */
    const tm_unit *unit;
    bool in_unit; /* whether the packets of that rank were reached */
    tm_pf_walk walk;
    tm_pf_state state; /* state in the current pass over the trace */
    tm_pf_tracks tracks;
    tm_arena texts; /* memory for the texts of `tracks` */
    tm_pf_writer writer;
    tm_vec edges;      /* vector of tm_pf_edge: filled by the first pass */
    tm_vec durations;  /* vector of int64_t: duration of each slice [ns] */
    uint32_t n_slices; /* number of slices so far in the current pass */
    int64_t first_ns;  /* earliest time, on the trace's clock; INT64_MAX: none */
    int64_t epoch_ns;  /* time of day minus the trace's clock */
    int64_t lost;
    tm_vec text; /* vector of char: JSON that was made, but that the caller has not taken yet */
    size_t taken;
    bool writing; /* second pass */
    bool begun, ended, cut;
    tm_error failure;
};

/* Computes the time of a legacy event. The time in the event is absolute, or relative to the
 * previous legacy event. */
static bool legacy_time(tm_pf_sequence *s, const tm_pf_event *event, int64_t *time_ns) {
    const int64_t max_us = INT64_MAX / 4000;
    int64_t us = event->legacy_us;
    if (us > max_us || us < -max_us || s->legacy_us > max_us || s->legacy_us < -max_us)
        return false;
    us += event->has_delta ? s->legacy_us : 0;
    if (event->has_delta)
        s->legacy_us = us;
    *time_ns = us * 1000;
    return true;
}

static uint64_t track_of(const tm_pf_event *event, const tm_pf_sequence *s) {
    return event->has_track ? event->track
           : s->has_track   ? s->track
           : s->has_thread  ? s->thread
                            : 0;
}

/* Finds the track, type and time of an event.
 * @param timed  whether the packet has a time
 * @param out  its type is TYPE_NONE if the event is dropped */
static tm_status place(tm_pf_convert *c, const tm_pf_packet *p, tm_pf_sequence *s, bool timed,
                       tm_pf_placed *out, tm_error *err) {
    tm_pf_event_parse(p->event, &out->event);
    out->type = tm_pf_event_type(&out->event);
    out->track = tm_pf_track_of(&c->tracks, track_of(&out->event, s));
    if (out->track == TM_NO_KEY)
        return tm_fail_memory(err);
    if (c->unit && !tm_pf_track_at(&c->tracks, out->track)->is_reported) {
        /* tmerge adds such tracks to its exports only for display in Perfetto, for example steps
         * and totals of memory. */
        out->type = TYPE_NONE;
        return TM_OK;
    }
    if (!p->has_time && out->event.has_legacy_time)
        timed = legacy_time(s, &out->event, &out->time_ns);
    if (!timed || out->type == TYPE_NONE || out->type > TYPE_COUNTER) {
        c->lost += !c->writing;
        out->type = TYPE_NONE;
    }
    return TM_OK;
}

static void note_time(tm_pf_convert *c, int64_t time_ns) {
    if (time_ns < c->first_ns)
        c->first_ns = time_ns;
}

/* Records the start or end of a slice. Both passes number the slices in the same way. */
static tm_status note_edge(tm_pf_convert *c, const tm_pf_placed *e, uint32_t sequence,
                           tm_error *err) {
    bool end = e->type == TYPE_END;
    const int64_t open = TM_PF_OPEN;
    tm_pf_edge edge = {e->time_ns, e->track, TM_PF_END, sequence};
    if (!end) {
        if (c->n_slices == TM_PF_END)
            return tm_fail(err, TM_ERR_INPUT, tm_source_path(c->source), -1,
                           "this trace has over 4 billion slices");
        edge.begin = c->n_slices++;
        if (!tm_vec_append(&c->durations, &open, 1))
            return tm_fail_memory(err);
    }
    /* A legacy slice with a duration needs no end. */
    if (!end && e->event.phase == 'X' && e->event.has_duration) {
        ((int64_t *)c->durations.data)[edge.begin] =
            e->event.duration_us < 0 || e->event.duration_us > INT64_MAX / 1000
                ? TM_PF_OPEN
                : e->event.duration_us * 1000;
        return TM_OK;
    }
    return tm_vec_append(&c->edges, &edge, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status look_at_event(tm_pf_convert *c, const tm_pf_placed *e, uint32_t sequence,
                               tm_error *err) {
    if (e->type != TYPE_END)
        note_time(c, e->time_ns);
    return e->type <= TYPE_END ? note_edge(c, e, sequence, err) : TM_OK;
}

/* Returns the duration of the next slice. If the file was changed since the first pass, there may
 * be more slices than durations. The duration of such a slice is TM_PF_OPEN. */
static int64_t next_duration(tm_pf_convert *c) {
    return c->n_slices < c->durations.n ? ((const int64_t *)c->durations.data)[c->n_slices++]
                                        : TM_PF_OPEN;
}

static bool write_event(tm_pf_convert *c, const tm_pf_sequence *s, const tm_pf_placed *e) {
    switch (e->type) {
    case TYPE_BEGIN:
        return tm_pf_write_slice(&c->writer, s, e, next_duration(c));
    case TYPE_INSTANT:
        return tm_pf_write_instant(&c->writer, s, e);
    case TYPE_COUNTER:
        return !e->event.has_counter || tm_pf_write_counter(&c->writer, s, e);
    default:
        return true;
    }
}

static tm_status take_event(tm_pf_convert *c, const tm_pf_packet *p, tm_pf_sequence *s, bool timed,
                            int64_t time_ns, tm_error *err) {
    tm_pf_placed e = {.time_ns = time_ns};
    TM_TRY(place(c, p, s, timed, &e, err));
    if (e.type == TYPE_NONE)
        return TM_OK;
    if (!c->writing)
        return look_at_event(c, &e, s->id, err);
    return write_event(c, s, &e) ? TM_OK : tm_fail_memory(err);
}

static tm_status take_gpu(tm_pf_convert *c, const tm_pf_packet *p, const tm_pf_sequence *s,
                          bool timed, int64_t time_ns, tm_error *err) {
    if (!timed) {
        c->lost += !c->writing;
        return TM_OK;
    }
    note_time(c, time_ns);
    bool ok = !c->writing ||
              (p->stage.p ? tm_pf_write_stage(&c->writer, s, p->stage, time_ns)
                          : tm_pf_write_gpu_counters(&c->writer, s, p->gpu_counter, time_ns));
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Records the process and thread that an old writer gives for all events of a sequence. */
static bool take_thread(tm_pf_convert *c, const tm_pf_packet *p, tm_pf_sequence *s) {
    tm_wire_message rest = p->thread;
    tm_wire_field f;
    while (tm_wire_next(&rest, &f))
        if (f.number == THREAD_REFERENCE_US && f.type == TM_WIRE_VARINT)
            s->legacy_us = (int64_t)f.value;
    s->has_thread = true;
    return tm_pf_tracks_take_thread(&c->tracks, p->thread, &s->thread);
}

static tm_status take_packet(tm_pf_convert *c, const tm_pf_packet *p, tm_error *err) {
    tm_pf_sequence *s;
    bool usable;
    if (!tm_pf_state_take(&c->state, p, &s, &usable))
        return tm_fail_memory(err);
    if ((p->track.p && !c->writing && !tm_pf_tracks_take(&c->tracks, p->track)) ||
        (p->thread.p && !take_thread(c, p, s)))
        return tm_fail_memory(err);
    if (!usable) {
        c->lost += !c->writing && (p->event.p || p->stage.p);
        return TM_OK;
    }
    /* done for every packet: the next packet's time may be relative to this one's */
    int64_t time_ns = 0;
    bool timed = tm_pf_time(&c->state, p, s, &time_ns);
    if (p->event.p)
        return take_event(c, p, s, timed, time_ns, err);
    return p->stage.p || p->gpu_counter.p ? take_gpu(c, p, s, timed, time_ns, err) : TM_OK;
}

/* Reads the next packet of the unit, or the next packet without a rank. The packets of a rank are
 * adjacent, so reading ends when a packet of another rank follows. */
static tm_status next_packet(tm_pf_convert *c, tm_pf_packet *out, bool *more, tm_error *err) {
    bool other = true;
    while (other) {
        TM_TRY(tm_pf_walk_next(&c->walk, out, more, err));
        const bool own = !c->unit || !*more || out->sequence == c->unit->process;
        other = !own && out->sequence != TM_EXPORT_SEQUENCE;
        *more = *more && !(other && c->in_unit);
        other = other && *more;
        c->in_unit = c->in_unit || own;
    }
    return TM_OK;
}

static tm_status begin_reading(tm_pf_convert *c, bool writing, tm_error *err) {
    c->writing = writing;
    c->in_unit = false;
    c->n_slices = 0;
    tm_pf_state_init(&c->state, writing);
    TM_TRY(tm_pf_walk_open(c->source, &c->walk, err));
    c->walk.first_block = c->unit ? c->unit->devices : 0;
    return TM_OK;
}

static void end_reading(tm_pf_convert *c) {
    c->cut = c->cut || c->walk.cut;
    tm_pf_walk_close(&c->walk);
    tm_pf_state_free(&c->state);
}

/* If the offset of the trace's clock to the time of day is unknown, 0 is used: the times may
 * already be times of day, as in the first .pftrace of PyTorch. */
static tm_status finish_look(tm_pf_convert *c, tm_error *err) {
    c->epoch_ns = c->state.has_epoch ? c->state.epoch_ns : 0;
    bool ok =
        tm_pf_tracks_finish(&c->tracks) && tm_pf_slices(c->edges.data, c->edges.n, &c->durations);
    tm_vec_free(&c->edges);
    return ok ? TM_OK : tm_fail_memory(err);
}

bool tm_pf_is_export(const char *head, size_t size) {
    static const char first[] = TM_EXPORT_PACKET;
    return size >= sizeof first - 1 && memcmp(head, first, sizeof first - 1) == 0;
}

/* Fails if the file is an export by an earlier tmerge. Such an export cannot be read rank by rank.
 * Its ranks would become one rank, and operations would be matched again without the data that
 * Perfetto's format does not keep. */
static tm_status refuse_export(tm_pf_convert *c, tm_error *err) {
    const tm_wire *wire = &c->walk.wire;
    TM_TRY(tm_wire_peek(&c->walk.wire, sizeof TM_EXPORT_PACKET - 1, err));
    if (c->unit || !tm_pf_is_export((const char *)wire->p, (size_t)(wire->end - wire->p)))
        return TM_OK;
    return tm_fail(err, TM_ERR_INPUT, tm_source_path(c->source), -1,
                   "an earlier tmerge wrote this file for Perfetto: give the store or the traces "
                   "that it was made from, or export it again");
}

/* Returns the rank that a track represents; -1 if it does not represent a rank. */
static int64_t rank_of(tm_wire_message descriptor) {
    tm_wire_field f;
    while (tm_wire_next(&descriptor, &f))
        if (f.number == TM_EXPORT_TRACK_RANK && f.type == TM_WIRE_VARINT)
            return f.value <= (uint64_t)TM_RANK_MAX ? (int64_t)f.value : -1;
    return -1;
}

tm_status tm_pf_list_ranks(tm_source *source, tm_vec *units, tm_error *err) {
    tm_pf_walk walk;
    tm_pf_packet p;
    bool more = true;
    TM_TRY(tm_pf_walk_open(source, &walk, err));
    tm_status status = tm_pf_walk_next(&walk, &p, &more, err);
    while (status == TM_OK && more) {
        const int64_t rank = p.track.p ? rank_of(p.track) : -1;
        const tm_unit unit = {.process = p.sequence,
                              .devices = walk.inner.p ? walk.n_blocks - 1 : walk.n_blocks,
                              .rank = rank,
                              .reported = rank,
                              .clock_ns = -1};
        bool ok = rank < 0 || tm_vec_append(units, &unit, 1);
        status = ok ? tm_pf_walk_next(&walk, &p, &more, err) : tm_fail_memory(err);
    }
    tm_pf_walk_close(&walk);
    return status == TM_ERR_FAULT ? status : TM_OK;
}

static tm_status look(tm_pf_convert *c, tm_error *err) {
    tm_pf_packet packet;
    bool more = true;
    tm_status status = begin_reading(c, false, err);
    if (status == TM_OK)
        status = refuse_export(c, err);
    while (status == TM_OK && more) {
        status = next_packet(c, &packet, &more, err);
        if (status == TM_OK && more)
            status = take_packet(c, &packet, err);
    }
    if (status == TM_OK)
        status = finish_look(c, err);
    end_reading(c);
    return status;
}

tm_status tm_pf_convert_open(tm_source *source, const tm_unit *unit, tm_pf_convert **out,
                             tm_error *err) {
    tm_pf_convert *c = malloc(sizeof *c);
    if (!c)
        return tm_fail_memory(err);
    *c = (tm_pf_convert){.source = source,
                         .unit = unit,
                         .writer = TM_PF_WRITER(),
                         .edges = TM_VEC(tm_pf_edge),
                         .durations = TM_VEC(int64_t),
                         .text = TM_VEC(char),
                         .first_ns = INT64_MAX,
                         .failure = {.status = TM_OK}};
    c->tracks = TM_PF_TRACKS(&c->texts);
    tm_status status = look(c, err);
    if (status == TM_OK)
        status = tm_source_rewind(source, err);
    if (status == TM_OK)
        status = begin_reading(c, true, err);
    if (status != TM_OK) {
        c->ended = true;
        tm_pf_convert_close(c);
        return status;
    }
    *out = c;
    return TM_OK;
}

void tm_pf_convert_close(tm_pf_convert *c) {
    if (!c->ended)
        end_reading(c);
    tm_pf_tracks_free(&c->tracks);
    tm_arena_free(&c->texts);
    tm_pf_writer_free(&c->writer);
    TM_VECS_FREE(&c->edges, &c->durations, &c->text);
    free(c);
}

/* Writes the metadata of an export's rank. */
static bool write_members(tm_pf_convert *c) {
    bool ok = true;
    for (uint32_t i = 0; c->unit && i < c->tracks.tracks.n && ok; i++)
        ok = tm_pf_put_bytes(&c->text, tm_pf_track_at(&c->tracks, i)->members);
    return ok;
}

/* Writes the start of the JSON. Chooses the base time, one to two seconds before the first event.
 * Times in the JSON are relative to the base time, as in Kineto's JSON. */
static bool write_head(tm_pf_convert *c) {
    /* the year 2001: smaller values are not times of day */
    const int64_t known_ns = 1000000000 * second_ns;
    tm_pf_writer *w = &c->writer;
    *w = (tm_pf_writer){.state = &c->state,
                        .tracks = &c->tracks,
                        .out = &c->text,
                        .name = w->name,
                        .category = w->category,
                        .scratch = w->scratch,
                        .exported = c->unit != NULL};
    int64_t first = c->first_ns == INT64_MAX ? 0 : c->first_ns;
    bool ok = tm_pf_put(&c->text, "{\"schemaVersion\":1,") && write_members(c);
    if (first > known_ns - c->epoch_ns) {
        int64_t base = (first + c->epoch_ns) / second_ns * second_ns - second_ns;
        w->base_ns = base - c->epoch_ns;
        ok = ok && tm_pf_put(&c->text, "\"baseTimeNanoseconds\":") &&
             tm_pf_put_int(&c->text, base) && tm_pf_put(&c->text, ",");
    }
    c->begun = true;
    return ok && tm_pf_put(&c->text, "\"traceEvents\":[") && tm_pf_write_names(w);
}

/* Converts packets to JSON until the text is as long as a piece, or the trace ends. */
static tm_status make_more(tm_pf_convert *c, tm_error *err) {
    tm_pf_packet packet;
    bool more = true;
    c->text.n = c->taken = 0;
    if (!c->begun && !write_head(c))
        return tm_fail_memory(err);
    while (more && c->text.n < PIECE_BYTES) {
        TM_TRY(next_packet(c, &packet, &more, err));
        if (more)
            TM_TRY(take_packet(c, &packet, err));
    }
    if (!more) {
        end_reading(c);
        c->ended = true;
        if (!tm_pf_write_end(&c->writer))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_pf_convert_make(void *convert, void *buffer, size_t capacity, size_t *n,
                             tm_error *err) {
    tm_pf_convert *c = convert;
    *n = 0;
    while (*n < capacity) {
        if (c->taken == c->text.n && c->ended)
            return TM_OK;
        if (c->taken == c->text.n) {
            tm_status status = make_more(c, err);
            if (status != TM_OK) {
                c->failure = *err;
                return status;
            }
        }
        size_t left = c->text.n - c->taken, room = capacity - *n;
        size_t size = left < room ? left : room;
        memcpy((char *)buffer + *n, (const char *)c->text.data + c->taken, size);
        c->taken += size;
        *n += size;
    }
    return TM_OK;
}

bool tm_pf_convert_cut(const tm_pf_convert *convert) {
    return convert->cut;
}

int64_t tm_pf_convert_lost(const tm_pf_convert *convert) {
    return convert->lost;
}

const tm_error *tm_pf_convert_failure(const tm_pf_convert *convert) {
    return &convert->failure;
}
