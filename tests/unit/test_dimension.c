/* The parallel dimension that a process group's description names. */
#include "analysis/communication/dimension.h"

/* NULL: the description names no dimension */
static const struct {
    const char *text, *dimension;
} cases[] = {
    {"", NULL},
    {"undefined", NULL},
    {"default_pg", NULL},
    {"13", NULL},
    {"0-7", NULL},
    {"mesh_dp", "data"},
    {"mesh_fsdp", "data"},
    {"mesh_tp", "tensor"},
    {"mesh_dp_shard", "data"},
    {"tp:0", "tensor"},
    {"dp", "data"},
    {"ep2", "expert"},
    {"pp", "pipeline"},
    {"DATA_PARALLEL_GROUP", "data"},
    {"TENSOR_MODEL_PARALLEL_GROUP", "tensor"},
    {"PIPELINE_MODEL_PARALLEL_GROUP", "pipeline"},
    {"EXPERT_MODEL_PARALLEL_GROUP", "expert"},
    {"CONTEXT_PARALLEL_GROUP", "context"},
    {"sequence_parallel", "sequence"},
    /* several dimensions, always in the same order */
    {"mesh_dp_cp", "data+context"},
    {"DATA_PARALLEL_GROUP_WITH_CP", "data+context"},
    {"EXPERT_DATA_PARALLEL_GROUP", "data+expert"},
    {"cp-dp-ep-pp-sp-tp", "data+tensor+pipeline+expert+context+sequence"},
    /* names that mean both tensor and pipeline, and parts of words */
    {"MODEL_PARALLEL_GROUP", NULL},
    {"EMBEDDING_GROUP", NULL},
    {"http", NULL},
    {"update", NULL},
    {"d_p", NULL},
    {"dpx", NULL},
};

TEST(dimensions_are_reported_by_whole_words) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[TM_DIMENSION_MAX] = "as it was";
        bool named = tm_dimension_of(cases[i].text, out);
        assert_int_equal(named, cases[i].dimension != NULL);
        assert_string_equal(out, named ? cases[i].dimension : "as it was");
    }
}

RUN_TESTS()
