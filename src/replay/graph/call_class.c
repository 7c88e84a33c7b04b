#include "call_class.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"

typedef struct rule {
    const char *word;
    bool whole; /* only the suffix of an API version (_v2) may follow the word */
    tm_call_class_kind kind;
} rule;

/* Rules for a name without the library's prefix. The first rule that matches applies. */
static const rule rules[] = {
    {"StreamWaitEvent", false, TM_CALL_STREAM_WAITS},
    {"DeviceSynchronize", false, TM_CALL_WAITS_DEVICE},
    {"CtxSynchronize", false, TM_CALL_WAITS_DEVICE},
    {"ThreadSynchronize", false, TM_CALL_WAITS_DEVICE},
    {"StreamSynchronize", false, TM_CALL_WAITS_STREAM},
    {"EventSynchronize", false, TM_CALL_WAITS_EVENT},
    /* the next three rules are for Ascend's runtime */
    {"SynchronizeDevice", false, TM_CALL_WAITS_DEVICE},
    {"SynchronizeStream", false, TM_CALL_WAITS_STREAM},
    {"SynchronizeEvent", false, TM_CALL_WAITS_EVENT},
    {"Memcpy", true, TM_CALL_WAITS_OWN},
    {"MemcpyDtoH", true, TM_CALL_WAITS_OWN},
    {"MemcpyHtoD", true, TM_CALL_WAITS_OWN},
    {"MemcpyWithStream", true, TM_CALL_WAITS_OWN},
    {"Malloc", false, TM_CALL_MAY_WAIT},
    {"ExtMalloc", false, TM_CALL_MAY_WAIT},
    {"HostMalloc", false, TM_CALL_MAY_WAIT},
    {"HostAlloc", false, TM_CALL_MAY_WAIT},
    {"HostFree", false, TM_CALL_MAY_WAIT},
    {"HostRegister", false, TM_CALL_MAY_WAIT},
    {"HostUnregister", false, TM_CALL_MAY_WAIT},
    {"Free", false, TM_CALL_MAY_WAIT},
    {"MemAlloc", false, TM_CALL_MAY_WAIT},
    {"MemFree", false, TM_CALL_MAY_WAIT},
    {"MemHost", false, TM_CALL_MAY_WAIT},
    {"MemCreate", false, TM_CALL_MAY_WAIT},
    {"MemRelease", false, TM_CALL_MAY_WAIT},
    {"MemMap", false, TM_CALL_MAY_WAIT},
    {"MemUnmap", false, TM_CALL_MAY_WAIT},
    {"ModuleLoad", false, TM_CALL_MAY_WAIT},
    {"ModuleUnload", false, TM_CALL_MAY_WAIT},
    {"LibraryLoad", false, TM_CALL_MAY_WAIT},
    {"LibraryUnload", false, TM_CALL_MAY_WAIT},
};

static const char *after_library(const char *name) {
    static const char *const libraries[] = {"cuda", "hip", "cu", "AscendCL@aclrt"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return name + strlen(libraries[i]);
    return NULL;
}

tm_call_class_kind tm_call_class_of(tm_text name) {
    if (strncmp(name.bytes, "MPI_Wait", strlen("MPI_Wait")) == 0)
        /* The tracks of an MPI rank hold requests, so this call waits for the latest transfer of
         * each track. */
        return TM_CALL_WAITS_DEVICE;
    const char *word = after_library(name.bytes);
    for (size_t i = 0; word && i < sizeof rules / sizeof *rules; i++) {
        size_t size = strlen(rules[i].word);
        bool begins = strncmp(word, rules[i].word, size) == 0;
        if (begins && (!rules[i].whole || word[size] == 0 || word[size] == '_'))
            /* stream-ordered calls (cudaFreeAsync) do not wait */
            return rules[i].kind == TM_CALL_MAY_WAIT && strstr(word, "Async") ? TM_CALL_OTHER
                                                                              : rules[i].kind;
    }
    return TM_CALL_OTHER;
}

/* Returns the flags of a host annotation: TM_EDGE_INPUT if it loads the next batch, TM_EDGE_GC for
 * Python's garbage collection; else 0. */
static uint8_t flags_of(tm_text name) {
    static const char loader[] = "enumerate(DataLoader)#", pipe[] = "enumerate(DataPipe)#";
    bool loads = (strncmp(name.bytes, loader, strlen(loader)) == 0 &&
                  tm_ends_with(name.bytes, name.size, "__next__")) ||
                 strncmp(name.bytes, pipe, strlen(pipe)) == 0;
    return loads ? TM_EDGE_INPUT : strcmp(name.bytes, "Python GC") == 0 ? TM_EDGE_GC : 0;
}

bool tm_call_classes_init(tm_call_classes *classes, const tm_names *names) {
    *classes = (tm_call_classes){names, calloc(tm_names_count(names) + 1, 1)};
    return classes->known != NULL;
}

void tm_call_classes_free(tm_call_classes *classes) {
    free(classes->known);
    classes->known = NULL;
}

/* Returns the entry of a name in `known`. Classifies the name on first use. */
static uint8_t known(tm_call_classes *classes, uint32_t name) {
    uint8_t *known = &classes->known[name];
    if (*known == 0) {
        tm_text text = tm_names_text(classes->names, name);
        *known = (uint8_t)((unsigned)flags_of(text) << 4 | (1 + (unsigned)tm_call_class_of(text)));
    }
    return *known;
}

tm_call_class_kind tm_call_classes_at(tm_call_classes *classes, uint32_t name) {
    return (tm_call_class_kind)((known(classes, name) & 15) - 1);
}

uint8_t tm_call_classes_flags(tm_call_classes *classes, uint32_t name) {
    return (uint8_t)(known(classes, name) >> 4);
}
