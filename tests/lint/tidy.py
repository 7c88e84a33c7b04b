"""clang-tidy over every C file that the build compiles: tidy.py ROOT BUILD

The analyser follows paths through a function until it has NODES nodes. That many cost ten times
what FEW do, and find little more. So all files get FEW at each landing, and in the full set
(TMERGE_FULL=1) NODES. At a landing NODES are for at most MOST files that changed in the last day,
those that changed last first, and then that use a header that did, others for each commit; and for
those of SHARDS whose day it is. What was checked in depth and has not changed since is not checked
again.
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

FEW, NODES = 5_000, 225_000  # the latter is clang's default
MOST, SHARDS = 60, 28
# The files that define what analyzer.h is about.
PLAIN = ("src/base/status.c", "mpi/agree.c", "tools/synth/base/error.c")
BAD = "int f(int *p); int f(int *p) { if (!p) return *p; else return 1; }\n"


def is_test(path):
    """cmocka does not say that a failed assertion ends the test, so there the analyser goes on: it
    looks at no test."""
    return path.is_relative_to("tests/unit") or path.is_relative_to("tests/mpi")


def command(root, build, path, nodes):
    """One file for each process: within one process, version 14 carries state of its va_list check
    from file to file and reports what is not there."""
    options = [f"-p={build}", f"--config-file={root}/.clang-tidy", "--quiet"]
    if is_test(path):
        options.append("--checks=-clang-analyzer-*")
    elif str(path) not in PLAIN:
        options += ["--extra-arg=-include", f"--extra-arg={root}/tests/lint/analyzer.h"]
    for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={nodes}"):
        options.append(f"--extra-arg={word}")
    return ["clang-tidy", *options]


def tidy(root, build, path, nodes, file=None):
    """What clang-tidy says of a file, or nothing. It counts warnings in system headers on stderr."""
    done = subprocess.run([*command(root, build, path, nodes), str(file or root / path)],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{done.stdout}clang-tidy: {path}: {done.returncode}\n"


def prove(root, build):
    """Ends the program unless a bad example is found at both depths, and where tests lie."""
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
    """{path: object} of all C files but generated ones, which are bytes only."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in entries:
        path = Path(entry["file"])
        if path.suffix == ".c" and path.is_relative_to(root) and not path.is_relative_to(build):
            built = re.search(r" -o (\S+) ", entry["command"])[1]
            found.setdefault(path.relative_to(root), built)
    return found


def dependencies(root, build):
    """{object: paths of ours that it was made of}, as ninja noted them."""
    noted = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True,
                           check=True).stdout
    found = {}
    for block in noted.split("\n\n"):
        head, *lines = block.split("\n")
        paths = {Path(os.path.normpath(build / line.strip())) for line in lines if line.strip()}
        found[head.split(": #deps")[0].strip()] = {
            p.relative_to(root) for p in paths if p.is_relative_to(root)}
    return found


def in_depth(root, parts):
    """The files of {path: paths that it is made of} that get NODES."""
    files = [path for path in parts if not is_test(path)]
    if FULL:
        return set(files)
    new, commit = changed(root), git(root, "rev-parse", "HEAD")
    place = {Path(path): at for at, path in enumerate(new)}
    own = sorted((path for path in files if path in place), key=place.get)
    using = sorted((path for path in files if path not in place and parts[path] & place.keys()),
                   key=lambda path: zlib.crc32(f"{commit} {path}".encode()))
    return {*(own + using)[:MOST], *(path for path in files if in_shard(path, SHARDS))}


@cache
def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    root, build = (Path(argument).resolve() for argument in sys.argv[1:3])
    noted = dependencies(root, build)
    parts = {path: noted.get(built, set()) for path, built in compiled(root, build).items()}
    deep = in_depth(root, parts)
    prove(root, build)
    common = [root / name for name in (".clang-tidy", "tests/lint/analyzer.h", "tests/lint/tidy.py")]

    def check(path):
        if not parts[path]:
            return f"{path}: not built, so that no change of a header is seen\n"
        nodes = NODES if path in deep else FEW
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
        problems = [said for said in pool.map(check, sorted(parts)) if said]
    print("".join(problems), end="")
    print(f"clang-tidy: {len(parts)} files, {len(deep)} of them in depth, {len(problems)} wrong")
    sys.exit(1 if problems or not parts else 0)


if __name__ == "__main__":
    main()
