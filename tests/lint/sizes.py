"""Limits the size of functions, files and folders, with universal-ctags; runs in the root of the
project."""
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from common import files, finish, prove

FUNCTION_LINES = 80
USUAL_FUNCTION_LINES = 50  # limit for 95 of 100 functions
FILE_LINES = 800
FOLDER_FILES = 25  # .c files; more need subfolders
PARAMETERS = 6
# Callbacks whose parameters a library prescribes: request handlers of libmicrohttpd.
CALLED = "(void * context,struct MHD_Connection * connection,const char * path,"


def functions(root, paths):
    """Yields (lines, parameters, location) of every function."""
    out = subprocess.run(
        ["ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+neS",
         "--output-format=json", "-f", "-", "-L", "-"],
        input="\n".join(str(Path(root, path)) for path in paths),
        capture_output=True, text=True, check=True,
    ).stdout
    for line in out.splitlines():
        tag = json.loads(line)
        names = tag.get("signature", "()").strip("()").split(",")
        n_named = sum(name.strip() not in ("", "void", "...") for name in names)
        if tag.get("signature", "").startswith(CALLED):
            n_named = 0
        where = f"{Path(tag['path']).relative_to(root)}:{tag['line']}: {tag['name']}"
        yield tag["end"] - tag["line"] + 1, n_named, where


def check(root):
    paths = files(root)
    found = list(functions(root, paths))
    problems = [f"{where} has {lines} lines" for lines, _, where in found if lines > FUNCTION_LINES]
    problems += [f"{where} has {n} parameters" for _, n, where in found if n > PARAMETERS]
    long = [where for lines, _, where in found if lines > USUAL_FUNCTION_LINES]
    if len(long) * 20 > len(found):
        problems.append(f"{len(long)} of {len(found)} functions have over {USUAL_FUNCTION_LINES} "
                        "lines:\n  " + "\n  ".join(long))
    for path in paths:
        lines = Path(root, path).read_text(encoding="utf-8").count("\n")
        if path.suffix == ".c" and lines > FILE_LINES:
            problems.append(f"{path} has {lines} lines")
    folders = Counter(path.parent for path in paths if path.suffix == ".c")
    problems += [f"{folder} holds {n} .c files" for folder, n in folders.items()
                 if n > FOLDER_FILES]
    return problems, len(found)


def prove_that_it_fails():
    body = "    n++;\n"
    bad = ("int a(int n)\n{\n" + body * 78 + "}\n"
           + "int fits(int a, int b, int c, int d, int e, int f, ...)\n{\n" + body * 48 + "}\n"
           + "int b(int a, int b, int c, int d, int e, int f, int g)\n{\n}\n" + "\n" * 800)
    with tempfile.TemporaryDirectory() as root:
        Path(root, "src").mkdir()
        Path(root, "mpi").mkdir()
        for i in range(FOLDER_FILES + 1):
            Path(root, f"mpi/{i}.c").touch()
        Path(root, "src/bad.c").write_text(bad, encoding="utf-8")
        prove(check(root)[0], ["a has 81 lines", "b has 7 parameters", "2 of 3 functions have over",
                               "bad.c has", "mpi holds 26 .c files"])


if __name__ == "__main__":
    if not shutil.which("ctags"):
        print("skipped: universal-ctags is missing")
        sys.exit(111)
    prove_that_it_fails()
    finish(*(lambda result: (result[0], "functions", result[1]))(check(".")))
