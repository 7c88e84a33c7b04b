"""Checks that every header states its purpose on the first line and has a guard, and that those
chosen by recent.py compile on their own. Most others do so in the .c file of the same name, which
includes them first.

headers.py COMPILER FLAG...   in the root of the project
"""
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import files, finish, prove
from recent import due

FOLDERS = ("include", "src", "mpi", "tools", "tests")


def compile_problem(compiler, source):
    # The typedef: a translation unit must declare something, but a header may define only macros.
    done = subprocess.run(
        [*compiler, "-fsyntax-only", "-x", "c", "-"],
        input=source + "\ntypedef int tm_lint_unit;\n", capture_output=True, text=True, check=False,
    )
    return done.stderr if done.returncode else None


def does_not_compile(compiler, path):
    problem = compile_problem(compiler, f'#include "{path}"\n#include "{path}"\n')
    return [f"{path}: does not compile alone:\n{problem}"] if problem else []


def problems_of(path):
    text = path.read_text(encoding="utf-8")
    if not re.match(r"/\* [A-Z].*", text):
        yield f"{path}: the first line is no comment that says the purpose"
    stem = re.sub(r"\W", "_", path.stem).upper()
    guard = re.search(rf"^#ifndef (TMERGE_(?:\w+_)?{stem}_H)\n#define \1\n", text, re.M)
    if not guard:
        yield f"{path}: no guard TMERGE_{stem}_H"


def shared_guards(paths):
    owner = {}
    for path in paths:
        guard = re.search(r"^#ifndef (TMERGE_\w+_H)$", path.read_text(encoding="utf-8"), re.M)
        first = owner.setdefault(guard[1], path) if guard else path
        if first != path:
            yield f"{path}: guard {guard[1]} is that of {first} too"


def main():
    compiler = sys.argv[1:]
    broken = compile_problem(compiler, "size_t tm_lint_no_header;")
    prove([broken] if broken else [], ["size_t"])
    paths = files(Path(), FOLDERS, (".h",))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda path: does_not_compile(compiler, path), due(paths)))
    results += [problems_of(path) for path in paths] + [shared_guards(paths)]
    finish([problem for result in results for problem in result], "headers", len(paths))


if __name__ == "__main__":
    main()
