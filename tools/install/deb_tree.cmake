# Changes the installed tree to what Debian expects, for cpack: compressed manuals, a changelog, the
# copyright in place of the licence, zsh completions in Debian's folder, and the plugin in the
# default plugin folder of each of Debian's HDF5 libraries.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(multiarch lib/${CPACK_TMERGE_MULTIARCH})

file(MAKE_DIRECTORY ${usr}/share/zsh/vendor-completions)
file(RENAME ${usr}/share/zsh/site-functions/_tmerge ${usr}/share/zsh/vendor-completions/_tmerge)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)

foreach(hdf5 serial openmpi mpich)
  set(folder ${usr}/${multiarch}/hdf5/${hdf5}/plugins)
  set(name tmerge/plugin/libh5zstd_tmerge.so)
  file(MAKE_DIRECTORY ${folder})
  file(RELATIVE_PATH target ${folder} ${usr}/${CPACK_TMERGE_LIBDIR}/${name})
  file(CREATE_LINK ${target} ${folder}/libh5zstd_tmerge.so SYMBOLIC)
endforeach()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(doc ${usr}/share/doc/tmerge)
file(WRITE ${doc}/changelog.Debian
     "tmerge (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
     "  * Made by cpack.\n\n"
     " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
file(REMOVE ${doc}/LICENSE)
file(WRITE ${doc}/copyright
     "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
     "Upstream-Name: tmerge\n\nFiles: *\nCopyright: the authors of tmerge\nLicense: Apache-2.0\n"
     " The full text is in /usr/share/common-licenses/Apache-2.0.\n")
file(GLOB files ${usr}/share/man/man1/*.1)
execute_process(COMMAND gzip -9n ${doc}/changelog.Debian ${files} COMMAND_ERROR_IS_FATAL ANY)
