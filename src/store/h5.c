#include "h5.h"

#include <stdio.h>
#include <string.h>

#include "filter.h"

/* A program may close HDF5 and start it again, so each opened or created store starts HDF5. */
bool tm_h5_start(void) {
    return H5open() >= 0 && H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0 &&
           H5Zregister(&tm_zstd_filter) >= 0;
}

tm_status tm_store_start(tm_error *err) {
    if (H5dont_atexit() < 0 || !tm_h5_start())
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "HDF5 could not be started");
    return TM_OK;
}

/* Closes an object of any kind: HDF5 has a separate function for each kind. */
void tm_h5_close(hid_t id) {
    if (id >= 0)
        H5Idec_ref(id);
}

hid_t tm_h5_element(tm_element element) {
    switch (element) {
    case TM_U8:
        return H5T_STD_U8LE;
    case TM_I32:
        return H5T_STD_I32LE;
    case TM_U32:
        return H5T_STD_U32LE;
    case TM_F32:
        return H5T_IEEE_F32LE;
    case TM_F64:
        return H5T_IEEE_F64LE;
    default:
        return H5T_STD_I64LE;
    }
}

hid_t tm_h5_cell(tm_type type) {
    switch (type) {
    case TM_INT:
        return H5T_STD_I64LE;
    case TM_REAL:
        return H5T_IEEE_F64LE;
    case TM_BOOL:
        return H5T_STD_I8LE;
    default:
        return H5I_INVALID_HID;
    }
}

bool tm_h5_put_number(hid_t object, const char *name, hid_t type, const void *number) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool done = attribute >= 0 && H5Awrite(attribute, type, number) >= 0;
    tm_h5_close(attribute);
    tm_h5_close(space);
    return done;
}

hid_t tm_h5_make_group(hid_t file, const char *path) {
    hid_t group = H5I_INVALID_HID, how = H5Pcreate(H5P_GROUP_CREATE);
    if (how >= 0 && H5Pset_obj_track_times(how, false) >= 0)
        group = H5Gcreate2(file, path, H5P_DEFAULT, how, H5P_DEFAULT);
    tm_h5_close(how);
    return group;
}

/* The name may come from a damaged store. A slash in the name would make another path. */
size_t tm_h5_table_path(const char *name, char out[TM_TABLE_PATH_MAX]) {
    const char *dot = strchr(name, '.');
    int n = dot ? snprintf(out, TM_TABLE_PATH_MAX, "/analysis/%s", name) : -1;
    if (n < 0 || n >= TM_TABLE_PATH_MAX || dot == name || dot[1] == '\0' || strchr(name, '/'))
        return 0;
    size_t group = strlen("/analysis/") + (size_t)(dot - name);
    out[group] = '/';
    return group;
}
