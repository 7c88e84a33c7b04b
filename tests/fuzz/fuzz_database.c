/* The input is used as a database of AMD's or Ascend's profilers. Lists its ranks, reads each of
 * them, and builds its timeline. The outcome must be an error or a valid timeline. */
#include <stdlib.h>
#include <unistd.h>

#include "database.h"

static char path[] = "/dev/shm/fuzz_database_XXXXXX";

static void remove_file(void) {
    (void)unlink(path);
}

/* SQLite needs a file, so this writes one in /dev/shm, which is in memory. */
static void write_file(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        file = mkstemp(path);
        require(file >= 0 && atexit(remove_file) == 0);
    }
    require(ftruncate(file, 0) == 0);
    require(pwrite(file, data, size, 0) == (ssize_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const tm_format *const formats[] = {&tm_format_ascend_db, &tm_format_rocpd,
                                               &tm_format_rpd};
    write_file(data, size);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        tell(data, size, formats[i]);
        read_database(path, formats[i]);
    }
    return 0;
}
