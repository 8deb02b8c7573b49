#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The folders include each other as the picture in docs/design.md says, no more and no less.

The picture is the block that starts with ```layers: lines such as `base <- tracer <- {fuse, replay}`,
where what stands right of an arrow may include what stands left of it, directly or through others.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = {"base": "base", "tracer": "tracer", "probe": "tracer/probe", "fuse": "fuse", "replay": "replay",
           "convert": "tracer/convert", "audit": "tracer/audit",
           "targets": "targets", "workloads": "workloads", "report": "report", "tools": "tools"}


def picture():
    """folder -> the folders it may include directly."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    block = re.search(r"^```layers\n(.*?)^```", text, re.S | re.M)
    if not block:
        sys.exit("docs/design.md: no ```layers block")
    below = collections.defaultdict(set)
    for line in block.group(1).splitlines():
        groups = [re.findall(r"[a-z]+", part) for part in line.split("<-")]
        for lower, upper in zip(groups, groups[1:]):
            for name in upper:
                below[name] |= set(lower)
    return below


def closure(below, name):
    seen, todo = set(), list(below[name])
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += below[one]
    return seen


def includes():
    """(file, line, folder, included name) of every quoted include in the folders."""
    for folder, place in FOLDERS.items():
        for path in sorted((ROOT / place).glob("*.[ch]")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
                if found:
                    yield path.relative_to(ROOT), number, folder, found.group(1)


def main():
    below = picture()
    home = {path.name: folder for folder, place in FOLDERS.items() for path in (ROOT / place).glob("*.[hd]*")}
    bad, used = 0, collections.defaultdict(set)
    for path, line, folder, name in includes():
        if "/" in name:
            print(f"{path}:{line}: a path in an include: {name}")
            bad += 1
            continue
        own = (ROOT / FOLDERS[folder] / name).exists()  # the compiler looks there first, too
        target = folder if own else home.get(name, folder)
        used[folder].add(target)
        if target != folder and target not in closure(below, folder):
            print(f"{path}:{line}: {folder} must not see {target} ({name})")
            bad += 1
    for folder in FOLDERS:
        for lower in sorted(below[folder] - used[folder]):
            print(f"docs/design.md: {lower} <- {folder} is drawn, but {folder} includes nothing of it")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
