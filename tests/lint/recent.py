"""Which files a check that is too dear for all of them looks at: what has changed, and a seventh.

recent.py [--latest=N] SUFFIX[,SUFFIX...] FOLDER...
    in the root of the project: prints those below the folders, of what has changed at most the N
    latest; or all of them in the full set (TMERGE_FULL=1)
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
    """Paths below root that changed since the last commit that is a day older than the newest one,
    the latest first.

    Empty where git does not tell: no repository, a shallow clone, or none that old.
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
    """Whether today it is the turn of a path; in so many days each has one."""
    turn = zlib.crc32(Path(path).as_posix().encode()) - datetime.date.today().toordinal()
    return turn % shards == 0


def due(paths, latest=None):
    """Those of the paths, relative to the root of the project that one is in, that are looked at."""
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
