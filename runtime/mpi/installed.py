# SPDX-License-Identifier: BSD-3-Clause
"""What the installed MPI declares: mpi.h as the preprocessor leaves it.

A prototype decides whether a row of mpi_calls.tab is used at all, where the
const of a parameter differs between releases, and what becomes of a function
that has no row.
"""
import re
import sys
from collections import namedtuple

Prototype = namedtuple("Prototype", "ret params")  # texts; "..." among them

# mpi.h declares these, but up to MPICH 4.2 they are in its Fortran library, and
# all they do is copy a status.
ELSEWHERE = ("MPI_Status_c2f08", "MPI_Status_f082c", "MPI_Status_f082f",
             "MPI_Status_f2f08")
# Handles that the program sees otherwise than MPI does, or whose use is watched,
# and functions that MPI would call: a function without a row may have none.
TRANSLATED = ("MPI_Comm", "MPI_Request", "MPI_Win", "MPI_Session")
CALLBACK = re.compile(r"_function\b|_fn\b|\(|\.\.\.")

DECLARATION = re.compile(
    r"(?:extern )?([\w ]+?[ *]+)(MPIX?_\w+) ?\((.*?)\)(?: ?__attribute__.*)?")


def load(path):
    """The functions of MPI that this text declares, by name."""
    with open(path, encoding="utf-8") as text:
        statements = re.sub(r"^#.*$", "", text.read(), flags=re.M).split(";")
    found = {}
    for statement in statements:
        match = DECLARATION.fullmatch(" ".join(statement.split()))
        if match and "typedef" not in statement:
            ret, name, params = match.groups()
            params = [] if params == "void" else params.split(",")
            found[name] = Prototype(ret.strip(), [p.strip() for p in params])
    if "MPI_Init" not in found:
        sys.exit(f"{path}: no declarations of MPI in it")
    return found


def tokens(text):
    return re.findall(r"\w+|\S", text)


def nameless(param):
    """A parameter as mpi_kinds.tab writes it, and its name."""
    words = tokens(param)
    end = words.index("[") if "[" in words else len(words)
    return words[:end - 1] + ["@"] + words[end:], words[end - 1]


def without_const(words):
    return [word for word in words if word != "const"]


def kind_of(kinds, name, kind, param):
    """The kind of a table's argument, with the const of the prototype."""
    ours, theirs = tokens(kinds[kind]), nameless(param)[0]
    if ours == theirs or without_const(ours) != without_const(theirs):
        return kind  # the same; or another type, which the compiler sees
    for other, text in kinds.items():
        if tokens(text) == theirs:
            return other
    return sys.exit(f"{name}: mpi_kinds.tab has no kind for '{param}'")


def arguments(kinds, call, prototype):
    """The arguments of a row as the installed MPI declares them."""
    if len(prototype.params) != len(call.args):
        return call.args
    return [[name, kind_of(kinds, call.name, kind, param)]
            for (name, kind), param in zip(call.args, prototype.params)]


def why_not(prototype):
    """Why a function without a row cannot be handed on unseen, or None."""
    for param in prototype.params:
        if CALLBACK.search(param):
            return f"takes a function or an open list ({param})"
        for handle in TRANSLATED:
            if re.search(rf"\b{handle}\b", param):
                return f"takes a handle that Aspen translates ({param})"
    return None


def handed_on(kinds, prototype):
    """Arguments for such a function; what they are becomes kinds of their own."""
    args = []
    for param in prototype.params:
        words, name = nameless(param)
        kind = re.sub(r" (?=[]\[])|(?<=[*\[]) ", "", " ".join(words))
        kinds[kind] = kind
        args.append([name, kind])
    return args
