/* tmerge-synth: writes the traces of a simulated training job, with the truth about them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "synth/base/config.h"
#include "synth_job.h"

int main(int argc, char **argv) {
    tms_config config;
    tms_error err = {.status = TMS_OK};
    tms_status status = tms_config_parse(&config, argc, argv, &err);

    if (status == TMS_OK && config.help) {
        tms_config_help(stdout);
        if (fflush(stdout) != 0) {
            status = tms_fail(&err, TMS_ERR_OUTPUT, "cannot write the help: %s", strerror(errno));
        }
    } else if (status == TMS_OK) {
        status = tms_job_run(&config, &err);
    }
    /* Only main prints: all other code returns its failures. */
    if (status != TMS_OK) {
        fprintf(stderr, "tmerge-synth: %s\n", err.message);
    }
    return (int)status;
}
