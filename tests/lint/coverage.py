"""Line coverage of the tests, by folder and file: coverage.py SOURCE_FOLDER BUILD_FOLDER"""
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from common import ROOMS


def counts(root, build):
    """Returns {file: {line: times}}; a line counts as run if any object file ran it."""
    lines = defaultdict(lambda: defaultdict(int))
    for notes in sorted(build.rglob("*.gcno")):  # exist also for objects that never ran
        out = subprocess.run(["gcov", "--json-format", "--stdout", str(notes)],
                             capture_output=True, text=True, check=True, cwd=build).stdout
        for document in out.splitlines():
            for entry in json.loads(document)["files"]:
                path = Path(build, entry["file"]).resolve()
                if path.is_relative_to(root) and path.relative_to(root).parts[0] in ROOMS:
                    for line in entry["lines"]:
                        lines[path.relative_to(root)][line["line_number"]] += line["count"]
    return lines


def main():
    root, build = (Path(argument).resolve() for argument in sys.argv[1:3])
    files = counts(root, build)
    if not any(count for lines in files.values() for count in lines.values()):
        sys.exit("no counts: run the tests of the coverage preset first")
    rooms = defaultdict(lambda: [0, 0])
    for path, lines in sorted(files.items()):
        run = sum(count > 0 for count in lines.values())
        print(f"{100 * run / len(lines):6.1f} %  {run:5} of {len(lines):5}  {path}")
        for room in (str(path.parent), "all"):
            rooms[room][0] += run
            rooms[room][1] += len(lines)
    print()
    for room, (run, n) in rooms.items():
        print(f"{100 * run / n:6.1f} %  {run:5} of {n:5}  {room}")


if __name__ == "__main__":
    main()
