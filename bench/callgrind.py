# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of functions of a program, by callgrind."""
import collections
import os
import re
import subprocess
import sys
import tempfile


def annotated(profile):
    """What callgrind_annotate says of a profile."""
    return subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", profile],
        text=True, capture_output=True, check=True).stdout


def instructions(run, words, names=r"measure_\w+", ranks=None):
    """{function: instructions}, of those it calls too, within measure_*().
    run    starts a command, given as a list of words
    words  the program and its arguments
    names  a regular expression
    ranks  the program runs as so many of mpiexec's: sums of all of them"""
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile")
        run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
             "--toggle-collect=measure_*", f"--callgrind-out-file={profile}" +
             (".%q{PMI_RANK}" if ranks else "")] + words)
        text = "".join(annotated(f"{profile}.{rank}")
                       for rank in range(ranks)) if ranks else \
            annotated(profile)
    found = collections.Counter()
    for count, name in re.findall(rf"^\s*([\d,]+) .*:({names})(?:'\d+)? \[",
                                  text, re.MULTILINE):
        found[name] += int(count.replace(",", ""))
    if not found:
        sys.exit(f"nothing measured in:\n{text}")
    return dict(found)
