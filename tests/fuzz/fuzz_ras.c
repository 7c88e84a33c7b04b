/* The input is used as an answer of NCCL's RAS. It is rejected if it is invalid. Otherwise, the job
 * is analysed with a second answer, which differs from the first in some digits. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hang/ras.h"
#include "require.h"
#include "tmerge/analysis.h"

static void check_members(const tm_ras_comm *comm) {
    require(comm->size >= 0 && (int64_t)comm->n_members <= comm->size);
    for (size_t i = 0; i < comm->n_members; i++)
        require(comm->members[i].rank < comm->size &&
                (i == 0 || comm->members[i].rank > comm->members[i - 1].rank));
}

/* Reads the answer with 5 in place of each 4. Returns NULL if that is no valid answer. */
static tm_ras *read_other(const uint8_t *data, size_t size) {
    char *bytes = malloc(size + 1);
    tm_source *source;
    tm_error err;
    tm_ras *ras = tm_ras_create();
    require(bytes && ras);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(data[i] == '4' ? '5' : data[i]);
    require(tm_source_open_memory(bytes, size, "other.json", &source, &err) == TM_OK);
    const tm_status status = tm_ras_read(ras, source, &err);
    tm_source_close(source);
    free(bytes);
    if (status == TM_OK)
        return ras;
    tm_ras_destroy(ras);
    return NULL;
}

/* Analyses two answers like tmerge hang, without dumps. @p other may be NULL. */
static void analyse(const tm_ras *ras, const tm_ras *other) {
    tm_tables tables;
    size_t n;
    tm_error err;
    const tm_job job = {.world_size = 2};
    require(tm_analysis_tables(&tables, &err) == TM_OK);
    require(tm_hang_ras_rows(ras, other, &tables, &err) == TM_OK);
    for (size_t t = 0; t < tables.n_tables; t++)
        tm_table_sort(&tables.tables[t]);
    const tm_analysis *const *all = tm_analyses(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, "hang") == 0)
            require(all[i]->job(&job, &tables, &err) == TM_OK);
    require(tm_tables_find(&tables, "hang.job")->n_rows == 1);
    tm_tables_destroy(&tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tm_source *source;
    tm_error err = {.offset = -1};
    tm_ras *ras = tm_ras_create();
    require(ras != NULL);
    (void)tm_ras_is_answer((const char *)data, size);
    if (tm_source_open_memory(data, size, "fuzz.json", &source, &err) == TM_OK) {
        size_t n = 0;
        const tm_status status = tm_ras_read(ras, source, &err);
        const tm_ras_comm *comms = tm_ras_comms(ras, &n);
        for (size_t i = 0; i < n && status == TM_OK; i++)
            check_members(&comms[i]);
        tm_ras *other = status == TM_OK ? read_other(data, size) : NULL;
        if (status == TM_OK)
            analyse(ras, other);
        else
            require(status == TM_ERR_INPUT && err.message[0] != '\0' && err.offset >= -1 &&
                    err.path[0] != '\0');
        tm_source_close(source);
        tm_ras_destroy(other);
    }
    tm_ras_destroy(ras);
    return 0;
}
