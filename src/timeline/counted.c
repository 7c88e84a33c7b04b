#include "counted.h"

#include <stdint.h>
#include <string.h>

static const struct {
    uint8_t size;
    const char *name;
} counted[TM_N_COUNTED] = {
#define COUNTED(id, name_) [id] = {sizeof(name_) - 1, name_},
    TM_COUNTED_LIST(COUNTED)
#undef COUNTED
};

/* Bit n is set if one of these names has n characters. This test excludes most names quickly. */
#define SIZE_BIT(id, name_) | UINT64_C(1) << (sizeof(name_) - 1)
static const uint64_t sizes = 0 TM_COUNTED_LIST(SIZE_BIT);
#undef SIZE_BIT

tm_counted tm_counted_of(const char *name, size_t size) {
    if (size > 63 || !(sizes >> size & 1))
        return TM_N_COUNTED;
    for (int i = 0; i < TM_N_COUNTED; i++)
        if (counted[i].size == size && memcmp(counted[i].name, name, size) == 0)
            return (tm_counted)i;
    return TM_N_COUNTED;
}

bool tm_inputs_are_kept(const char *name, size_t size) {
    static const char accumulate[] = TM_ACCUMULATE_GRAD;
    return tm_counted_of(name, size) != TM_N_COUNTED ||
           (size > sizeof TM_NCCL_RANGE &&
            memcmp(name, TM_NCCL_RANGE, sizeof TM_NCCL_RANGE - 1) == 0) ||
           (size == sizeof accumulate - 1 && memcmp(name, accumulate, size) == 0);
}
