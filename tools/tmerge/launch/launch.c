#include "launch.h"

#include <ftw.h>
#include <limits.h>
#include <mpi.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "liveness/liveness.h"
#include "signals.h"

/* The value that srun's option --mpi needs for this MPI. */
#ifdef OPEN_MPI
#define TMERGE_PMI "pmix"
#else
#define TMERGE_PMI "pmi2"
#endif

extern char **environ;

static tm_launcher_env place = {TM_LAUNCHER_NONE, 0, 1, 1};
static int64_t began_ns;
static bool is_started;

void tm_launch_begin(void) {
    began_ns = tm_now_ns();
    const char *started = getenv(TM_LAUNCH_STARTED);
    is_started = started != NULL;
    int64_t started_ns = started ? strtoll(started, NULL, 10) : 0;
    if (started_ns > 0 && started_ns < began_ns)
        began_ns = started_ns;
    place = tm_launcher_env_read((const char *const *)environ);
}

const tm_launcher_env *tm_launch_place(void) {
    return &place;
}

int64_t tm_launch_began_ns(void) {
    return began_ns;
}

bool tm_launch_is_started(void) {
    return is_started;
}

bool tm_launch_has_hosts(void) {
    return !tm_launcher_env_is_alone(&place) && !tm_launcher_env_is_one_node(&place);
}

/* Starts from the beginning after each removal, because unsetenv moves the later variables. */
void tm_launch_forget(void) {
    for (char **variable = environ; *variable;) {
        const char *end = strchr(*variable, '=');
        char *name = end && tm_launcher_env_has(*variable)
                         ? strndup(*variable, (size_t)(end - *variable))
                         : NULL;
        variable = name && unsetenv(name) == 0 ? environ : variable + 1;
        free(name);
    }
}

/* Returns whether a network interface belongs to containers or virtual machines. Such an interface
 * has the same address on every host, so it does not lead to other hosts. */
static bool is_of_one_host(const char *interface) {
    static const char *const begins[] = {"br-", "cali",  "cni",    "docker", "flannel",
                                         "lxc", "lxdbr", "podman", "veth",   "virbr"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(interface, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Excludes networks of containers and virtual machines. Otherwise, Open MPI looks for other hosts
 * in them, and hangs. */
static void leave_networks_out(void) {
    char left_out[1024] = "127.0.0.1/8,sppp"; /* Open MPI's default */
    size_t size = strlen(left_out);
    struct if_nameindex *interfaces = if_nameindex();
    bool reported = getenv("OMPI_MCA_btl_tcp_if_include") != NULL;
    for (size_t i = 0; interfaces && interfaces[i].if_index != 0; i++) {
        const char *name = interfaces[i].if_name;
        if (is_of_one_host(name) && size + strlen(name) + 2 <= sizeof left_out)
            size += (size_t)snprintf(left_out + size, sizeof left_out - size, ",%s", name);
    }
    if (interfaces)
        if_freenameindex(interfaces);
    if (!reported && strchr(left_out, ',') != strrchr(left_out, ','))
        setenv("OMPI_MCA_btl_tcp_if_exclude", left_out, 0);
}

/* Sets the components that hwloc uses, in hwloc's syntax: COMPONENT or COMPONENT:PHASE; a minus
 * excludes a component. */
void tm_launch_look_at_cores(void) {
    setenv("HWLOC_COMPONENTS", "-linux:pci,-linux:io,linux,stop", 0);
    setenv("HWLOC_PLUGINS_PATH", "/dev/null", 0);
}

/* Sets defaults for Open MPI. Keeps the user's settings. Waiting processes yield the core, and
 * single-copy transfers are not tried. If all processes are on one node, they communicate only
 * through shared memory. */
static void set_up_processes(void) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    if (tm_launcher_env_is_one_node(&place)) {
        tm_launch_look_at_cores();
        setenv("OMPI_MCA_pml", "ob1", 0);
        setenv("OMPI_MCA_btl", "self,vader", 0);
    } else {
        /* When a process is killed, Open MPI 5 and later aborts all processes that are connected to
         * it. mpirun could then name one of these instead. With a delay, mpirun first notices the
         * process that was killed. */
        setenv("OMPI_MCA_opal_abort_delay", "2", 0);
        leave_networks_out();
    }
}

/* Sets up MPI for a single process, and overwrites the user's settings, which are for several
 * processes. By default, Open MPI would start a daemon and look for the launcher's daemon. It would
 * search for network interfaces, PCI devices, GPUs and X servers. It would also make a session
 * folder, in which runs at the same time can collide. "isolated" exists only in version 4. */
static void set_up_alone(void) {
    static const char *const settings[][2] = {
        {"OMPI_MCA_ess", "singleton"},
        {"OMPI_MCA_ess_singleton_isolated", "1"},
        {"OMPI_MCA_orte_create_session_dirs", "0"},
        {"OMPI_MCA_shmem", "mmap"},
        {"OMPI_MCA_pml", "ob1"},
        {"OMPI_MCA_btl", "self"},
        {"OMPI_MCA_if", "^posix_ipv4,linux_ipv6"},
        {"HWLOC_COMPONENTS", "no_os,stop"},
        {"HWLOC_PLUGINS_PATH", "/dev/null"},
    };
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int size;
    MPI_Get_library_version(version, &size);
    tm_launch_forget();
    if (strstr(version, "Open MPI v4"))
        setenv("OMPI_MCA_pmix", "isolated", 1);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setenv(settings[i][0], settings[i][1], 1);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Makes a temporary folder. Returns false if it can be made nowhere. */
static bool make_folder(char *out, size_t size) {
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = places[i] ? snprintf(out, size, "%s/tmerge-XXXXXX", places[i]) : -1;
        if (n > 0 && (size_t)n < size && mkdtemp(out))
            return true;
    }
    return false;
}

static bool init(void) {
    int threads; /* thread level that MPI provides; ignored, because only this thread calls MPI */
    return MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &threads) == MPI_SUCCESS;
}

/* Starts MPI with a separate TMPDIR. Even for a single process, Open MPI 5 and later makes folders
 * there that it does not remove, and crashes if TMPDIR is not a writable folder. */
static bool init_alone(void) {
    enum { OPEN_FILES = 8 };
    char folder[PATH_MAX];
    const char *variable = getenv("TMPDIR");
    char *before = variable ? strdup(variable) : NULL;
    tm_signals_guard.hold();
    bool has_folder = make_folder(folder, sizeof folder);
    if (has_folder)
        setenv("TMPDIR", folder, 1);
    bool ok = init();
    if (has_folder) {
        (void)nftw(folder, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
        if (before)
            setenv("TMPDIR", before, 1);
        else
            unsetenv("TMPDIR");
    }
    tm_signals_guard.release();
    free(before);
    return ok;
}

/* Sets this process's rank and the number of processes as MPI reports them. Starts the liveness
 * monitor if it is needed. */
static tm_status take_place(tm_error *err) {
    MPI_Comm node;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (place.size > 0 && size != place.size)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1,
                       "%d processes were started, but MPI connects %d: start them with the MPI "
                       "that tmerge was built with",
                       place.size, size);
    place.rank = rank;
    place.size = size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &place.local_size);
    /* On one host, mpirun itself notices when a process ends, so no monitor is needed. */
    bool is_seen = tm_launcher_env_is_one_node(&place) && place.launcher == TM_LAUNCHER_OPENMPI;
    if (!tm_launcher_env_is_alone(&place) && !is_seen)
        tm_liveness_start(node, place.launcher != TM_LAUNCHER_OPENMPI, tm_signals_halt);
    MPI_Comm_free(&node);
    return TM_OK;
}

tm_status tm_launch_mpi(tm_error *err) {
    int started;
    MPI_Initialized(&started);
    if (started)
        return TM_OK;
    if (place.launcher == TM_LAUNCHER_SLURM && place.size > 1)
        return tm_fail(
            err, TM_ERR_USAGE, NULL, -1,
            "srun started %d processes that cannot reach one another: use srun --mpi=" TMERGE_PMI
            " or mpirun",
            place.size);
    bool alone = tm_launcher_env_is_alone(&place);
    if (alone)
        set_up_alone();
    else
        set_up_processes();
    if (!(alone ? init_alone() : init()))
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI could not be started");
    tm_signals_watch_mpi(MPI_COMM_WORLD);
    return take_place(err);
}
