# Read by cpack at run time. The maker of the package is its maintainer, named by DEBFULLNAME and
# DEBEMAIL as in Debian's tools.
set(maintainer "the maker of this package <unknown@example.org>")
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-h5py, hdf5-tools")
set(CPACK_PACKAGE_DESCRIPTION
    "Reads the profiler traces that the ranks of a distributed training job left
as one job, in parallel, and says where the time goes: who makes the others
wait, what that costs and where to look. Writes an HDF5 store with the merged
events and all results, which h5py and the HDF5 tools read through the plugin
that is part of this package, and a report for any browser.")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
