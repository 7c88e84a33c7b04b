#include "perfetto_kinds.h"

#include <string.h>

#include "base/export_notes.h"
#include "base/letters.h"

/* Returns whether a quoted text equals a word. */
static bool is(tm_text quoted, const char *word) {
    size_t size = strlen(word);
    return quoted.size == size + 2 && memcmp(quoted.bytes + 1, word, size) == 0;
}

unsigned tm_pf_sign_of(tm_text key) {
    static const struct {
        const char *word;
        unsigned sign;
    } known[] = {
        {"grid", SIGN_GRID},
        {"bytes", SIGN_BYTES},
        {"cbid", SIGN_CALL},
        {"cuda_sync_kind", SIGN_SYNC},
        {"External id", SIGN_EXTERNAL},
        {"Python id", SIGN_PYTHON},
        {"Python module id", SIGN_PYTHON},
        {"Input Dims", SIGN_INPUTS},
        {"Fwd thread id", SIGN_INPUTS},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(key, known[i].word))
            return known[i].sign;
    return 0;
}

static bool begins(tm_text quoted, const char *word) {
    size_t size = strlen(word);
    return quoted.size > size && memcmp(quoted.bytes + 1, word, size) == 0;
}

/* Returns whether a call is the driver's, such as cuLaunchKernel, rather than the runtime's, such
 * as cudaLaunchKernel. */
static bool is_driver_call(tm_text name) {
    return name.size > 3 && memcmp(name.bytes + 1, "cu", 2) == 0 && name.bytes[3] >= 'A' &&
           name.bytes[3] <= 'Z';
}

/* Returns whether an event with an id is an operator. Operators have a namespace or inputs, or are
 * autograd nodes. The names listed here are also operators. Any other event with an id is a user
 * annotation. */
static bool is_operator(unsigned signs, tm_text name) {
    return (signs & SIGN_INPUTS) || tm_text_holds(name, "::") || tm_text_holds(name, "Backward") ||
           is(name, "record_param_comms") || is(name, "detach") || is(name, "detach_");
}

/* The first version of PyTorch's .pftrace has all args of its JSON, but no categories. */
const char *tm_pf_guess(unsigned signs, tm_text name, tm_text thread) {
    if (signs & SIGN_SYNC)
        return "cuda_sync";
    if (signs & SIGN_CALL)
        return is_driver_call(name) ? "cuda_driver" : "cuda_runtime";
    if (signs & SIGN_GRID)
        return "kernel";
    if ((signs & SIGN_BYTES) && begins(name, "Memcpy"))
        return "gpu_memcpy";
    if ((signs & SIGN_BYTES) && begins(name, "Memset"))
        return "gpu_memset";
    if (signs & SIGN_PYTHON)
        return "python_function";
    if ((signs & SIGN_EXTERNAL) && begins(thread, "stream "))
        return "gpu_user_annotation";
    if (signs & SIGN_EXTERNAL)
        return is_operator(signs, name) ? "cpu_op" : "user_annotation";
    return NULL;
}

/* Categories of rocprofiler-sdk, used by rocprofv3 and rocprof-sys. */
const char *tm_pf_rocm_category(tm_text category) {
    static const char *const words[][2] = {
        {"kernel_dispatch", "kernel"},
        {"rocm_kernel_dispatch", "kernel"},
        {"device_hip", "kernel"},
        {"memory_copy", "gpu_memcpy"},
        {"rocm_memory_copy", "gpu_memcpy"},
        {"hip_api", "cuda_runtime"},
        {"hip_runtime_api", "cuda_runtime"},
        {"rocm_hip_api", "cuda_runtime"},
        {"rocm_hip_runtime_api", "cuda_runtime"},
        {"hip_compiler_api", "cuda_runtime"},
        {"rocm_hip_compiler_api", "cuda_runtime"},
        {"hsa_api", "cuda_driver"},
        {"rocm_hsa_api", "cuda_driver"},
        {"marker_api", "user_annotation"},
        {"rocm_marker_api", "user_annotation"},
        {"rccl_api", "cpu_op"},
        {"rocm_rccl_api", "cpu_op"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(category, words[i][0]))
            return words[i][1];
    return NULL;
}

static tm_text translate(const char *const (*words)[2], size_t n, tm_text key) {
    for (size_t i = 0; i < n; i++)
        if (is(key, words[i][0]))
            return (tm_text){words[i][1], strlen(words[i][1])};
    return key;
}

tm_text tm_pf_rocm_key(tm_text key) {
    static const char *const words[][2] = {
        {"corr_id", "\"correlation\""}, {"agent", "\"device\""}, {"queue", "\"stream\""}};
    return translate(words, sizeof words / sizeof *words, key);
}

tm_pf_exported tm_pf_exported_of(tm_text word, bool memory) {
    enum { ANY, MEMORY, JSON };
    static const struct {
        const char *word, *key;
        int of;
    } known[] = {
#define ROW(id, word, key, of) {word, key, of},
        TM_EXPORT_NOTES(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is(word, known[i].word) && (memory || known[i].of != MEMORY))
            return (tm_pf_exported){known[i].key, known[i].of == JSON};
    return (tm_pf_exported){.key = NULL};
}

const char *tm_pf_stage_category(tm_text name) {
    static const char *const words[][2] = {{"Kernel", "kernel"},
                                           {"Memcpy", "gpu_memcpy"},
                                           {"Memset", "gpu_memset"},
                                           {"Annotation", "gpu_user_annotation"},
                                           {"EventRecord", "graph_event_node"},
                                           {"HostNode", "graph_host_node"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(name, words[i][0]))
            return words[i][1];
    return NULL;
}

tm_text tm_pf_stage_key(tm_text key) {
    static const char *const words[][2] = {{"device id", "\"device\""},
                                           {"stream id", "\"stream\""},
                                           {"context id", "\"context\""},
                                           {"registers_per_thread", "\"registers per thread\""},
                                           {"shared_mem_dynamic", "\"shared memory\""}};
    return translate(words, sizeof words / sizeof *words, key);
}
