"""Checks the symbols in the libraries' object files: symbols.py no-mpi|no-state LIBRARY..."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import finish, prove

MPI_SYMBOL = re.compile(r"^(P?MPI|ompi|opal|mca|orte|pmix)_", re.I)
# .data.rel.ro holds tables of constant pointers, writable only until the loader has relocated them.
MUTABLE_SECTION = re.compile(r"\s(\*COM\*|\.t?data(?!\.rel\.ro)\S*|\.t?bss\S*)\s+[0-9a-f]+\s+(.*)")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def undefined(library):
    return {m[1] for m in re.finditer(r"^\s+[Uvw] (\S+)$", output_of("nm", "-u", library), re.M)}


def mutable_objects(library):
    """Yields the names of writable objects."""
    for line in output_of("objdump", "-t", library).splitlines():
        found = MUTABLE_SECTION.search(line)
        flags = line[16:24]
        if found and "d" not in flags:  # d: the section's own entry
            yield found[2]


def check_no_mpi(libraries):
    names = {library: undefined(library) for library in libraries}
    if not all("malloc" in found for found in names.values()):
        return ["nm does not even list malloc: the check itself is broken"], len(libraries)
    return [f"{Path(library).name}: {name}" for library, found in names.items()
            for name in sorted(found) if MPI_SYMBOL.match(name)], sum(map(len, names.values()))


def check_no_state(libraries):
    n = sum(len(re.findall(r" g +F ", output_of("objdump", "-t", library)))
            for library in libraries)
    return [f"{Path(library).name}: {name} can be written to" for library in libraries
            for name in mutable_objects(library)], n


def prove_that_it_fails():
    source = """
    static int counter; static int from_one = 1; static const int constant = 3; int common;
    static const char *const texts[] = {"a", "b"}; static _Thread_local int own;
    int MPI_Barrier(int); void *malloc(unsigned long);
    int f(int n);
    int f(int n) {
        static int inner;
        void *memory = malloc(1);
        return MPI_Barrier(texts[n][0] + constant) + counter++ + from_one++ + own++ + inner++
            + common + (memory != 0);
    }"""
    with tempfile.TemporaryDirectory() as folder:
        made = str(Path(folder, "bad.o"))
        subprocess.run(["cc", "-x", "c", "-c", "-fPIE", "-O0", "-o", made, "-"], input=source,
                       text=True, check=True)
        prove(check_no_mpi([made])[0], ["MPI_Barrier"])
        prove(check_no_state([made])[0], ["counter", "from_one", "own", "inner", "common"])


if __name__ == "__main__":
    prove_that_it_fails()
    check = {"no-mpi": check_no_mpi, "no-state": check_no_state}[sys.argv[1]]
    finish(*(lambda result: (result[0], "symbols", result[1]))(check(sys.argv[2:])))
