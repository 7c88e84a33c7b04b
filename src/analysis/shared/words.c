#include "words.h"

#include <stdlib.h>
#include <string.h>

/* A name that begins with `start` and holds `part` behind it means `word`; the first row counts. */
typedef struct rule {
    const char *start;
    size_t size; /* of start */
    const char *part;
    tm_word word;
} rule;

/* clang-format off: a row for each rule */
#define RULE(start, part, word)                                                                    \
    { start, sizeof(start) - 1, part, word }
static const rule rules[] = {
    RULE("cudaGraphLaunch", "", TM_WORD_GRAPH),
    RULE("cuGraphLaunch", "", TM_WORD_GRAPH),
    RULE("hipGraphLaunch", "", TM_WORD_GRAPH),
    RULE("cudaMalloc", "", TM_WORD_ALLOCATION),
    RULE("cudaFree", "", TM_WORD_ALLOCATION),
    RULE("cudaHostAlloc", "", TM_WORD_ALLOCATION),
    RULE("cuMemAlloc", "", TM_WORD_ALLOCATION),
    RULE("cuMemFree", "", TM_WORD_ALLOCATION),
    RULE("cuMemCreate", "", TM_WORD_ALLOCATION),
    RULE("cuMemRelease", "", TM_WORD_ALLOCATION),
    RULE("cuMemMap", "", TM_WORD_ALLOCATION),
    RULE("cuMemUnmap", "", TM_WORD_ALLOCATION),
    RULE("hipMalloc", "", TM_WORD_ALLOCATION),
    RULE("hipFree", "", TM_WORD_ALLOCATION),
    RULE("hipHostMalloc", "", TM_WORD_ALLOCATION),
    RULE("hipHostFree", "", TM_WORD_ALLOCATION),
    RULE("hipExtMalloc", "", TM_WORD_ALLOCATION),
    RULE("hipMem", "Create", TM_WORD_ALLOCATION),
    RULE("cu", "Synchronize", TM_WORD_SYNC),
    RULE("hip", "Synchronize", TM_WORD_SYNC),
    RULE("cu", "Memcpy", TM_WORD_COPY),
    RULE("cu", "Memset", TM_WORD_COPY),
    RULE("hip", "Memcpy", TM_WORD_COPY),
    RULE("hip", "Memset", TM_WORD_COPY),
    RULE("autograd::engine::evaluate_function: ", "", TM_WORD_BACKWARD),
    RULE("enumerate(DataLoader)#", "__next__", TM_WORD_INPUT),
    RULE("enumerate(DataPipe)#", "", TM_WORD_INPUT),
    RULE("enumerate(DataLoader)#", "", TM_WORD_SCOPE),
    RULE("ProfilerStep#", "", TM_WORD_STEP),
    RULE("Optimizer.step#", "", TM_WORD_OPTIMIZER),
    RULE("Optimizer.zero_grad#", "", TM_WORD_ZERO_GRAD),
    RULE("nn.Module: ", "", TM_WORD_MODULE),
    RULE("[pl]", "", TM_WORD_SCOPE),
    RULE("DataParallel.forward", "", TM_WORD_SCOPE),
    RULE("DistributedDataParallel.forward", "", TM_WORD_SCOPE),
    RULE("record_param_comms", "", TM_WORD_COMMUNICATION),
    RULE("c10d::", "", TM_WORD_COMMUNICATION),
    RULE("gloo:", "", TM_WORD_COMMUNICATION),
    RULE("mpi:", "", TM_WORD_COMMUNICATION),
    RULE("ucc:", "", TM_WORD_COMMUNICATION),
    RULE("nccl:", "", TM_WORD_COMMUNICATION),
    RULE("rccl:", "", TM_WORD_COMMUNICATION),
    RULE("xccl:", "", TM_WORD_COMMUNICATION),
    RULE("hccl:", "", TM_WORD_COMMUNICATION),
    RULE("torch::autograd::", "", TM_WORD_BACKWARD),
    RULE("", "Backward", TM_WORD_BACKWARD), /* MmBackward0, CompiledFunctionBackward, ... */
};
#undef RULE
/* clang-format on */

tm_word tm_word_of(tm_text name) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        const rule *x = &rules[r];
        if (*x->start != *name.bytes && x->size > 0) /* tells most of them apart */
            continue;
        if (name.size >= x->size && memcmp(name.bytes, x->start, x->size) == 0 &&
            strstr(name.bytes + x->size, x->part))
            return x->word;
    }
    return TM_WORD_OTHER;
}

bool tm_words_init(tm_words *words, const tm_names *names) {
    size_t n = tm_names_count(names);
    *words = (tm_words){.names = names, .known = calloc(n, 2)};
    words->tensor = words->known ? words->known + n : NULL;
    return words->known != NULL;
}

void tm_words_free(tm_words *words) {
    free(words->known);
    words->known = words->tensor = NULL;
}
