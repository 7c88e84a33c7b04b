/* The input is used as a flight recorder dump. It is rejected if it is invalid. Otherwise, all data
 * that was read can be used. */
#include <string.h>

#include "analysis/hang/notes.h"
#include "require.h"
#include "tmerge/analysis.h"
#include "tmerge/flight.h"

static void check_calls(const tm_flight *flight) {
    size_t n, n_groups;
    char text[64];
    const tm_flight_call *calls = tm_flight_calls(flight, &n);
    (void)tm_flight_groups(flight, &n_groups);
    for (size_t i = 0; i < n; i++) {
        require(calls[i].group < n_groups && calls[i].seq >= 0 && calls[i].form > 1);
        tm_flight_text(flight, &calls[i], TM_FLIGHT_FRAMES, text, sizeof text);
        require(strlen(text) < sizeof text);
    }
}

/* Analyses the dump like tmerge hang, as if ranks 0 and 1 of three had left the same dump. */
static void analyse(const tm_flight *flight) {
    tm_vec spans = TM_VEC(tm_hang_span), mixed = TM_VEC(tm_hang_form);
    tm_tables tables;
    size_t n;
    tm_error err;
    const tm_job job = {.world_size = 3};
    tm_hang_notes *notes = tm_hang_notes_create();
    require(notes && tm_analysis_tables(&tables, &err) == TM_OK);
    for (int64_t rank = 0; rank < 2; rank++)
        require(tm_hang_notes_add(notes, flight, "dump", rank, 0));
    require(tm_hang_notes_spans(notes, &spans) && tm_hang_notes_forms(notes, &spans, &mixed));
    tm_hang_forms_keep_mixed(&mixed);
    require(mixed.n == 0); /* the dumps of both ranks are equal */
    require(tm_hang_notes_rows(notes, &spans, &mixed, &tables, &err) == TM_OK);
    for (size_t t = 0; t < tables.n_tables; t++)
        tm_table_sort(&tables.tables[t]);
    const tm_analysis *const *all = tm_analyses(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, "hang") == 0)
            require(all[i]->job(&job, &tables, &err) == TM_OK);
    tm_tables_destroy(&tables);
    tm_hang_notes_destroy(notes);
    tm_vec_free(&spans);
    tm_vec_free(&mixed);
}

/* Returns whether the job has few ranks. Rows for thousands take long and find no more. */
static bool is_small(const tm_flight *flight) {
    enum { RANKS = 256 };
    size_t n, n_calls;
    const tm_flight_group *g = tm_flight_groups(flight, &n);
    const tm_flight_call *calls = tm_flight_calls(flight, &n_calls);
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < g[i].n_ranks; k++)
            most = g[i].ranks[k] > most ? g[i].ranks[k] : most;
    for (size_t i = 0; i < n_calls; i++)
        most = calls[i].group_size > most ? calls[i].group_size : most;
    return most < RANKS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tm_source *source;
    tm_error err = {.offset = -1};
    tm_flight *flight = tm_flight_create();
    require(flight != NULL);
    if (tm_source_open_memory(data, size, "fuzz.dump", &source, &err) == TM_OK) {
        tm_status status = tm_flight_read(flight, source, &err);
        if (status == TM_OK) {
            check_calls(flight);
            if (is_small(flight))
                analyse(flight);
        } else {
            require(status == TM_ERR_INPUT && err.status == status && err.message[0] != '\0' &&
                    err.offset >= -1 && err.path[0] != '\0');
        }
        tm_source_close(source);
    }
    tm_flight_destroy(flight);
    return 0;
}
