#include "self_launch.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <mpi.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "inputs/inputs.h"
#include "launch/launch.h"
#include "output/console.h"

/* These limits are from measurements with traces of tmerge-synth. Starting processes costs 0.1 s,
 * and 0.06 s of a core for each process: on two cores, two processes cost 0.18 s, and eight cost
 * 0.52 s. Reading 1 MB of JSON takes one process 2.8 ms. Reading 1 MB of a packed format takes 16
 * ms (SQLite) or 32 to 35 ms (gzip and stores).
 * So tmerge starts one process for every 128 MB of JSON, or for every 11 MB of other formats, if
 * that makes at least two processes. Each process then has at least 0.36 s of work, and starting
 * the second one costs less than it saves. */
#define EACH_BYTES (INT64_C(128) << 20)
enum { PACKED = 12 };

/* JSON files of this size or more are read by several processes (mpi/load/load_plan.c). A store can
 * be read by any number of processes, any other file only by one. */
#define PIECE_BYTES (INT64_C(32) << 20)

/* Amount of input. */
typedef struct work {
    int64_t bytes;  /* size of JSON [B] that takes as long to read as this file */
    int64_t pieces; /* number of parts that different processes can read */
    bool has_pipe;  /* one input is a pipe. A pipe can be read only once, perhaps only by this
                       process */
} work;

static void weigh(void *context, const char *path) {
    static const char hdf5[] = "\x89HDF";
    work *w = context;
    struct stat info;
    char head[4] = "";
    if (stat(path, &info) != 0)
        return;
    w->has_pipe = w->has_pipe || !S_ISREG(info.st_mode);
    int fd = S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    ssize_t n = read(fd, head, sizeof head);
    close(fd);
    bool is_json = n > 0 && strchr("{[ \t\r\n\xef", head[0]) != NULL;
    bool is_store = n == sizeof head && memcmp(head, hdf5, sizeof head) == 0;
    int64_t bytes = info.st_size * (is_json ? 1 : PACKED);
    w->bytes += bytes;
    w->pieces += is_json || is_store ? 1 + bytes / PIECE_BYTES : 1;
}

static int64_t choose(const tm_arguments *arguments) {
    work w = {0};
    tm_error ignored;
    if (tm_inputs_each(arguments, weigh, &w, &ignored) != TM_OK || w.has_pipe)
        return 1; /* the code that reads the file later reports the error */
    int64_t n = w.bytes / EACH_BYTES, cores = n > 1 ? tm_cores("") : 1;
    n = n < w.pieces ? n : w.pieces;
    n = n < cores ? n : cores;
    return n > 1 ? n : 1;
}

#ifdef OPEN_MPI
/* Returns the folder in which Open MPI makes its session folder. */
static const char *session_base(void) {
    static const char *const names[] = {"OMPI_MCA_orte_tmpdir_base", "TMPDIR", "TEMP", "TMP"};
    const char *folder = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !folder; i++)
        folder = getenv(names[i]);
    return folder ? folder : "/tmp";
}

static bool is_writable(const char *folder) {
    char path[TM_PATH_MAX];
    snprintf(path, sizeof path, "%s/.", folder);
    return access(path, W_OK | X_OK) == 0;
}

static bool has_network(void) {
    struct ifaddrs *first;
    bool has = false;
    if (getifaddrs(&first) != 0)
        return false;
    for (const struct ifaddrs *i = first; i; i = i->ifa_next)
        has = has || (i->ifa_flags & IFF_UP);
    freeifaddrs(first);
    return has;
}

/* Returns whether the command line is too long for mpirun. Open MPI passes it in an environment
 * variable, and Linux allows 128 KiB for a variable with its name. */
static bool is_too_long(const tm_arguments *arguments) {
    size_t size = 128;
    for (size_t i = 0; i < arguments->n_typed; i++)
        size += strlen(arguments->typed[i]) + 1;
    return size > 128 << 10;
}

/* Returns whether mpirun certainly cannot start processes here. @p why gets the reason. */
static bool is_prevented(const tm_arguments *arguments, char *why, size_t size) {
    const char *root = getenv("OMPI_ALLOW_RUN_AS_ROOT");
    const char *sure = getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");
    if (geteuid() == 0 && !(root && sure && strcmp(root, "1") == 0 && strcmp(sure, "1") == 0))
        snprintf(why, size,
                 "as root mpirun needs OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    else if (!is_writable(session_base()))
        snprintf(why, size, "mpirun needs a folder that it may write to: TMPDIR is %s",
                 session_base());
    else if (!has_network())
        snprintf(why, size, "mpirun needs a network interface that is up");
    else if (is_too_long(arguments))
        snprintf(why, size,
                 "mpirun takes no more than 128 KiB of names: put their pattern in "
                 "quotation marks, or name their folder");
    else
        return false;
    return true;
}

/* Sets up mpirun to run on this machine only. Keeps the user's settings of where processes run. In
 * Open MPI 4, all runs of a user on a host share one session folder. Each run removes the folder at
 * its end, and a run that starts at that moment fails. So this run gets a separate folder, which
 * mpirun makes and removes. */
static void set_up_mpirun(void) {
    char began[32], session[TM_PATH_MAX + 64];
    snprintf(began, sizeof began, "%" PRId64, tm_launch_began_ns());
    snprintf(session, sizeof session, "%s/tmerge.%ld.%s", session_base(), (long)getpid(), began);
    tm_launch_forget();
    tm_launch_look_at_cores();
    setenv("OMPI_MCA_orte_top_session_dir", session, 1);
    setenv("OMPI_MCA_plm", "isolated", 1);
    setenv("OMPI_MCA_ras", "^slurm,gridengine,tm,lsf,loadleveler,alps", 1);
    setenv(TM_LAUNCH_STARTED, began, 1);
}

/* Executes mpirun. Returns only if that fails. Does not bind processes to cores, because two runs
 * would both use the first cores, and Open MPI 5 and later would not start more processes than
 * there are cores. */
static void become_mpirun(const tm_arguments *arguments, int64_t n) {
    char program[TM_PATH_MAX], number[24], host[40];
    const char *head[] = {"mpirun",  "--host", host,        "-n",   number,
                          "--stdin", "none",   "--bind-to", "none", program};
    enum { HEAD = sizeof head / sizeof *head };
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    char **argv = calloc(HEAD + arguments->n_typed + 1, sizeof *argv);
    if (size > 0 && argv) {
        program[size] = '\0';
        snprintf(number, sizeof number, "%" PRId64, n);
        snprintf(host, sizeof host, "localhost:%" PRId64, n);
        memcpy(argv, head, sizeof head);
        memcpy(argv + HEAD, arguments->typed, arguments->n_typed * sizeof *argv);
        set_up_mpirun();
        execv(TMERGE_MPIRUN, argv);
        execvp("mpirun", argv);
        unsetenv(TM_LAUNCH_STARTED);
    }
    free(argv);
}
#else
static bool is_prevented(const tm_arguments *arguments, char *why, size_t size) {
    (void)arguments;
    snprintf(why, size, "only mpirun of Open MPI is started by tmerge itself");
    return true;
}

static void become_mpirun(const tm_arguments *arguments, int64_t n) {
    (void)arguments;
    (void)n;
}
#endif

/* Fails if --jobs is given under a launcher and differs from the number of processes that the
 * launcher started. */
static tm_status check_agrees(const tm_launcher_env *place, int64_t asked, tm_error *err) {
    if (asked > 0 && asked != place->size)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--jobs %" PRId64
                       ", but %d %s started already: --jobs is for tmerge without "
                       "mpirun or srun",
                       asked, place->size, place->size == 1 ? "process was" : "processes were");
    return TM_OK;
}

tm_status tm_self_launch_parse(const tm_arguments *arguments, int64_t *n, tm_error *err) {
    TM_TRY(tm_count_parse(tm_argument(arguments, "jobs"), "jobs", n, err));
    return *n != 0
               ? TM_OK
               : tm_fail(err, TM_ERR_USAGE, NULL, -1, "--jobs 0: at least one process is needed");
}

tm_status tm_self_launch(const tm_arguments *arguments, tm_error *err) {
    const tm_launcher_env *place = tm_launch_place();
    char why[TM_PATH_MAX + 80];
    int64_t n;
    TM_TRY(tm_self_launch_parse(arguments, &n, err));
    if (place->launcher != TM_LAUNCHER_NONE || tm_launch_is_started())
        return check_agrees(place, n, err);
    n = n < 0 ? choose(arguments) : n;
    if (n == 1)
        return TM_OK;
    if (!is_prevented(arguments, why, sizeof why)) {
        become_mpirun(arguments, n);
        snprintf(why, sizeof why, "mpirun was not found");
    }
    tm_console_warn("running in one process, not %" PRId64 ": %s", n, why);
    return TM_OK;
}
