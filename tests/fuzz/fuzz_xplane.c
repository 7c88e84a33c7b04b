/* Arbitrary bytes as a profile of TensorFlow or JAX: told, listed, and each of its ranks read,
 * linked and built to a timeline. Whatever they are, the outcome is an error inside the content or
 * a timeline whose rows all stand where they may. */
#include <string.h>

#include "readers/formats.h"
#include "readers/json.h"
#include "require.h"
#include "timeline/build.h"
#include "tmerge/reader.h"

static void check_timeline(const tm_timeline *t, const tm_names *names) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_tracks; i++) {
        require(t->tracks[i].first == n);
        n += t->tracks[i].count;
    }
    require(n == t->n_events);
    for (size_t row = 0; row < t->n_events; row++) {
        require(t->name[row] < tm_names_count(names) && t->duration_ns[row] >= 0);
        require(t->launch[row] == TM_NO_EVENT || t->launch[row] < t->n_events);
    }
    for (int a = 0; a < TM_N_ATTRS; a++)
        for (size_t i = 0; i < t->n_attrs[a]; i++)
            require(*tm_attr_event((tm_attr)a, (char *)t->attrs[a] + i * tm_attr_size((tm_attr)a)) <
                    t->n_events);
}

static void build(tm_trace *trace, tm_names *names) {
    tm_build_context context = {.names = names};
    tm_timeline timeline;
    tm_error err;
    require(tm_classifier_create(NULL, &context.classifier, &err) == TM_OK);
    require(tm_timeline_build(&trace, 1, 0, &context, &timeline, &err) == TM_OK);
    check_timeline(&timeline, names);
    tm_timeline_destroy(&timeline);
    tm_classifier_destroy(context.classifier);
}

/* The bytes, or a rank of them. */
static void read_one(const uint8_t *data, size_t size, const tm_unit *unit) {
    tm_source *source;
    tm_error err = {.offset = -1};
    require(tm_source_open_memory(data, size, "fuzz.xplane.pb", &source, &err) == TM_OK);
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    tm_status status = tm_trace_read_source(&tm_format_xplane, source, unit, names, &trace, &err);
    if (status == TM_OK)
        build(&trace, names);
    else
        require(status == TM_ERR_INPUT && err.status == status && err.message[0] != '\0');
    tm_trace_free(&trace);
    tm_names_destroy(names);
    tm_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    tm_error err;
    bool foreign;
    if (tm_source_open_memory(data, size, "fuzz.xplane.pb", &source, &err) != TM_OK)
        return 0;
    size_t held = size < TM_SNIFF_BYTES ? size : TM_SNIFF_BYTES;
    char *head = calloc(1, held + TM_JSON_PADDING);
    require(head != NULL);
    memcpy(head, data, held);
    (void)tm_format_xplane.sniff(head, held, held == size);
    free(head);
    tm_status status = tm_format_xplane.list_units(source, false, &units, &foreign, &err);
    require(status == TM_OK || (status == TM_ERR_INPUT && err.offset >= -1));
    tm_source_close(source);
    for (size_t i = 0; i < units.n && status == TM_OK; i++)
        read_one(data, size, (const tm_unit *)units.data + i);
    if (units.n == 0)
        read_one(data, size, NULL);
    tm_vec_free(&units);
    return 0;
}
