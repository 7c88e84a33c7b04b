/* Runs a fuzz target once on each given file and each file below a given folder. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *path) {
    perror(path);
    exit(1);
}

static void replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    /* The block has no spare bytes, so that a sanitizer detects reads past its end. */
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size)
        fail(path);
    fclose(file);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static size_t replay(const char *path);

static size_t replay_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        fail(path);
    size_t n = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char inner[4096];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= (int)sizeof inner)
            fail(path);
        n += replay(inner);
    }
    closedir(folder);
    return n;
}

static size_t replay(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        fail(path);
    if (S_ISDIR(status.st_mode))
        return replay_folder(path);
    replay_file(path, (size_t)status.st_size);
    return 1;
}

int main(int argc, char **argv) {
    size_t n = 0;
    for (int i = 1; i < argc; i++)
        n += replay(argv[i]);
    printf("%zu inputs\n", n);
    return n > 0 ? 0 : 1;
}
