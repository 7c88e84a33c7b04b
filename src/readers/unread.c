#include "unread.h"

#include <string.h>

#include "base/letters.h"

#define PICKLE                                                                                     \
    "this pickle is not a trace: tmerge hang reads dumps of PyTorch's flight recorder, and "       \
    "tmerge analyze STORE --memory-snapshot FILE adds a snapshot of PyTorch's memory to a store"
#define NCU                                                                                        \
    "merge the job's traces, and add ncu's CSV (ncu --import REPORT --page raw --csv) to the "     \
    "store: tmerge analyze STORE --ncu FILE"

/* A file is recognised by the start of its decoded content or, if `begin` is NULL, by its
 * extension. Its first bytes must also contain `holds`. */
static const struct {
    const char *begin, *end, *holds, *what;
} known[] = {
    {NULL, ".qdstrm", NULL,
     "this is a recording of Nsight Systems that was not imported: QdstrmImporter -i FILE (in "
     "nsys's folder host-linux-x64) makes the .nsys-rep that tmerge reads"},
    {NULL, ".arrow", NULL,
     "tmerge does not read Arrow: export Nsight Systems reports with nsys export --type sqlite"},
    {"ARROW1", NULL, NULL,
     "tmerge does not read Arrow: export Nsight Systems reports with nsys export --type sqlite"},
    {"\x89HDF", NULL, NULL,
     "this HDF5 file is not a tmerge store; export Nsight Systems reports with nsys export --type "
     "sqlite"},
    {"PAR1", NULL, NULL,
     "tmerge does not read Parquet: export Nsight Systems reports with nsys export --type sqlite"},
    {"\"Index\",\"KernelName\"", NULL, NULL,
     "tmerge does not read the tables of rocprof (ROCm's first profiler): record with rocprofv3 "
     "--sys-trace"},
    {"Index,KernelName", NULL, NULL,
     "tmerge does not read the tables of rocprof (ROCm's first profiler): record with rocprofv3 "
     "--sys-trace"},
    {"\"Name\",\"Calls\",\"TotalDurationNs\"", NULL, NULL,
     "tmerge does not read rocprof's summaries: record with rocprofv3 --sys-trace"},
    {"\"Kind\",", NULL, "\"Correlation_Id\"",
     "tmerge does not read the CSV of rocprofv3: record with --output-format rocpd or json"},
    {"{", NULL, "-chakra.",
     "this is an execution trace of PyTorch (Chakra), which does not have GPU times: give the "
     "torch.profiler trace of the same run"},
    {"\x80\x02}", NULL, NULL, PICKLE},
    {"\x80\x04\x95", NULL, NULL, PICKLE},
    {"\x80\x05\x95", NULL, NULL, PICKLE},
    {NULL, ".raw.json", NULL,
     "this is a timeline of PyTorch's memory: tmerge analyze STORE --memory-snapshot FILE adds it "
     "to "
     "a store"},
    {"{", NULL, "\"collective_seq_id\"",
     "this is a dump of PyTorch's flight recorder: give the dumps of all ranks to tmerge hang"},
    {NULL, ".ncu-rep", NULL, "this is a report of Nsight Compute: " NCU},
    {"==PROF==", NULL, NULL, "this is the output of Nsight Compute: " NCU},
    {"\"ID\",\"Process ID\",", NULL, NULL, "this is a table of Nsight Compute: " NCU},
    {"{", NULL, "speedscope.app/file-format-schema",
     "speedscope's format has only call stacks: give the profiler's own traces, or the store"},
    {NULL, ".xplane.riegeli", NULL,
     "tmerge does not read profiles packed with Riegeli: give the .xplane.pb that jax.profiler "
     "writes"},
    {NULL, ".et", NULL,
     "this is an execution trace (Chakra), which does not have GPU times: give the profiler's "
     "trace of the same run"},
};

static bool ends_with(const char *path, const char *end) {
    static const char *const packed[] = {"", ".gz", ".zst"};
    size_t size = strlen(path), n = strlen(end);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        size_t more = strlen(packed[i]);
        if (size > n + more && strcmp(path + size - more, packed[i]) == 0 &&
            memcmp(path + size - more - n, end, n) == 0)
            return true;
    }
    return false;
}

/* Recognises the first line of the file: it begins an asynchronous event, in the form that the
 * plugin of NCCL 2.26 to 2.30 writes. */
bool tm_unread_is_nccl_example(const char *head) {
    static const char begin[] = "[\n{\"name\": \"", tells[] = "\", \"ph\": \"b\", \"id\": ";
    if (strncmp(head, begin, sizeof begin - 1) != 0)
        return false;
    const char *end = strchr(head + sizeof begin, '\n'), *at = strstr(head, tells);
    return at && (!end || at < end) && strstr(at, ", \"tid\": 1, \"ts\": ");
}

const char *tm_unread_what(const char *path, const char *head, size_t size) {
    if (tm_unread_is_nccl_example(head))
        return "tmerge does not read the dumps of NCCL's example profiler: a dump covers one "
               "communicator and does not name its number of ranks or its host. Record with NCCL's "
               "inspector (2.28 and later) and NCCL_INSPECTOR_DUMP_VERBOSE=1 instead";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *begin = known[i].begin, *end = known[i].end, *holds = known[i].holds;
        if ((!begin || tm_begins_with(head, size, begin)) && (!end || ends_with(path, end)) &&
            (!holds || strstr(head, holds)))
            return known[i].what;
    }
    return NULL;
}
