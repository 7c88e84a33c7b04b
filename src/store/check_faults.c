#include "check_faults.h"

#include <stdarg.h>
#include <stdio.h>

void tm_check_fault(tm_check *check, const char *format, ...) {
    char message[TM_MESSAGE_MAX];
    tm_error fault;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)tm_fail(&fault, TM_ERR_INPUT, check->store->path, -1, "%s", message);
    check->n_faults++;
    check->sink->hear(check->sink->context, &fault);
}

bool tm_check_call(tm_check *check, tm_status status, const tm_error *err) {
    /* TM_ERR_INPUT means that the store has a fault. Any other failure ends the check. */
    if (status == TM_ERR_INPUT) {
        check->n_faults++;
        check->sink->hear(check->sink->context, err);
    } else if (status != TM_OK && check->status == TM_OK) {
        check->status = status;
        if (check->err)
            *check->err = *err;
    }
    return status == TM_OK;
}
