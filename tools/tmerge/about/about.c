#include "about.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "about/generate.h"
#include "output/console.h"
#include "tmerge/report.h"

#define PLUGIN "/libh5zstd_tmerge.so"

static void print_version(void) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int size;
    MPI_Get_library_version(mpi, &size);
    mpi[strcspn(mpi, ",\n")] = '\0';
    for (char *tab = strchr(mpi, '\t'); tab; tab = strchr(tab, '\t')) /* MPICH's text has tabs */
        *tab = ' ';
    printf("tmerge " TMERGE_VERSION "\n"
           "MPI: %s\n"
           "SQLite, for Nsight Systems: %s\n"
           "report page: %s\n",
           mpi, TMERGE_SQLITE ? "built in" : "left out (TMERGE_SQLITE=OFF)",
           tm_report_is_built() ? "built in" : "left out (TMERGE_REPORT=OFF)");
}

/* Finds the plugin at a path relative to the program's folder. Returns false if the plugin is not
 * there. */
static bool find_plugin(const char *program, const char *place, char *out, size_t size) {
    size_t length = strlen(program);
    for (;;) {
        while (length > 0 && program[--length] != '/')
            ;
        if (strncmp(place, "../", 3) != 0)
            break;
        place += 3;
    }
    int n = snprintf(out, size, "%.*s/%s", (int)length, program, place);
    if (n < 0 || (size_t)n + sizeof PLUGIN > size)
        return false;
    memcpy(out + n, PLUGIN, sizeof PLUGIN);
    bool found = access(out, R_OK) == 0;
    out[n] = '\0';
    return found;
}

/* Prints the folder of the plugin. It is in the build folder or in the installed tree. Both paths
 * are relative to the program, because an installed tree may have been moved. */
static tm_status print_plugin_path(tm_error *err) {
    char program[4096] = "", folder[sizeof program + sizeof TMERGE_PLUGIN_PLACE + sizeof PLUGIN];
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "/proc does not say where tmerge is");
    if (!find_plugin(program, "plugin", folder, sizeof folder) &&
        !find_plugin(program, TMERGE_PLUGIN_PLACE, folder, sizeof folder))
        return tm_fail(err, TM_ERR_INPUT, folder, -1, "the HDF5 plugin is missing");
    puts(folder);
    return TM_OK;
}

bool tm_about(const char *argument, tm_status *status, tm_error *err) {
    static const char generate[] = "--generate=";
    bool version = strcmp(argument, "--version") == 0 || strcmp(argument, "-V") == 0;
    bool plugin = strcmp(argument, "--plugin-path") == 0;
    bool generates = strncmp(argument, generate, sizeof generate - 1) == 0;
    *status = TM_OK;
    if (!tm_console_speaks())
        return version || plugin || generates;
    if (generates)
        return tm_generate(argument + sizeof generate - 1);
    if (version)
        print_version();
    if (plugin)
        *status = print_plugin_path(err);
    return version || plugin;
}
