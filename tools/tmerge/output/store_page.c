#include "store_page.h"

#include <stddef.h>

#include "output_file.h"
#include "tmerge/report.h"

static bool is_page(const void *context, const char *path) {
    (void)context;
    return tm_report_is_page(path);
}

tm_status tm_page_built(tm_error *err) {
    return tm_report_is_built()
               ? TM_OK
               : tm_fail(err, TM_ERR_USAGE, NULL, -1,
                         "this tmerge was built without the report page (TMERGE_REPORT=OFF); "
                         "to make the page from the store, use tmerge report of a build with it");
}

tm_status tm_page_check(const char *path, bool force, tm_error *err) {
    static const tm_output_kind page = {"a page of tmerge", is_page, NULL};
    TM_TRY(tm_page_built(err));
    return tm_output_check(path, &page, force, err);
}
