#include "words.h"

#include <stdlib.h>
#include <string.h>

/* A name that begins with `start` and holds `part` behind it means `word`; the first row counts. */
typedef struct rule {
    const char *start, *part;
    tm_word word;
} rule;

static const rule rules[] = {
    {"cudaGraphLaunch", "", TM_WORD_GRAPH},
    {"cuGraphLaunch", "", TM_WORD_GRAPH},
    {"hipGraphLaunch", "", TM_WORD_GRAPH},
    {"cudaMalloc", "", TM_WORD_ALLOCATION},
    {"cudaFree", "", TM_WORD_ALLOCATION},
    {"cudaHostAlloc", "", TM_WORD_ALLOCATION},
    {"cuMemAlloc", "", TM_WORD_ALLOCATION},
    {"cuMemFree", "", TM_WORD_ALLOCATION},
    {"cuMemCreate", "", TM_WORD_ALLOCATION},
    {"cuMemRelease", "", TM_WORD_ALLOCATION},
    {"cuMemMap", "", TM_WORD_ALLOCATION},
    {"cuMemUnmap", "", TM_WORD_ALLOCATION},
    {"hipMalloc", "", TM_WORD_ALLOCATION},
    {"hipFree", "", TM_WORD_ALLOCATION},
    {"hipHostMalloc", "", TM_WORD_ALLOCATION},
    {"hipHostFree", "", TM_WORD_ALLOCATION},
    {"hipExtMalloc", "", TM_WORD_ALLOCATION},
    {"hipMem", "Create", TM_WORD_ALLOCATION},
    {"cu", "Synchronize", TM_WORD_SYNC},
    {"hip", "Synchronize", TM_WORD_SYNC},
    {"cu", "Memcpy", TM_WORD_COPY},
    {"cu", "Memset", TM_WORD_COPY},
    {"hip", "Memcpy", TM_WORD_COPY},
    {"hip", "Memset", TM_WORD_COPY},
    {"autograd::engine::evaluate_function: ", "", TM_WORD_BACKWARD},
    {"enumerate(DataLoader)#", "__next__", TM_WORD_INPUT},
    {"enumerate(DataPipe)#", "", TM_WORD_INPUT},
    {"enumerate(DataLoader)#", "", TM_WORD_SCOPE},
    {"ProfilerStep#", "", TM_WORD_STEP},
    {"Optimizer.step#", "", TM_WORD_OPTIMIZER},
    {"Optimizer.zero_grad#", "", TM_WORD_ZERO_GRAD},
    {"nn.Module: ", "", TM_WORD_MODULE},
    {"[pl]", "", TM_WORD_SCOPE},
    {"DataParallel.forward", "", TM_WORD_SCOPE},
    {"DistributedDataParallel.forward", "", TM_WORD_SCOPE},
    {"record_param_comms", "", TM_WORD_COMMUNICATION},
    {"c10d::", "", TM_WORD_COMMUNICATION},
    {"gloo:", "", TM_WORD_COMMUNICATION},
    {"mpi:", "", TM_WORD_COMMUNICATION},
    {"ucc:", "", TM_WORD_COMMUNICATION},
    {"nccl:", "", TM_WORD_COMMUNICATION},
    {"rccl:", "", TM_WORD_COMMUNICATION},
    {"xccl:", "", TM_WORD_COMMUNICATION},
    {"hccl:", "", TM_WORD_COMMUNICATION},
    {"torch::autograd::", "", TM_WORD_BACKWARD},
    {"", "Backward", TM_WORD_BACKWARD}, /* MmBackward0, CompiledFunctionBackward, ... */
};

tm_word tm_word_of(tm_text name) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        size_t start = strlen(rules[r].start), part = strlen(rules[r].part);
        if (name.size < start + part || memcmp(name.bytes, rules[r].start, start) != 0)
            continue;
        for (size_t at = start; at + part <= name.size; at++)
            if (memcmp(name.bytes + at, rules[r].part, part) == 0)
                return rules[r].word;
    }
    return TM_WORD_OTHER;
}

bool tm_words_init(tm_words *words, const tm_names *names) {
    *words = (tm_words){.names = names, .known = calloc(tm_names_count(names), 1)};
    return words->known != NULL;
}

void tm_words_free(tm_words *words) {
    free(words->known);
    words->known = NULL;
}
