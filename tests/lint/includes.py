"""Checks the layers of the architecture: which folder may include which, that no folders include one
another, and which may print.

tools -> mpi -> src -> include; within src and tools/synth by the tables below. Runs in the root of
the project.
"""
import graphlib
import os
import re
import tempfile
from pathlib import Path

from common import code_of, files, finish, prove

# Folders that a folder of analyses may include besides its own; never another one's.
QUESTION = {"base", "timeline", "table", "analysis/shared"}
REPLAY = {"replay/graph", "replay/job", "replay/whatif"}
ROOMS_OF_SRC = {
    "base": {"base"},
    "identity": {"base", "identity"},
    "input": {"base", "input"},
    "readers": {"base", "identity", "timeline", "readers"},
    "readers/*": {"base", "identity", "timeline", "readers"},  # a format, included by no other
    "ncu": {"base", "ncu"},
    "timeline": {"base", "identity", "timeline"},
    "match": {"base", "timeline", "match"},
    "clock": {"base", "timeline", "clock"},
    "waits": {"base", "timeline", "waits"},
    "replay/graph": {"base", "timeline", "replay/graph"},
    "replay/job": {"base", "timeline", "replay/graph", "replay/job"},
    "replay/whatif": {"base", "timeline", *REPLAY},
    "table": {"base", "table"},
    "analysis": {"base", "analysis", "analysis/shared"},  # the registry
    "analysis/shared": QUESTION,
    "analysis/job": QUESTION,
    "analysis/steps": QUESTION,
    "analysis/stragglers": QUESTION | {"waits"} | REPLAY,
    "analysis/communication": QUESTION | {"waits"},
    "analysis/efficiency": QUESTION,
    "analysis/host": QUESTION,
    "analysis/gpu": QUESTION,
    "analysis/memory": QUESTION,
    "analysis/model": QUESTION,
    "analysis/xla": QUESTION,
    "analysis/advice": QUESTION,
    "analysis/hang": QUESTION,
    "analysis/replay": QUESTION | REPLAY,
    "diff": {"base", "table", "analysis/shared", "diff"},
    "store": {"base", "timeline", "table", "store"},
    "report": {"base", "timeline", "table", "match", "waits", "report"},
    "export": {"base", "timeline", "table", "export"},
    "serve": {"base", "timeline", "table", "match", "report", "serve"},
    "sql": {"base", "timeline", "table", "sql"},
}
# A format may include another one only if its traces hold the same data in another form.
OF_FORMATS = {
    "readers/ascend_db": {"readers/sqlite", "readers/ascend"},
    "readers/nsys": {"readers/sqlite"},
    "readers/rocpd": {"readers/sqlite", "readers/rocprof"},
    "readers/rpd": {"readers/sqlite", "readers/rocprof", "readers/rocpd"},
}
# The generator shares no code with the readers of its jobs, so that a shared mistake cannot hide.
ROOMS_OF_SYNTH = {
    "synth/base": {"synth/base"},
    "synth/sim": {"synth/base", "synth/sim"},
    "synth/formats": {"synth/base", "synth/sim", "synth/formats"},
    "synth/truth": {"synth/base", "synth/sim", "synth/truth"},
    "synth": {"synth/base", "synth/sim", "synth/formats", "synth/truth", "synth"},
}
# Folders that may include the headers of certain libraries; folders of src by name.
HDF5_ROOMS = {"store", "mpi"}
MPI_ROOMS = {"mpi", "tools"}
SQLITE_ROOMS = {"readers/sqlite", "readers/nsys", "sql", "tools", "synth/formats"}
CJSON_ROOMS = {"readers/ascend_db", "readers/kineto", "readers/nsys", "readers/rocpd",
               "readers/rocprof", "readers/xplane", "match",
               "analysis/job", "analysis/shared", "table", "store", "report", "export", "tools"}
# A library that prints or exits takes the decision from its caller; under MPI, exiting hangs the
# other processes.
ONLY_IN_TOOLS = re.compile(
    r"\b(stdout|stderr|MPI_COMM_WORLD|(?:v?printf|puts|putchar|perror|exit|_exit|_Exit|quick_exit"
    r"|abort|getopt\w*|MPI_Init|MPI_Init_thread|MPI_Finalize|MPI_Abort)(?=\s*\())\b"
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    """src/analysis/gpu/a.c -> analysis/gpu; tools/synth/sim/cpu.h -> synth/sim; mpi/x.h -> mpi. A
    format is one room with its subfolders."""
    if path.parts[:2] == ("src", "readers"):
        return "/".join(path.parts[1:-1][:2])
    if path.parts[0] == "src" or path.parts[:2] == ("tools", "synth"):
        return "/".join(path.parts[1:-1])
    return path.parts[0]


def row_of(room):
    """Returns the key of a folder in ROOMS_OF_SRC; all formats share one."""
    return "readers/*" if room.startswith("readers/") else room


def reachable(room):
    """Returns the folders whose private headers a folder may include."""
    if room == "tools":
        return {"tools", "mpi", *ROOMS_OF_SRC}
    if room == "mpi":
        return {"mpi", *ROOMS_OF_SRC}
    rooms = {**ROOMS_OF_SRC, **ROOMS_OF_SYNTH}.get(row_of(room), set())
    return rooms | OF_FORMATS.get(room, set()) | {room}


def target_of(root, folder, name):
    """Returns the file that an include resolves to; None if outside the project."""
    if name.startswith("tmerge/"):
        return Path("include", name)
    for start in (folder, Path("src"), Path(), Path("mpi"), Path("tools"), Path("tools/tmerge")):
        target = Path(os.path.normpath(start / name))
        if Path(root, target).is_file():
            return target
    return None


def library_problem(room, name):
    if re.fullmatch(r"(H5\w*|hdf5\w*)\.h", name) and room not in HDF5_ROOMS:
        return "only src/store and mpi see HDF5"
    if name == "mpi.h" and room not in MPI_ROOMS:
        return "only mpi and tools see MPI"
    if name == "microhttpd.h" and room != "tools":
        return "only tools speaks HTTP"
    if name == "sqlite3.h" and room not in SQLITE_ROOMS:
        return "only src/readers/sqlite, nsys, src/sql and tools see SQLite"
    if Path(name).name == "cJSON.h" and room not in CJSON_ROOMS:
        return "cJSON is for documents, not for this room"
    return None


def own_header_problem(root, path, includes):
    """Checks that a .c file includes its own header first, which proves it self-contained."""
    own = [path.stem + ".h"] if Path(root, path).with_suffix(".h").is_file() else []
    if path.parts[0] == "src" and Path(root, "include/tmerge", path.stem + ".h").is_file():
        own.append(f"tmerge/{path.stem}.h")
    first = includes[0] if includes else ""
    if path.suffix == ".c" and own and not any(first.endswith(name) for name in own):
        return f"{path}: does not include {' or '.join(own)} first"
    return None


def problems_of(root, path, folders):
    """Yields the problems of a file. Adds to @p folders the folders that its folder includes."""
    text = Path(root, path).read_text(encoding="utf-8")
    room = room_of(path)
    # Reads the original text, because code_of() blanks the literals of include lines.
    includes = [(m[1], m[2]) for m in INCLUDE.finditer(re.sub(r"/\*.*?\*/", "", text, flags=re.S))]
    for quote, name in includes:
        # The compiler searches for <x.h> in all folders except the file's own.
        file = target_of(root, path.parent if quote == '"' else Path("src"), name)
        target = file and room_of(file)
        if file and file.parent != path.parent:
            folders.setdefault(str(path.parent), set()).add(str(file.parent))
        public = target == "include" and room not in ROOMS_OF_SYNTH
        problem = library_problem(room, name)
        if quote == '"' and target is None:
            problem = problem or "no such file of the project"
        elif target and not public and target not in reachable(room):
            problem = f"{room} may not include {target}"
        if problem:
            yield f"{path}: {name}: {problem}"
    own = own_header_problem(root, path, [name for _, name in includes])
    if own:
        yield own
    if room not in {"tools", "synth"}:
        for number, line in enumerate(code_of(text).splitlines(), 1):
            for word in ONLY_IN_TOOLS.findall(line):
                yield f"{path}:{number}: {word}: only tools print, exit and start MPI"
    if row_of(room) not in {"include", "mpi", "tools", *ROOMS_OF_SRC, *ROOMS_OF_SYNTH}:
        yield f"{path}: {room} is no room: add it to tests/lint/includes.py"


def circle_problem(folders):
    """Returns the folders that include one another, as a list of problems."""
    try:
        graphlib.TopologicalSorter(folders).prepare()
    except graphlib.CycleError as error:
        return ["folders include one another: " + " <- ".join(error.args[1])]
    return []


def check(root):
    paths, folders = files(root), {}
    problems = [problem for path in paths for problem in problems_of(root, path, folders)]
    return problems + circle_problem(folders), len(paths)


def prove_that_it_fails():
    bad = {
        "include/tmerge/x.h": "#include <mpi.h>\n",
        "src/table/t.h": '#include "base/a.h"\n',
        "src/base/a.c": '#include "table/t.h"\n/* printf( */ void f(void) { printf("exit"); }\n',
        "src/analysis/gpu/g.h": "",
        "src/analysis/steps/s.c": '#include "analysis/gpu/g.h"\n',
        "src/readers/nsys/n.h": "",
        "src/readers/kineto/k.c": '#include "readers/nsys/n.h"\n',
        "src/base/a.h": "#include <cjson/cJSON.h>\n#include <sqlite3.h>\n",
        "src/input/i.c": '#include "gone.h"\n#include <hdf5.h>\n',
        "mpi/m.c": '#include "readers/nsys/n.h"\n#include "table/t.h"\nint n = MPI_COMM_WORLD;\n',
        "tools/t.c": '#include "mpi/m.h"\n#include "table/t.h"\nint n = MPI_COMM_WORLD;\n',
        "mpi/m.h": "",
        "tools/u.h": '#include "synth/formats/f.h"\n#include <table/t.h>\n#include <tmerge/x.h>\n',
        "tools/synth/synth.c": '#include "synth/formats/f.h"\nint f(void) { exit(2); }\n',
        "tools/synth/base/b.h": '#include "../../../src/table/t.h"\n#include <tmerge/x.h>\n',
        "tools/synth/sim/s.c": '#include "synth/base/b.h"\n#include "synth/formats/f.h"\n',
        "tools/synth/truth/t.c": '#include <mpi/m.h>\n#include "tools/u.h"\n#include <mpi.h>\n',
        "tools/synth/formats/f.h": "#include <sqlite3.h>\nint i = puts();\n",
        "tools/synth/other/o.h": "",
    }
    with tempfile.TemporaryDirectory() as root:
        for name, text in bad.items():
            Path(root, name).parent.mkdir(parents=True, exist_ok=True)
            Path(root, name).write_text(text, encoding="utf-8")
        prove(check(root)[0], [
            "x.h: mpi.h: only mpi",
            "a.c: table/t.h: base may not include table",
            "a.c:2: printf",
            "a.c: does not include a.h first",
            "a.h: cjson/cJSON.h",
            "a.h: sqlite3.h: only src/readers",
            "k.c: readers/nsys/n.h: readers/kineto may not include readers/nsys",
            "i.c: gone.h: no such file",
            "s.c: analysis/gpu/g.h: analysis/steps may not include analysis/gpu",
            "i.c: hdf5.h: only src/store",
            "m.c: readers/nsys/n.h: mpi may not include readers/nsys",
            "m.c: does not include m.h first",
            "m.c:3: MPI_COMM_WORLD",
            "tools/u.h: synth/formats/f.h: tools may not include synth/formats",
            "b.h: ../../../src/table/t.h: synth/base may not include table",
            "b.h: tmerge/x.h: synth/base may not include include",
            "s.c: synth/formats/f.h: synth/sim may not include synth/formats",
            "truth/t.c: mpi/m.h: synth/truth may not include mpi",
            "truth/t.c: tools/u.h: synth/truth may not include tools",
            "truth/t.c: mpi.h: only mpi and tools",
            "f.h:2: puts: only tools print",
            "o.h: synth/other is no room",
            "folders include one another: ",
        ])


if __name__ == "__main__":
    prove_that_it_fails()
    finish(*(lambda result: (result[0], "files", result[1]))(check(".")))
