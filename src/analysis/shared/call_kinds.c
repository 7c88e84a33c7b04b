#include "call_kinds.h"

#include <stdlib.h>
#include <string.h>

/* A name is of `kind` if it starts with `start`, and contains `part` after that. The first matching
 * row counts. So a data loader's __next__, in which the program waits for a batch, comes before the
 * loader's other spans. "cu" matches the calls of both the driver (cu...) and the runtime
 * (cuda...). */
typedef struct rule {
    const char *start;
    size_t size; /* size of `start` */
    const char *part;
    tm_call_kind kind;
} rule;

/* clang-format off: a row for each rule */
#define RULE(start, part, kind)                                                                    \
    { start, sizeof(start) - 1, part, kind }
static const rule rules[] = {
    RULE("cudaGraphLaunch", "", TM_CALL_KIND_GRAPH),
    RULE("cuGraphLaunch", "", TM_CALL_KIND_GRAPH),
    RULE("hipGraphLaunch", "", TM_CALL_KIND_GRAPH),
    RULE("cu", "LaunchHostFunc", TM_CALL_KIND_OTHER),
    RULE("hip", "LaunchHostFunc", TM_CALL_KIND_OTHER),
    RULE("cu", "Launch", TM_CALL_KIND_LAUNCH),
    RULE("hip", "Launch", TM_CALL_KIND_LAUNCH),
    RULE("Node@launch", "", TM_CALL_KIND_LAUNCH), /* Ascend */
    RULE("cu", "StreamBeginCapture", TM_CALL_KIND_CAPTURE),
    RULE("hip", "StreamBeginCapture", TM_CALL_KIND_CAPTURE),
    RULE("cu", "StreamEndCapture", TM_CALL_KIND_CAPTURED),
    RULE("hip", "StreamEndCapture", TM_CALL_KIND_CAPTURED),
    RULE("cudaMalloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("cudaFree", "", TM_CALL_KIND_ALLOCATION),
    RULE("cudaHostAlloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("cudaHostRegister", "", TM_CALL_KIND_ALLOCATION),
    RULE("cudaHostUnregister", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemAlloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemFree", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemHost", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemCreate", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemRelease", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemMap", "", TM_CALL_KIND_ALLOCATION),
    RULE("cuMemUnmap", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipMalloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipFree", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipHostMalloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipHostFree", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipHostRegister", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipHostUnregister", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipExtMalloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("hipMem", "Create", TM_CALL_KIND_ALLOCATION),
    RULE("cu", "ModuleLoad", TM_CALL_KIND_LOADING),
    RULE("cu", "ModuleUnload", TM_CALL_KIND_LOADING),
    RULE("cu", "LibraryLoad", TM_CALL_KIND_LOADING),
    RULE("cu", "LibraryUnload", TM_CALL_KIND_LOADING),
    RULE("hip", "ModuleLoad", TM_CALL_KIND_LOADING),
    RULE("hip", "ModuleUnload", TM_CALL_KIND_LOADING),
    RULE("hip", "LibraryLoad", TM_CALL_KIND_LOADING),
    RULE("hip", "LibraryUnload", TM_CALL_KIND_LOADING),
    RULE("AscendCL@aclrtMalloc", "", TM_CALL_KIND_ALLOCATION),
    RULE("AscendCL@aclrtFree", "", TM_CALL_KIND_ALLOCATION),
    RULE("AscendCL@aclrtSynchronize", "", TM_CALL_KIND_SYNC),
    RULE("AscendCL@aclrtMemcpy", "", TM_CALL_KIND_COPY),
    RULE("AscendCL@aclrtMemset", "", TM_CALL_KIND_COPY),
    RULE("synchronizeStream", "", TM_CALL_KIND_SYNC), /* MTIA */
    RULE("cu", "Synchronize", TM_CALL_KIND_SYNC),
    RULE("hip", "Synchronize", TM_CALL_KIND_SYNC),
    RULE("cu", "Memcpy", TM_CALL_KIND_COPY),
    RULE("cu", "Memset", TM_CALL_KIND_COPY),
    RULE("hip", "Memcpy", TM_CALL_KIND_COPY),
    RULE("hip", "Memset", TM_CALL_KIND_COPY),
    RULE("autograd::engine::evaluate_function: ", "", TM_CALL_KIND_BACKWARD),
    RULE("enumerate(DataLoader)#", "__next__", TM_CALL_KIND_INPUT),
    RULE("enumerate(DataPipe)#", "", TM_CALL_KIND_INPUT),
    RULE("IteratorGetNext", "::DoCompute", TM_CALL_KIND_INPUT), /* TensorFlow */
    RULE("Input::Wait", "",
         TM_CALL_KIND_INPUT), /* added by the XPlane reader around input stages */
    RULE("enumerate(DataLoader)#", "", TM_CALL_KIND_SCOPE),
    RULE("Optimizer.step#", "", TM_CALL_KIND_OPTIMIZER),
    RULE("Optimizer.zero_grad#", "", TM_CALL_KIND_ZERO_GRAD),
    RULE("nn.Module: ", "", TM_CALL_KIND_MODULE),
    RULE("[pl]", "", TM_CALL_KIND_SCOPE),
    RULE("DataParallel.forward", "", TM_CALL_KIND_SCOPE),
    RULE("DistributedDataParallel.forward", "", TM_CALL_KIND_SCOPE),
    RULE("record_param_comms", "", TM_CALL_KIND_COMMUNICATION),
    RULE("c10d::", "", TM_CALL_KIND_COMMUNICATION),
    RULE("gloo:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("mpi:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("ucc:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("nccl:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("rccl:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("xccl:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("hccl:", "", TM_CALL_KIND_COMMUNICATION),
    RULE("torch::autograd::", "", TM_CALL_KIND_BACKWARD),
    RULE("", "Backward", TM_CALL_KIND_BACKWARD), /* MmBackward0, CompiledFunctionBackward, ... */
};
#undef RULE
/* clang-format on */

tm_call_kind tm_call_kind_of(tm_text name) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        const rule *x = &rules[r];
        if (*x->start != *name.bytes && x->size > 0) /* a quick check that rules out most rows */
            continue;
        if (name.size >= x->size && memcmp(name.bytes, x->start, x->size) == 0 &&
            strstr(name.bytes + x->size, x->part))
            return x->kind;
    }
    return TM_CALL_KIND_OTHER;
}

bool tm_is_own_code(const char *name) {
    return *name != '<' && strncmp(name, "torch/", 6) != 0 && !strstr(name, "site-packages/") &&
           !strstr(name, "dist-packages/");
}

bool tm_is_attention(const char *name) {
    return strstr(name, "attention") || strstr(name, "flash_attn") || strstr(name, "sdpa");
}

bool tm_call_kinds_init(tm_call_kinds *call_kinds, const tm_names *names) {
    size_t n = tm_names_count(names);
    *call_kinds = (tm_call_kinds){.names = names,
                                  .known = calloc(n, 1),
                                  .own = calloc(n, 1),
                                  .attention = calloc(n, 1),
                                  .looked = calloc(n, 1),
                                  .traits = calloc(n, sizeof *call_kinds->traits)};
    return tm_kernel_words_init(&call_kinds->words) && call_kinds->known && call_kinds->own &&
           call_kinds->attention && call_kinds->looked && call_kinds->traits;
}

void tm_call_kinds_free(tm_call_kinds *call_kinds) {
    free(call_kinds->known);
    free(call_kinds->own);
    free(call_kinds->attention);
    free(call_kinds->looked);
    free(call_kinds->traits);
    call_kinds->known = call_kinds->own = call_kinds->attention = call_kinds->looked = NULL;
    call_kinds->traits = NULL;
    tm_kernel_words_free(&call_kinds->words);
}
