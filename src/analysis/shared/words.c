#include "words.h"

#include <string.h>

static const char gpu[] = "GPU";

const char *tm_words_device(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "job.job");
    const tm_cell *kind = job->n_rows > 0 ? tm_table_cell(job, 0, "device_kind") : NULL;
    return kind && !kind->null ? kind->value.text : gpu;
}

const char *tm_words_kind(const char *kind) {
    static const char *const kinds[][2] = {
        {"allgather", "AllGather"}, {"allreduce", "AllReduce"}, {"alltoall", "AllToAll"},
        {"barrier", "Barrier"},     {"broadcast", "Broadcast"}, {"gather", "Gather"},
        {"recv", "Receive"},        {"reduce", "Reduce"},       {"reducescatter", "ReduceScatter"},
        {"scatter", "Scatter"},     {"send", "Send"},           {"sendrecv", "Send and receive"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i][0]) == 0)
            return kinds[i][1];
    return kind;
}

const char *tm_words_whole(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "job.job");
    bool marked = job->n_rows > 0 && tm_table_cell(job, 0, "steps")->value.i > 0;
    return marked ? "a step" : "the time from the devices' first event to their last";
}

/* Phrases that are right only for GPUs, and their replacements for other devices. A TPU has no
 * streams, and runs programs that XLA compiled from many kernels. */
static const struct {
    const char *device; /* NULL: any other device */
    const char *of_gpus, *of_others;
} words[] = {
    {"TPU", "CUDA or HIP graphs", "more of a step in one program"},
    {"TPU", "asynchronous calls on a separate stream", "XLA's asynchronous collectives"},
    {"TPU", ": use a separate stream, and offload", ": offload ahead of time, and"},
    {"TPU", "prefetch on a separate stream", "prefetch"},
    {"CPU", "its kernels are slow (clock, heat, other processes)",
     "its operators are slow (other processes on its cores, clock, memory)"},
    {"CPU", "look at its host, not at its GPU",
     "look at what it does between them (Python, other processes)"},
    {"CPU", "look at its host first", "look first at what it does between them"},
    {"CPU", "look at its GPU (clock, heat, other processes)",
     "look at its CPU (other processes on its cores, clock, memory)"},
    {"CPU", "its GPU idles", "it runs no operator for"},
    {"CPU", "it launches its kernels too late", "it does other work between operators"},
    {"CPU", "host work between launches", "host work between operators"},
    {"CPU", "of host time up to their launches", "between them"},
    {"CPU", "CUDA or HIP graphs", "torch.compile"},
    {"CPU", "asynchronous calls on a separate stream", "asynchronous calls (async_op=True)"},
    {"CPU", "communication kernels", "communication operations"},
    {"CPU", "communication kernel", "communication operation"},
    {"CPU", "kernels", "operators"},
    {"CPU", "kernel", "operator"},
    {"NPU", "nvidia-smi or rocm-smi", "npu-smi"},
    {NULL, "CUDA or HIP graphs", "graphs of kernels"},
    {NULL, "CUDA graphs", "graphs of kernels"},
    {NULL, " (cudaMallocHost, hipHostMalloc)", ""},
    {NULL, " (cudaMalloc, cudaFree, ...)", ""},
};

static bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns how many bytes at @p p are replaced by *said; 0 if none. @p before is the character
 * before @p p. */
static size_t said_otherwise(const char *device, const char *p, char before, const char **said) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i].of_gpus);
        *said = words[i].of_others;
        bool fits = !words[i].device || strcmp(words[i].device, device) == 0;
        if (fits && strncmp(p, words[i].of_gpus, size) == 0)
            return size;
    }
    size_t size = sizeof gpu - 1;
    const char *end = p + size;
    *said = device;
    if (is_letter(before) || strncmp(p, gpu, size) != 0)
        return 0;
    return is_letter(*end) && !(*end == 's' && !is_letter(end[1])) ? 0 : size;
}

/* Changes the article "a" at the end of the text to "an" if the next word starts with a vowel
 * sound: "a GPU", but "an NPU" and "an operator". */
static bool fit_article(tm_vec *out, const char *next) {
    const bool article = out->n >= 3 && memcmp((const char *)out->data + out->n - 3, " a ", 3) == 0;
    if (!article || !*next || !strchr("aeioMNX", *next))
        return true;
    out->n--;
    return tm_vec_append(out, "n ", 2);
}

bool tm_words_say(const char *device, const char *sentence, tm_vec *out) {
    bool ok = true, quoted = false;
    char before = ' ';
    out->n = 0;
    for (const char *p = sentence; *p && ok;) {
        const char *said;
        size_t size = quoted ? 0 : said_otherwise(device, p, before, &said);
        quoted ^= *p == '"';
        ok = size ? !*said || (fit_article(out, said) && tm_vec_append(out, said, strlen(said)))
                  : tm_vec_append(out, p, 1) != NULL;
        p += size ? size : 1;
        before = p[-1];
    }
    return ok && tm_vec_append(out, "", 1);
}

static tm_status say_in(tm_table *table, const char *device, tm_vec *room, tm_error *err) {
    const tm_table_def *def = table->def;
    for (size_t row = 0; row < table->n_rows; row++)
        for (int c = def->n_columns - def->n_prose; c < def->n_columns; c++) {
            tm_cell *cell = &tm_table_row(table, row)[c];
            if (cell->null)
                continue;
            if (!tm_words_say(device, cell->value.text, room))
                return tm_fail_memory(err);
            TM_TRY(tm_table_set_text(table, cell, room->data, err));
        }
    return TM_OK;
}

tm_status tm_words_say_all(tm_tables *tables, tm_error *err) {
    const char *device = tm_words_device(tables);
    tm_vec room = TM_VEC(char);
    tm_status status = TM_OK;
    for (size_t t = 0; t < tables->n_tables && status == TM_OK && strcmp(device, gpu) != 0; t++)
        if (tables->tables[t].def->n_prose > 0)
            status =
                say_in(tm_tables_find(tables, tables->tables[t].def->name), device, &room, err);
    tm_vec_free(&room);
    return status;
}
