"""Runs clang-tidy on the C files that the build compiles: tidy.py ROOT BUILD

The result for a file depends only on the file, its headers and the options. So a landing checks the
files that changed in the last day, up to USING files that include a changed header (chosen by
commit), and a seventh of all files by date. The full set (TMERGE_FULL=1) checks all files; so does
a landing if the options changed or git does not know the changes. Files unchanged since their last
check are skipped.

The analyser follows paths through a function for up to NODES nodes. This costs ten times as much
as FEW nodes and finds little more. So at a landing only the DEEP files that changed last, and one
of SHARDS parts of all files by date, get NODES; the others get FEW. In the full set all get NODES.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from recent import FULL, changed, git, in_shard

FEW, NODES = 5_000, 225_000  # NODES is clang's default
USING, DEEP, SHARDS = 30, 15, 42
OPTIONS = (".clang-tidy", "tests/lint/analyzer.h")
# Files that define the functions that analyzer.h redefines.
PLAIN = ("src/base/status.c", "mpi/exchange/agree.c", "tools/synth/base/error.c")
BAD = "int f(int *p); int f(int *p) { if (!p) return *p; else return 1; }\n"


def is_test(path):
    """Returns whether a file is a unit test. The analyser skips these: it would continue past
    failed assertions, because cmocka does not declare that they end the test."""
    return path.is_relative_to("tests/unit") or path.is_relative_to("tests/mpi")


def command(root, build, path, nodes):
    """Returns the command for one file. Version 14 needs a process per file: its va_list check
    carries state from file to file and gives false reports."""
    options = [f"-p={build}", f"--config-file={root}/.clang-tidy", "--quiet"]
    if is_test(path):
        options.append("--checks=-clang-analyzer-*")
    elif str(path) not in PLAIN:
        options += ["--extra-arg=-include", f"--extra-arg={root}/tests/lint/analyzer.h"]
    for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={nodes}"):
        options.append(f"--extra-arg={word}")
    return ["clang-tidy", *options]


def tidy(root, build, path, nodes, file=None):
    """Returns clang-tidy's report on a file, "" if clean. Its stderr only counts warnings in system
    headers."""
    done = subprocess.run([*command(root, build, path, nodes), str(file or root / path)],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{done.stdout}clang-tidy: {path}: {done.returncode}\n"


def prove(root, build):
    """Exits unless a bad example is reported at both depths, and in the folder of tests."""
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    bad = folder / "bad.c"
    bad.write_text(BAD, encoding="utf-8")
    for place, nodes, expected in (("src", FEW, ["NullDereference", "else-after-return"]),
                                   ("src", NODES, ["NullDereference", "else-after-return"]),
                                   ("tests/unit", FEW, ["else-after-return"])):
        said = tidy(root, build, Path(place, "bad.c"), nodes, bad)
        if re.findall("NullDereference|else-after-return", said) != expected:
            sys.exit(f"of a bad example in {place} it does not find {expected}: the check is broken")


def compiled(root, build):
    """Returns {path: object} of all C files except generated ones, which hold only bytes."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in entries:
        path = Path(entry["file"])
        if path.suffix == ".c" and path.is_relative_to(root) and not path.is_relative_to(build):
            built = re.search(r" -o (\S+) ", entry["command"])[1]
            found.setdefault(path.relative_to(root), built)
    return found


def dependencies(root, build):
    """Returns {object: paths of the project that it depends on}, as recorded by ninja."""
    noted = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True,
                           check=True).stdout
    found = {}
    for block in noted.split("\n\n"):
        head, *lines = block.split("\n")
        paths = {Path(os.path.normpath(build / line.strip())) for line in lines if line.strip()}
        found[head.split(": #deps")[0].strip()] = {
            p.relative_to(root) for p in paths if p.is_relative_to(root)}
    return found


def depths(root, parts):
    """Returns {path: nodes} of the files to check, given {path: paths that it depends on}."""
    if FULL:
        return {path: FEW if is_test(path) else NODES for path in parts}
    new, commit = changed(root), git(root, "rev-parse", "HEAD")
    place = {Path(path): at for at, path in enumerate(new)}
    own = sorted((path for path in parts if path in place), key=place.get)
    using = sorted((path for path in parts if path not in place and parts[path] & place.keys()),
                   key=lambda path: zlib.crc32(f"{commit} {path}".encode()))
    every = not new or any(Path(path) in place for path in OPTIONS)
    few = parts if every else own + using[:USING] + [path for path in parts if in_shard(path)]
    last = [path for path in own if not is_test(path)][:DEEP]
    turn = [path for path in parts if not is_test(path) and in_shard(path, SHARDS)]
    return {**dict.fromkeys(few, FEW), **dict.fromkeys(last + turn, NODES)}


@cache
def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    root, build = (Path(argument).resolve() for argument in sys.argv[1:3])
    noted = dependencies(root, build)
    parts = {path: noted.get(built, set()) for path, built in compiled(root, build).items()}
    nodes_of = depths(root, parts)
    prove(root, build)
    common = [root / name for name in (*OPTIONS, "tests/lint/tidy.py")]

    def check(path):
        if not parts[path]:
            return f"{path}: not built, so that no change of a header is seen\n"
        nodes = nodes_of[path]
        sums = "".join(sum_of(p) for p in [*common, *(root / p for p in sorted(parts[path]))])
        stamp = build / "tidy" / f"{path}.stamp"
        if stamp.exists():
            had, sums_then = stamp.read_text(encoding="utf-8").split()
            if int(had) >= nodes and sums_then == hashlib.sha256(sums.encode()).hexdigest():
                return ""
        said = tidy(root, build, path, nodes)
        if not said:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(f"{nodes} {hashlib.sha256(sums.encode()).hexdigest()}\n",
                             encoding="utf-8")
        return said

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [said for said in pool.map(check, sorted(nodes_of)) if said]
    print("".join(problems), end="")
    deep = sum(nodes == NODES for nodes in nodes_of.values())
    print(f"clang-tidy: {len(nodes_of)} of {len(parts)} files, {deep} in depth, {len(problems)} wrong")
    sys.exit(1 if problems or not nodes_of else 0)


if __name__ == "__main__":
    main()
