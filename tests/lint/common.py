"""Shared by the checks: the project's files, their code without comments, and reporting."""
import re
import sys
from pathlib import Path

ROOMS = ("include", "src", "mpi", "tools")


def files(root, folders=ROOMS, suffixes=(".c", ".h")):
    """Returns the C files below the folders, sorted, as paths relative to root."""
    found = []
    for folder in folders:
        for path in sorted(Path(root, folder).rglob("*")):
            if path.suffix in suffixes and "node_modules" not in path.parts:
                found.append(path.relative_to(root))
    return found


def code_of(text):
    """Returns the text with comments and the insides of literals blanked; keeps line numbers."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def finish(problems, what, n):
    """Prints the problems and exits: 0 only if something was checked and has no problem."""
    for problem in problems:
        print(problem)
    if n == 0:
        print(f"found no {what}: the check itself is broken")
    print(f"{n} {what}, {len(problems)} problems")
    sys.exit(1 if problems or n == 0 else 0)


def prove(problems, expected):
    """Exits with 1 unless a prepared bad example has exactly the expected problems."""
    missed = [word for word in expected if not any(word in problem for problem in problems)]
    if missed or len(problems) != len(expected):
        print("the check itself is broken: expected", expected, "got", problems)
        sys.exit(1)
