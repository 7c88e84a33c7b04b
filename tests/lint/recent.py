"""Chooses the files for checks that are too slow for all of them: changed files, and a seventh.

recent.py [--latest=N] SUFFIX[,SUFFIX...] FOLDER...
    in the root of the project: prints the chosen files below the folders, with at most the N latest
    changed ones; all files in the full set (TMERGE_FULL=1)
"""
import datetime
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

from common import files

FULL = os.environ.get("TMERGE_FULL") == "1"  # whether the full set of tests runs (tests/README.md)
DAY_S = 24 * 60 * 60
SHARDS = 7


def git(root, *arguments):
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True,
                          check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def changed(root):
    """Returns the paths below root that changed within a day before the newest commit or after it,
    latest first.

    Empty if git does not know: no repository, a shallow clone, or no commit that old.
    """
    newest = git(root, "log", "-1", "--format=%ct")
    if not newest or git(root, "rev-parse", "--is-shallow-repository") != ["false"]:
        return []
    base = git(root, "rev-list", "-1", f"--before={int(newest[0]) - DAY_S}", "HEAD")
    if not base:
        return []
    return list(dict.fromkeys(
        git(root, "ls-files", "--others", "--exclude-standard")
        + git(root, "diff", "--name-only", "HEAD")
        + git(root, "log", "-m", "--format=", "--name-only", f"{base[0]}..HEAD")))


def in_shard(path, shards=SHARDS):
    """Returns whether it is a path's turn today; each has one within `shards` days."""
    turn = zlib.crc32(Path(path).as_posix().encode()) - datetime.date.today().toordinal()
    return turn % shards == 0


def due(paths, latest=None):
    """Returns the paths to check. They are relative to the current folder, the project's root."""
    known = {str(path) for path in paths}
    new = [path for path in changed(".") if path in known][:latest]
    return [path for path in paths if FULL or in_shard(path) or str(path) in new]


def main():
    latest = re.fullmatch(r"--latest=(\d+)", sys.argv[1])
    suffixes, *folders = sys.argv[2:] if latest else sys.argv[1:]
    for path in due(files(Path(), folders, suffixes.split(",")), latest and int(latest[1])):
        print(path)


if __name__ == "__main__":
    main()
