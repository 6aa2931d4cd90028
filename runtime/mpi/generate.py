#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the C sources of the interposition layer from mpi_calls.tab.

usage: generate.py DIR-OF-TABLES OUTPUT...

What is made is told from the name of each OUTPUT:
  mpi_real.h        struct aspx_real: one pointer per MPI function
  mpi_real_names.h  their names, in the same order
  mpi_hand.h        prototypes of the handlers written in C
  mpi_entry.c       the exported MPI_ and PMPI_ functions: one jump each
  mpi_workers.c     what the entries become once Aspen is active
  mpi_export.map    linker version script
  mpi-coverage.md   what happens to each function, for people
"""
import os
import sys
from collections import namedtuple

Call = namedtuple("Call", "name version treatment ret args")
TREATMENTS = ("pass", "world", "inherit", "hand")
BANNER = "/* Generated from mpi_calls.tab by generate.py. */\n"


def lines(path):
    with open(path, encoding="ascii") as table:
        for line in table:
            line = line.split("#")[0].split(None)
            if line:
                yield line


def load(folder):
    kinds = {words[0]: " ".join(words[1:])
             for words in lines(os.path.join(folder, "mpi_kinds.tab"))}
    calls = []
    for name, version, treatment, ret, *args in lines(
            os.path.join(folder, "mpi_calls.tab")):
        if treatment not in TREATMENTS:
            sys.exit(f"{name}: unknown treatment {treatment}")
        args = [arg.split(":") for arg in args]
        for arg in args:
            if arg[1] not in kinds:
                sys.exit(f"{name}: unknown kind {arg[1]}")
        calls.append(Call(name, version, treatment, ret, args))
    return kinds, sorted(calls)


def declare(kinds, call):
    """The parameter list of a call."""
    words = [kinds[kind].replace("@", name) for name, kind in call.args]
    return ", ".join(words) or "void"


def plain(call):
    """The argument list that hands the parameters on unchanged."""
    return ", ".join(name for name, kind in call.args if kind != "dots")


def translated(call):
    return ", ".join(f"aspx_comm({name})" if kind == "comm" else name
                     for name, kind in call.args if kind != "dots")


def prefixes(call):
    """How a call is exported; the library's internal ones have no PMPI_."""
    return [("", "mpi")] + [("P", "pmpi")] * (call.name[:5] != "MPII_")


def inherit(kinds, call):
    """Body of a worker that hands the world's error handler on."""
    old = next(name for name, kind in call.args if kind == "comm")
    new = next(name for name, kind in call.args if kind == "comm*")
    return (f"static {call.ret} work_{call.name}({declare(kinds, call)})\n"
            f"{{\n    {call.ret} rc = "
            f"aspx_real.{call.name}({translated(call)});\n\n"
            f"    return aspx_errh_inherit({old}, {new}, rc);\n}}")


def real_h(kinds, calls):
    yield "#ifndef ASPEN_MPI_REAL_H\n#define ASPEN_MPI_REAL_H\n"
    yield BANNER + '#include <mpi.h>\n\n#include "mpii.h"\n'
    yield "/* One pointer per MPI function, by its name. */\nstruct aspx_real {"
    for call in calls:
        yield f"    {call.ret} (*{call.name})({declare(kinds, call)});"
    yield "};\n#endif"


def names_h(_kinds, calls):
    yield BANNER
    for call in calls:
        yield f'"{call.name}",'


def hand_h(kinds, calls):
    yield "#ifndef ASPEN_MPI_HAND_H\n#define ASPEN_MPI_HAND_H\n"
    yield BANNER + '#include <mpi.h>\n\n#include "mpii.h"\n'
    for call in calls:
        if call.treatment == "hand":
            yield f"{call.ret} aspx_hand_{call.name}({declare(kinds, call)});"
    yield "#endif"


# Body of MPI_Pcontrol: hand on the words behind the last named argument, for a
# tool behind us. Five words are in registers on every ABI we know, so reading
# them is safe even if the caller gave fewer.
VARIADIC = """    va_list rest;
    long word[5];

    va_start(rest, {args});
    for (int i = 0; i < 5; i++)
        word[i] = va_arg(rest, long);
    va_end(rest);
    return {target}({args}, word[0], word[1], word[2], word[3], word[4]);"""


def entry_c(kinds, calls):
    yield BANNER + '#include "entry.h"\n'
    for call in calls:
        params, args = declare(kinds, call), plain(call)
        for prefix, table in prefixes(call):
            target = f"aspx_entry_{table}.{call.name}"
            jump = (VARIADIC if "..." in params else
                    "    return {target}({args});").format(
                        target=target, args=args)
            yield (f"static {call.ret} first_{prefix}{call.name}({params})\n"
                   f"{{\n    aspx_entry_resolve();\n{jump}\n}}")
            yield (f"ASPX_EXPORT {call.ret} {prefix}{call.name}({params})\n"
                   f"{{\n{jump}\n}}")
    for prefix, table in (("", "mpi"), ("P", "pmpi")):
        yield f"struct aspx_real aspx_entry_{table} = {{"
        for call in calls:
            if (prefix, table) in prefixes(call):
                yield f"    .{call.name} = first_{prefix}{call.name},"
        yield "};"


def workers_c(kinds, calls):
    yield BANNER + '#include "workers.h"\n'
    for call in calls:
        if call.treatment == "world":
            yield (f"static {call.ret} work_{call.name}"
                   f"({declare(kinds, call)})\n{{\n    return "
                   f"aspx_real.{call.name}({translated(call)});\n}}")
        elif call.treatment == "inherit":
            yield inherit(kinds, call)
    yield "void aspx_workers_fill(struct aspx_real *table)\n{"
    yield "    *table = aspx_real;"
    for call in calls:
        if call.treatment != "pass":
            prefix = "aspx_hand_" if call.treatment == "hand" else "work_"
            yield f"    table->{call.name} = {prefix}{call.name};"
    yield "}\n\nvoid aspx_workers_fill_start(struct aspx_real *table)\n{"
    yield "    *table = aspx_real;"
    for name in ("MPI_Init", "MPI_Init_thread", "MPI_Session_init"):
        yield f"    table->{name} = aspx_hand_{name};"
    yield "}\n\nvoid aspx_workers_fill_end(struct aspx_real *table)\n{"
    yield "    *table = aspx_real;"
    for name in ("MPI_Finalized", "MPI_Initialized"):
        yield f"    table->{name} = aspx_hand_{name};"
    yield "}"


def export_map(_kinds, calls):
    yield "/* Generated from mpi_calls.tab by generate.py. */\n{\nglobal:"
    for call in calls:
        for prefix, _table in prefixes(call):
            yield f"    {prefix}{call.name};"
    yield "    ucp_init_version;"  # runtime/bypass.c
    yield "local:\n    *;\n};"


def coverage_md(_kinds, calls):
    count = {t: sum(c.treatment == t for c in calls) for t in TREATMENTS}
    yield "# What happens to each MPI function\n"
    yield ("Generated from `runtime/mpi/mpi_calls.tab`. "
           f"{len(calls)} functions: {count['pass']} pass, "
           f"{count['world']} world, {count['inherit']} inherit, "
           f"{count['hand']} hand.\n")
    yield ("`pass`: calls the library. `world`: the users' communicator takes "
           "the place of\n`MPI_COMM_WORLD`, then the library is called. "
           "`inherit`: the same, and the new\ncommunicator gets the error "
           "handler of `MPI_COMM_WORLD`. `hand`: written in C.\n")
    yield "| function | MPI | treatment |\n|---|---|---|"
    for call in calls:
        yield f"| `{call.name}` | {call.version} | {call.treatment} |"


MAKERS = {
    "mpi_real.h": real_h,
    "mpi_real_names.h": names_h,
    "mpi_hand.h": hand_h,
    "mpi_entry.c": entry_c,
    "mpi_workers.c": workers_c,
    "mpi_export.map": export_map,
    "mpi-coverage.md": coverage_md,
}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    kinds, calls = load(sys.argv[1])
    for path in sys.argv[2:]:
        text = "\n".join(MAKERS[os.path.basename(path)](kinds, calls)) + "\n"
        if path.endswith((".h", ".c")):
            text = "/* SPDX-License-Identifier: BSD-3-Clause */\n" + text
        with open(path, "w", encoding="ascii") as out:
            out.write(text)


main()
