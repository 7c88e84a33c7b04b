/* The input is used as a PyTorch memory snapshot or memory timeline. It is rejected if it is
 * invalid. Otherwise, the blocks of all sites add up to those of each device. */
#include "require.h"
#include "tmerge/snapshot.h"

static void check_sums(const tm_snapshots *snapshots) {
    size_t n_devices, n_sites, n_timelines;
    const tm_snapshot_device *d = tm_snapshots_devices(snapshots, &n_devices);
    const tm_snapshot_site *s = tm_snapshots_sites(snapshots, &n_sites);
    const tm_memory_timeline *t = tm_snapshots_timelines(snapshots, &n_timelines);
    for (size_t i = 0; i < n_devices; i++) {
        int64_t blocks = 0;
        for (size_t k = 0; k < n_sites; k++)
            blocks += s[k].device == d[i].device ? s[k].blocks : 0;
        require(blocks == d[i].blocks && d[i].allocated_bytes >= 0);
    }
    for (size_t i = 0; i < n_timelines; i++)
        require(t[i].moments > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tm_source *source;
    tm_error err = {.offset = -1};
    tm_snapshots *snapshots = tm_snapshots_create();
    require(snapshots != NULL);
    if (tm_source_open_memory(data, size, "fuzz.pickle", &source, &err) == TM_OK) {
        tm_status status = tm_snapshots_read(snapshots, source, &err);
        if (status == TM_OK)
            check_sums(snapshots);
        else
            require(status == TM_ERR_INPUT && err.status == status && err.message[0] != '\0' &&
                    err.offset >= -1 && err.path[0] != '\0');
        tm_source_close(source);
    }
    tm_snapshots_destroy(snapshots);
    return 0;
}
