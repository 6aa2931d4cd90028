# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of functions of a program, by callgrind."""
import os
import re
import subprocess
import sys
import tempfile


def instructions(run, words, names=r"measure_\w+"):
    """{function: instructions}, of those it calls too, within measure_*().
    run    starts a command, given as a list of words
    words  the program and its arguments
    names  a regular expression"""
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile")
        run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
             "--toggle-collect=measure_*",
             f"--callgrind-out-file={profile}"] + words)
        text = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100",
             profile], text=True, capture_output=True, check=True).stdout
    found = re.findall(rf"^\s*([\d,]+) .*:({names})(?:'\d+)? \[", text,
                       re.MULTILINE)
    if not found:
        sys.exit(f"nothing measured in:\n{text}")
    return {name: int(count.replace(",", "")) for count, name in found}
