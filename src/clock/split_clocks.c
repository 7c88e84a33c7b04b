/* Decides whether the ranks of a host share a clock. */
#include <stdlib.h>

#include "base/median.h"
#include "clock/exact.h"
#include "clock/fit.h"

enum { SPLIT_EVENTS = 8 };
#define SPLIT_NOISES 5.0
#define LEAST_SPLIT_NOISE_NS 3000.0 /* clocks of GPUs in one host differ by microseconds */
#define MAD_TO_SIGMA 1.4826

/* Returns the median of early_ns over the ranks of a host. If @p late is set, returns the median of
 * late_ns instead. @p values is scratch. */
static double middle_of(const tm_clock_rank_end *ranks, size_t n, bool late, double *values) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (ranks[i].n > 0)
            values[m++] = late ? ranks[i].late_ns : ranks[i].early_ns;
    return m ? tm_median_real(values, m) : 0.0;
}

static double spread_of(const tm_clock_rank_end *ranks, size_t n, const double middle[2],
                        double *values) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (ranks[i].n > 0)
            values[m++] =
                fabs((ranks[i].early_ns - middle[0] + ranks[i].late_ns - middle[1]) / 2.0);
    return m ? MAD_TO_SIGMA * tm_median_real(values, m) : 0.0;
}

/* Returns whether all ranks of a host have the same clock although the ends of one of them differ
 * by `ns` (see the header). */
static bool have_one_clock(const tm_clock_rank_end *ranks, size_t n, double ns) {
    bool one = true;
    for (size_t i = 0; i < n; i++)
        one =
            one && ranks[i].n_broken == 0 && (ranks[i].n == 0 || fabs(ranks[i].lag_ns) < ns / 2.0);
    return one;
}

static tm_clock_host judge(const tm_clock_rank_end *ranks, size_t n, double limit, double *values) {
    double middle[2] = {middle_of(ranks, n, false, values), middle_of(ranks, n, true, values)};
    tm_clock_host host = {.shared = true, .spread_ns = spread_of(ranks, n, middle, values)};
    for (size_t i = 0; i < n; i++) {
        const double early = ranks[i].early_ns - middle[0], late = ranks[i].late_ns - middle[1];
        if (ranks[i].n < SPLIT_EVENTS || fmax(fabs(early), fabs(late)) <= limit)
            continue;
        if (fabs(early - late) <= limit && have_one_clock(ranks, n, fmin(fabs(early), fabs(late))))
            host.late_ns = limit;
        else
            host.shared = false;
    }
    host.late_ns = host.shared ? host.late_ns : 0.0;
    return host;
}

/* Raises each spread that is not 0 to at least the median spread of the hosts that share a clock,
 * because the spread of few ranks is uncertain. */
static void share_spreads(tm_clock_host *hosts, int32_t n_hosts, double *values) {
    size_t n = 0;
    for (int32_t h = 0; h < n_hosts; h++)
        if (hosts[h].shared && hosts[h].spread_ns > 0.0)
            values[n++] = hosts[h].spread_ns;
    double usual = n > 0 ? tm_median_real(values, n) : 0.0;
    for (int32_t h = 0; h < n_hosts; h++)
        if (hosts[h].spread_ns > 0.0)
            hosts[h].spread_ns = fmax(hosts[h].spread_ns, usual);
}

tm_status tm_clock_split(const tm_clock_rank_end *ranks, size_t n_ranks, double noise_ns,
                         tm_clock_host *hosts, int32_t n_hosts, tm_error *err) {
    double limit = SPLIT_NOISES * fmax(noise_ns, LEAST_SPLIT_NOISE_NS);
    double *values = calloc(n_ranks + (size_t)n_hosts + 1, sizeof *values);
    if (!values)
        return tm_fail_memory(err);
    for (int32_t h = 0; h < n_hosts; h++)
        hosts[h] = (tm_clock_host){.shared = true};
    for (size_t i = 0, n; i < n_ranks; i += n) {
        for (n = 1; i + n < n_ranks && ranks[i + n].host == ranks[i].host; n++)
            ;
        assert(ranks[i].host >= 0 && ranks[i].host < n_hosts);
        hosts[ranks[i].host] = judge(ranks + i, n, limit, values);
    }
    share_spreads(hosts, n_hosts, values);
    free(values);
    return TM_OK;
}
