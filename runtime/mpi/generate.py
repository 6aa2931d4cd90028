#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the C sources of the interposition layer from mpi_calls.tab.

usage: generate.py [--mpi FILE [--developer]] DIR-OF-TABLES OUTPUT...

  --mpi FILE   mpi.h as the preprocessor leaves it: rows that it does not declare
               are left out, and functions without a row are handed on as they
               are where that is safe; else it is said which are not. Without
               an OUTPUT that is all
  --developer  every function needs a row

What is made is told from the name of each OUTPUT:
  mpi_real.h        struct aspx_real: one pointer per MPI function
  mpi_real_names.h  their names, in the same order
  mpi_wrap.h        prototypes of the handlers written in C
  mpi_entry.c       the exported MPI_ and PMPI_ functions: one jump each
  mpi_wrappers.c     what the entries become once Aspen is active
  mpi_offload.c     what they become where each rank has an offload thread
  mpi_progress.c    what they become where each rank has a progress thread
  mpi_profile.c     what stands before them where time is measured
  mpi_interceptors.c      what stands before them for typed data and for collectives
  mpi_behind.h      what lies behind each of those that stand before them
  mpi_behind.c      the same, defined
  mpi_advice.h      whose help can take waiting away (common/base/advice.c)
  mpi_export.map    linker version script
  mpi-coverage.md   what happens to each function, for people
"""
import argparse
import itertools
import os
import re
import sys
import textwrap
from collections import namedtuple

sys.dont_write_bytecode = True  # the source tree may be read-only
import installed  # noqa: E402

# args: as the installed MPI declares them; own_args: as the table does, and with
# it what is written in C.
Call = namedtuple("Call", "name version mpich treatment offload timed progress "
                  "pack coll p2p life advice ret args own_args")
# Exported beside MPI: net/opening.c, mpi/lookup.c, sanitizer.c.
OTHERS = ("__asan_default_options", "dlopen", "dlsym", "fi_fabric",
          "ucp_init_version")
# What the columns may say, by their names in Call.
COLUMNS = {
    "mpich": ("-", "4.1", "4.2", "4.3", "5.0", "<4.2", "<5.0"),
    "treatment": ("pass", "world", "inherit", "wrap"),
    "offload": ("caller", "thread", "post", "init", "twin", "own", "done",
                "refuse"),
    "timed": ("each", "wait", "some", "-"),
    "progress": ("gate", "callback", "own", "done", "-"),
    "pack": ("library", "threads", "both", "-"),
    "coll": ("own", "made", "known", "-"),
    "p2p": ("own", "request", "made", "counted", "-"),
    "life": ("start", "end", "plain", "behind", "demand", "ungated", "-"),
    "advice": ("ghost", "thread", "-"),
}
# What is written in C: its prefix, and where the row says so.
HANDLERS = {
    "aspx_wrap_": ("treatment", ("wrap",)),
    "aspx_offload_": ("offload", ("own",)),
    "aspx_progress_": ("progress", ("own",)),
    "aspx_pack_": ("pack", ("library", "both")),
    "aspx_staged_": ("pack", ("threads", "both")),
    "aspx_coll_": ("coll", ("own",)),
    "aspx_p2p_": ("p2p", ("own",)),
    "aspx_posted_": ("p2p", ("request",)),
    "aspx_plain_": ("life", ("plain",)),
    "aspx_behind_": ("life", ("behind",)),
    "aspx_on_demand_": ("life", ("demand", "ungated")),
}
# Those that stand in front of whatever else there is, and jump on through a table
# of their own: aspx_<name>_behind.
INTERCEPTORS = ("pack", "staged", "coll", "p2p", "posted", "profile")
BANNER = "/* Generated from mpi_calls.tab by generate.py. */\n"


def lines(path):
    with open(path, encoding="ascii") as table:
        for line in table:
            line = line.split("#")[0].split(None)
            if line:
                yield line


def load_call(kinds, words):
    """One row of mpi_calls.tab, checked."""
    args = [word.split(":") for word in words[13:]]
    call = Call(*words[:13], args, args)
    for column, allowed in COLUMNS.items():
        for value in getattr(call, column).split(","):
            if value not in allowed:
                sys.exit(f"{call.name}: unknown {column} {value}")
    for _name, kind in call.args:
        if kind not in kinds:
            sys.exit(f"{call.name}: unknown kind {kind}")
        if kind == "comm*" and call.coll == "-":
            sys.exit(f"{call.name}: coll must say what its communicator is")
    return call


def load(folder):
    kinds = {words[0]: " ".join(words[1:])
             for words in lines(os.path.join(folder, "mpi_kinds.tab"))}
    return kinds, sorted(
        load_call(kinds, words)
        for words in lines(os.path.join(folder, "mpi_calls.tab")))


def take_installed(kinds, calls, path, developer):
    """The calls of the MPI whose declarations these are."""
    declared = installed.load(path)
    rows = {call.name for call in calls}
    found = [call._replace(args=installed.arguments(
        kinds, call, declared[call.name])) if call.name in declared else call
        for call in calls
        if call.name in declared or call.name.startswith("MPII_")]
    bad = []
    for name in sorted(set(declared) - rows - set(installed.ELSEWHERE)):
        why = installed.why_not(declared[name]) or (
            "has no row in mpi_calls.tab" if developer else None)
        if why:
            bad.append(f"  {name} {why}")
            continue
        args = installed.handed_on(kinds, declared[name])
        found.append(Call(name, "?", "-", "pass", "thread", "-", "gate", "-",
                          "-", "-", "-", "-", declared[name].ret, args, args))
    if bad:
        sys.exit("This MPI has functions that Aspen does not know:\n" +
                 "\n".join(bad))
    return sorted(found)


def declare(kinds, call):
    """The parameter list of a call."""
    return spell(kinds, call.args)


def spell(kinds, args):
    words = [kinds[kind].replace("@", name) for name, kind in args]
    return ", ".join(words) or "void"


def plain(call):
    """The argument list that hands the parameters on unchanged."""
    return ", ".join(name for name, kind in call.args if kind != "dots")


def translated(call):
    """The same, with what stands for the program's handles."""
    ours = {"comm": "aspx_comm", "win": "aspx_native_of"}
    return ", ".join(f"{ours[kind]}({name})" if kind in ours else name
                     for name, kind in call.args if kind != "dots")


def prefixes(call):
    """How a call is exported; the library's internal ones have no PMPI_."""
    return [("", "mpi")] + [("P", "pmpi")] * (call.name[:5] != "MPII_")


def entries(call):
    """The same, and the entry that is not: linkage, prefix, table."""
    exported = [("ASPX_EXPORT", *names) for names in prefixes(call)]
    return exported + [("static", "inner_", "inner")]


def inherit(kinds, call):
    """Body of a wrapper that hands the world's error handler on."""
    old = next(name for name, kind in call.args if kind == "comm")
    new = next(name for name, kind in call.args if kind == "comm*")
    return (f"static {call.ret} wrap_{call.name}({declare(kinds, call)})\n"
            f"{{\n    {call.ret} rc = "
            f"aspx_real.{call.name}({translated(call)});\n\n"
            f"    return aspx_errh_inherit({old}, {new}, rc);\n}}")


def real_h(kinds, calls):
    yield "#ifndef ASPEN_MPI_REAL_H\n#define ASPEN_MPI_REAL_H\n"
    yield BANNER + '#include <mpi.h>\n\n#include "mpii.h"\n'
    yield "/* mpi.h may have macros of these names before its functions (5.0). */"
    for call in calls:
        for prefix, _table in prefixes(call):
            yield f"#undef {prefix}{call.name}"
    yield "\n/* One pointer per MPI function, by its name. */\nstruct aspx_real {"
    for call in calls:
        yield f"    {call.ret} (*{call.name})({declare(kinds, call)});"
    yield "};\n#endif"


def names_h(_kinds, calls):
    yield BANNER
    for call in calls:
        yield f'"{call.name}",'


def wrap_h(kinds, calls):
    """Of all rows: a function that this MPI lacks is compiled all the same."""
    yield "#ifndef ASPEN_MPI_WRAP_H\n#define ASPEN_MPI_WRAP_H\n"
    yield BANNER + '#include <mpi.h>\n\n#include "mpii.h"\n'
    for call in calls:
        for prefix in HANDLERS:
            if is_handled(prefix, call):
                yield (f"{call.ret} {prefix}{call.name}"
                       f"({spell(kinds, call.own_args)});")
    yield "#endif"


def says(call, column, *values):
    """Does a row say one of these?"""
    return not set(values).isdisjoint(getattr(call, column).split(","))


def is_handled(prefix, call):
    column, values = HANDLERS[prefix]
    return says(call, column, *values)


def own_name(prefix, call):
    """What stands in a table for a function that is written in C: where this
    MPI lacks a const of the table's, something between the two."""
    return (prefix if call.args == call.own_args else
            prefix.replace("aspx_", "as_declared_")) + call.name


def put(prefix, calls):
    """Statements that put what is written in C into a table."""
    for call in calls:
        yield f"    table->{call.name} = {own_name(prefix, call)};"


def as_declared(kinds, calls, prefix):
    for call in calls:
        if is_handled(prefix, call) and call.args != call.own_args:
            yield (f"static {call.ret} {own_name(prefix, call)}"
                   f"({declare(kinds, call)})\n{{\n"
                   f"    return {prefix}{call.name}({plain(call)});\n}}")


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
        for linkage, prefix, table in entries(call):
            target = f"aspx_entry_{table}.{call.name}"
            jump = (VARIADIC if "..." in params else
                    "    return {target}({args});").format(
                        target=target, args=args)
            yield (f"static {call.ret} first_{prefix}{call.name}({params})\n"
                   f"{{\n    aspx_entry_resolve(ASPX_CALL({call.name}));\n"
                   f"{jump}\n}}")
            yield (f"{linkage} {call.ret} {prefix}{call.name}({params})\n"
                   f"{{\n{jump}\n}}")
    for prefix, table in (("", "mpi"), ("P", "pmpi"), ("inner_", "inner")):
        yield f"struct aspx_real aspx_entry_{table} = {{"
        for call in calls:
            if table in [entry[2] for entry in entries(call)]:
                yield f"    .{call.name} = first_{prefix}{call.name},"
        yield "};"
    yield "const struct aspx_real aspx_inner = {"
    for call in calls:
        yield f"    .{call.name} = inner_{call.name},"
    yield "};"


def wrappers_c(kinds, calls):
    yield (BANNER + '#include "entry.h"\n#include "mpi_wrap.h"\n'
           '#include "runtime/casper/window/native.h"\n'
           '#include "runtime/world/error_handlers.h"\n'
           '#include "runtime/world/world.h"\n')
    for prefix in ("aspx_wrap_", "aspx_plain_", "aspx_behind_"):
        yield from as_declared(kinds, calls, prefix)
    for call in calls:
        if call.treatment == "world":
            yield (f"static {call.ret} wrap_{call.name}"
                   f"({declare(kinds, call)})\n{{\n    return "
                   f"aspx_real.{call.name}({translated(call)});\n}}")
        elif call.treatment == "inherit":
            yield inherit(kinds, call)
    yield "void aspx_wrappers_fill(struct aspx_real *table)\n{"
    yield "    *table = aspx_real;"
    for call in calls:
        if call.treatment != "pass":
            name = own_name("aspx_wrap_", call) if call.treatment == "wrap" \
                else f"wrap_{call.name}"
            yield f"    table->{call.name} = {name};"
    yield "}"
    for when, before, prefix in (
            ("start", "*table = aspx_real", "aspx_wrap_"),
            ("end", "*table = aspx_real", "aspx_wrap_"),
            ("plain", "*table = aspx_real", "aspx_plain_"),
            ("behind", "aspx_wrappers_fill(table)", "aspx_behind_")):
        yield f"void aspx_wrappers_fill_{when}(struct aspx_real *table)\n{{"
        yield f"    {before};"
        yield from put(prefix, (
            call for call in calls if says(call, "life", when)))
        yield "}"


def members(kinds, args):
    """The parameters as members of a struct: arrays and functions become
    pointers."""
    for name, kind in args:
        if re.match(r"T_event_.*_function$", kind):
            name = "*" + name
        yield (kinds[kind].replace("@[][3]", f"(*{name})[3]")
               .replace("@[]", f"*{name}").replace("@", name))


# How an argument can be seen to be wrong without asking MPI, by its kind. What
# these let through is reported when the operation is completed.
LOOKS_RIGHT = {
    "comm": "aspx_handle_is({}, ASPX_HANDLE_COMM)",
    "dtype": "aspx_handle_is({}, ASPX_HANDLE_DATATYPE)",
    "group": "aspx_handle_is({}, ASPX_HANDLE_GROUP)",
    "win": "aspx_handle_is({}, ASPX_HANDLE_WIN)",
    "op": "aspx_handle_is({}, ASPX_HANDLE_OP)",
    "file": "{}",
}
NEVER_NEGATIVE = ("count", "origin_count", "target_count", "sendcount",
                  "recvcount", "sendtag")
RANKS = ("dest", "source", "target_rank", "root")


def looks_right(call):
    tests = [LOOKS_RIGHT[kind].format(name) for name, kind in call.args
             if kind in LOOKS_RIGHT]
    for name, kind in call.args:
        if kind in ("int", "count") and name in NEVER_NEGATIVE:
            tests.append(f"{name} >= 0")
        elif kind == "int" and name in RANKS:
            tests.append(f"aspx_offload_is_rank({name})")
        elif name == "tag" or name == "recvtag":
            tests.append(f"{name} >= MPI_ANY_TAG")
        elif kind in ("msg*", "comm*"):
            tests.append("0")  # set by the call, and the caller may look
    kinds = [kind for _name, kind in call.args]
    if "file" in kinds:
        tests.append("0")  # offset, view and mode are MPI's; codes are the rule
    elif any(kind.endswith("[]") for kind in kinds):
        tests.append("0")  # mpi_f08 makes copies that end with the call
    elif "comm" in kinds and not any(name in RANKS[:3] for name, _ in call.args):
        # a collective: what can be wrong with it is not seen from here
        tests.append("!aspx_offload_wants_codes()")
    return " && ".join(tests) or "1"


def twin_name(name):
    stem = next(stem for stem in ("MPI_File_", "MPI_Comm_", "MPIX_Stream_",
                                  "MPI_") if name.startswith(stem))
    rest = name[len(stem):]
    letter = "I" if stem == "MPI_" else "i"
    return stem + letter + rest[0].lower() + rest[1:]


def has_op(call):
    return any(kind == "op" for _name, kind in call.args)


def rounds(call):
    """A reduction that its caller waits for: as if the caller carried it out."""
    return has_op(call) and call.offload == "thread" and any(
        kind == "comm" for _name, kind in call.args)


def ship(kinds, call):
    """A struct of the arguments, and the function that the thread runs."""
    args = ", ".join(f"c->{name}" for name, kind in call.args)
    yield (f"struct call_{call.name} {{\n"
           "    _Alignas(ASPX_COMMAND_LINE) struct aspx_command head;")
    if call.ret != "void":
        yield f"    {call.ret} answer;"
    for member in members(kinds, call.args):
        yield f"    {member};"
    if rounds(call):
        yield "    int rounding;"
    answer = "" if call.ret == "void" else "c->answer = "
    before, after = (("    int before = aspx_rounding_become(c->rounding);\n",
                      "    (void) aspx_rounding_become(before);\n")
                     if rounds(call) else ("", ""))
    yield (f"}};\nstatic void run_{call.name}(struct aspx_command *head)\n{{\n"
           f"    struct call_{call.name} *c = (void *) head;\n{before}\n"
           f"    {answer}aspx_behind.{call.name}({args});\n{after}"
           f"    aspx_command_done(head);\n}}")


def fill(call):
    return "".join(f"\n        .{name} = {name}," for name, kind in call.args
                   if kind != "dots")


def ship_body(call):
    back = {"void": "aspx_command_call(&c.head);",
            "int": "return aspx_command_answer(&c.head, &c.answer);"}.get(
                call.ret, "aspx_command_call(&c.head);\n    return c.answer;")
    rounding = ("\n        .rounding = aspx_rounding()," if rounds(call) else "")
    return (f"    struct call_{call.name} c = {{\n"
            f"        .head.run = run_{call.name},{fill(call)}{rounding}\n"
            f"    }};\n\n"
            f"    {back}")


# Whose memory the offload thread asks for early, by the kinds of the first
# arguments: struct aspx_block.
BLOCKS = {("cbuf", "int", "dtype"): "ASPX_BLOCK_READ",
          ("buf", "int", "dtype"): "ASPX_BLOCK_WRITTEN"}


def block(call, kept):
    """BLOCK_<call>, and that its struct begins as one."""
    found = BLOCKS.get(tuple(kind for _name, kind in kept[:3]))
    yield f"#define BLOCK_{call.name} {found or 'ASPX_BLOCK_NONE'}"
    for (name, _kind), member in zip(kept if found else (),
                                     ("at", "count", "datatype")):
        yield (f"_Static_assert(offsetof(struct post_{call.name}, {name}) == "
               f"offsetof(struct aspx_block, {member}), \"its block\");")


def post_run(kinds, call):
    """The same for a slot of the pool, without the argument request."""
    kept = [arg for arg in call.args if arg[1] != "req*"]
    args = ", ".join([f"p->{name}" for name, _kind in kept] + ["&slot->real"])
    yield f"struct post_{call.name} {{"
    for member in members(kinds, kept):
        yield f"    {member};"
    yield (f"}};\n_Static_assert(sizeof(struct post_{call.name}) <= "
           f"ASPX_REQUEST_ARGS, \"fits\");")
    yield from block(call, kept)
    args_of = (f"    const struct post_{call.name} *p = "
               f"(const void *) slot->args;\n" if kept else "")
    yield (f"static void post_run_{call.name}(struct aspx_command *head)\n{{\n"
           f"    struct aspx_request *slot = aspx_request_of(head);\n"
           f"{args_of}\n    aspx_request_posted(slot, "
           f"aspx_behind.{call.name}({args}));\n}}")


def post_fill(twin, call):
    """Take a slot and write the twin's arguments into it."""
    kept = [arg for arg in call.args if arg[1] not in ("req*", "status*")]
    values = "".join(f"\n        .{name} = {name}," for name, _kind in kept)
    return (f"slot = aspx_pool_take(post_run_{twin}, BLOCK_{twin});\n"
            f"    *(struct post_{twin} *) (void *) slot->args = "
            f"(struct post_{twin}) {{{values}\n    }};\n")


# Functions of the program that MPI will call: what stands for them.
STUBS = (("_errhandler_function*", "ASPX_CALLBACK_HANDLER"),
         ("User_function*", "ASPX_CALLBACK_OP"),
         ("User_function_c*", "ASPX_CALLBACK_OP"),
         ("User_function_x*", "ASPX_CALLBACK_OP"),
         # given the handle itself: not what struct aspx_raised keeps
         ("_errhandler_function_x*", "ASPX_CALLBACK_FUNCTION"),
         ("Destructor_function*", "ASPX_CALLBACK_FUNCTION"),
         ("_attr_function*", "ASPX_CALLBACK_FUNCTION"),
         ("Copy_function*", "ASPX_CALLBACK_FUNCTION"),
         ("Delete_function*", "ASPX_CALLBACK_FUNCTION"),
         ("query_function*", "ASPX_CALLBACK_FUNCTION"),
         ("free_function*", "ASPX_CALLBACK_FUNCTION"),
         ("cancel_function*", "ASPX_CALLBACK_FUNCTION"),
         ("poll_function*", "ASPX_CALLBACK_FUNCTION"),
         ("wait_function*", "ASPX_CALLBACK_FUNCTION"))


def stubs(kinds, call):
    """Statements that put stubs in the place of functions."""
    for name, kind in call.args:
        how = next((how for end, how in STUBS if kind.endswith(end)), None)
        if how:
            type_ = kinds[kind].replace("@", "")
            yield (f"    {name} = ({type_}) aspx_callback_stub("
                   f"(aspx_function_f *) {name}, {how});\n")
    # It may be called for a datatype that was freed, when the last message
    # that uses it has gone.
    if call.name == "MPI_Type_create_keyval":
        yield ("    if (type_delete_attr_fn)\n"
               "        aspx_callback_expect();\n")


def off_caller(call):
    tests = [LOOKS_RIGHT[kind].format(name) for name, kind in call.args
             if kind in LOOKS_RIGHT]
    tests += [f"{name} >= 0" for name, kind in call.args
              if kind in ("int", "count") and name in NEVER_NEGATIVE]
    args = plain(call)
    return (f"    if ({' && '.join(tests)})\n"
            f"        return aspx_behind.{call.name}({args});\n"
            f"    return ship_{call.name}({args});")


def off_post(call):
    # requests of files: see struct aspx_request
    lazy = ("    slot->on_file = true;\n    aspx_request_set_caller_progressed(slot);\n"
            if call.name.startswith("MPI_File_") else "")
    own = ("    if (aspx_handle_is_own_op(op))\n"
           "        aspx_request_expect_callback(slot);\n" if has_op(call) else "")
    return (f"    struct aspx_request *slot;\n\n"
            f"    if (!request) /* MPI says so */\n"
            f"        return ship_{call.name}({plain(call)});\n    "
            f"{post_fill(call.name, call)}{lazy}{own}    return aspx_request_post(slot, "
            f"{looks_right(call)},\n                          request);")


def off_init(call):
    args = ", ".join("&real" if kind == "req*" else name
                     for name, kind in call.args)
    maker = "aspx_request_wrap_caller_progressed" if "request" in call.name else "aspx_request_wrap_persistent"
    own = ("    if (real != MPI_REQUEST_NULL && aspx_handle_is_own_op(op))\n"
           "        aspx_request_expect_callback(aspx_pool_find(*request));\n"
           if has_op(call) else "")
    return (f"    MPI_Request real = MPI_REQUEST_NULL;\n    int rc;\n\n"
            f"    if (!request)\n        return ship_{call.name}"
            f"({plain(call)});\n"
            f"    rc = ship_{call.name}({args});\n"
            f"    if (real != MPI_REQUEST_NULL) /* what failed may return success */\n"
            f"        *request = {maker}(real);\n{own}    return rc;")


def off_twin(call):
    status = next((name for name, kind in call.args if kind == "status*"),
                  "MPI_STATUS_IGNORE")
    # MPICH's MPI_Irecv from MPI_PROC_NULL gives another status than MPI_Recv
    nobody = (" || source == MPI_PROC_NULL"
              if ["source", "int"] in call.args and status == "status" else "")
    return (f"    struct aspx_request *slot;\n\n"
            f"    if (!aspx_offload_twins(){nobody})\n"
            f"        return ship_{call.name}({plain(call)});\n"
            f"    {post_fill(twin_name(call.name), call)}"
            f"    return aspx_request_post_and_wait(slot, {status});")


def done(kinds, prefix, call):
    """A call for what Aspen's thread does anyway."""
    return (f"static {call.ret} {prefix}{call.name}({declare(kinds, call)})\n"
            f"{{\n" + "".join(f"    (void) {name};\n"
                               for name, _kind in call.args) +
            "    return MPI_SUCCESS;\n}")


# Why a function cannot work beside an offload thread, by a part of its name.
REFUSED = (
    ("Threadcomm", "the threads of a thread communicator are ranks, and the "
                   "offload thread would call MPI as one of them"),
    ("_enqueue", "what is put into the queue of a GPU is not the offload "
                 "thread's to start or to end"),
)


def off_refuse(call):
    why = next(why for part, why in REFUSED if part in call.name)
    comm = next((name for name, kind in call.args if kind == "comm"),
                "MPI_COMM_WORLD")
    return ("".join(f"    (void) {name};\n" for name, _kind in call.args
                    if name != comm) +
            f"    return aspx_offload_refuse({comm}, \"{call.name}\",\n"
            f"        \"{why}\");")


def off_thread(call):
    store, back, give = (("", "return;", "") if call.ret == "void" else
                         (f"{call.ret} rc = ", "return rc;", "return "))
    args = plain(call)
    makes_window = re.match("MPI_Win_(allocate|create)", call.name) and not \
        re.search("keyval|errhandler", call.name)
    site = "    aspx_offload_keep_call_site();\n" if makes_window else ""
    told = "    aspx_offload_expect_unseen();\n" if makes_window or \
        "attach_buffer" in call.name or "Buffer_attach" in call.name else ""
    told += "    aspx_direct_call_expect_streams();\n" if \
        call.name == "MPIX_Stream_create" else ""
    told += "    aspx_direct_call_expect_lists();\n" if \
        call.name == "MPIX_Stream_comm_create_multiplex" else ""
    comm = next((name for name, kind in call.args if kind == "comm"),
                "MPI_COMM_NULL")
    return (f"{told}    if (aspx_direct_call_enter({comm})) {{\n"
            f"        {store}aspx_behind.{call.name}({args});\n\n"
            f"        aspx_direct_call_leave();\n        {back}\n    }}\n"
            f"{site}    {give}ship_{call.name}({args});")


SHIPPED = ("thread", "init", "twin", "post")  # the last if it has no request


def offload_c(kinds, calls):
    bodies = {"thread": off_thread, "post": off_post, "init": off_init,
              "twin": off_twin, "caller": off_caller, "refuse": off_refuse}
    asks = {call.name for call in calls if call.offload == "caller" and
            any(kind in LOOKS_RIGHT for _name, kind in call.args)}
    yield (BANNER + '#include "runtime/offload/callback.h"\n'
           '#include "runtime/offload/direct_call.h"\n'
           '#include "runtime/offload/offload.h"\n'
           '#include "runtime/offload/pending.h"\n'
           '#include "runtime/offload/refuse.h"\n'
           '#include "runtime/offload/request_pool.h"\n'
           '#include "runtime/offload/rounding.h"\n'
           '#include "runtime/mpi/handle.h"\n'
           '#include "mpi_wrap.h"\n')
    for call in calls:
        params = declare(kinds, call)
        if call.name in asks or call.offload in SHIPPED:
            yield from ship(kinds, call)
            yield (f"static {call.ret} ship_{call.name}({params})\n{{\n"
                   f"{ship_body(call)}\n}}")
        if call.offload == "post":
            yield from post_run(kinds, call)
    for call in calls:
        if call.offload == "done":
            yield done(kinds, "off_", call)
        elif call.offload in bodies and (call.name in asks or
                                         call.offload != "caller"):
            yield (f"static {call.ret} off_{call.name}"
                   f"({declare(kinds, call)})\n{{\n"
                   f"{''.join(stubs(kinds, call))}"
                   f"{bodies[call.offload](call)}\n}}")
    yield from as_declared(kinds, calls, "aspx_offload_")
    yield "void aspx_offload_fill(struct aspx_real *table)\n{"
    yield "    *table = aspx_behind;"
    for call in calls:
        if call.offload == "own":
            yield (f"    table->{call.name} = "
                   f"{own_name('aspx_offload_', call)};")
        elif call.offload != "caller" or call.name in asks:
            yield f"    table->{call.name} = off_{call.name};"
    yield "}"


def is_large(call):
    """An expression: does the operation need both sides in MPI? Collectives
    always do; files are not MPI's to progress."""
    names = [name for name, _kind in call.args]
    if call.name.startswith("MPI_File_") or "Grequest" in call.name:
        return "0"
    if "iflush" in call.name or (
            "comm" in names and not ("dest" in names or "source" in names)):
        return "1"
    if "partitions" in names:
        return "1"
    sizes = [("origin_count", "origin_datatype"), ("count", "datatype"),
             ("sendcount", "sendtype"), ("recvcount", "recvtype")]
    return " || ".join(f"aspx_progress_is_large({count}, {type_})"
                       for count, type_ in sizes if count in names)


def around(call, before, target, after):
    """Call target between two statements."""
    if call.ret == "void":
        return f"    {before}\n    {target}({plain(call)});\n    {after}"
    return (f"    {call.ret} answer;\n\n    {before}\n"
            f"    answer = {target}({plain(call)});\n    {after}\n"
            f"    return answer;")


def progress_body(call):
    """The call itself, between entering and leaving the gate."""
    real = f"aspx_progress_behind.{call.name}({plain(call)})"
    large = is_large(call) if call.offload in ("post", "init") else "0"
    if large != "0":
        end = "posted" if call.offload == "post" else "made"
        if has_op(call) and large == "1":
            return (f"    int rc;\n\n    aspx_gate_enter();\n    rc = {real};\n"
                    f"    return aspx_progress_{end}_op(rc, request, op);")
        return (f"    int rc;\n\n    aspx_gate_enter();\n    rc = {real};\n"
                f"    return aspx_progress_{end}(rc, request,\n"
                f"        rc == MPI_SUCCESS && ({large}));")
    enter = "aspx_gate_enter();"
    if call.name == "MPI_Type_create_keyval":  # see stubs()
        enter += ("\n    if (type_delete_attr_fn)\n"
                  "        aspx_watch_own_for_good();")
    return around(call, enter,
                  f"aspx_progress_behind.{call.name}", "aspx_gate_leave();")


def on_demand_body(call):
    """The same while there is no gate: what is to be known once there is."""
    behind = f"aspx_on_demand_behind.{call.name}({plain(call)})"
    if call.progress == "callback":
        return f"    aspx_on_demand_disable();\n    return {behind};"
    return (f"    int rc = {behind};\n\n"
            f"    aspx_on_demand_made(rc, request,\n"
            f"        rc == MPI_SUCCESS && ({is_large(call)}));\n"
            f"    return rc;")


def progress_c(kinds, calls):
    gated = [call for call in calls if call.offload != "caller" and
             call.progress in ("gate", "callback")]
    yield (BANNER + '#include "mpi_wrap.h"\n'
           '#include "runtime/progress/on_demand.h"\n'
           '#include "runtime/progress/progress.h"\n')
    for call in gated:
        yield (f"static {call.ret} gated_{call.name}"
               f"({declare(kinds, call)})\n{{\n{progress_body(call)}\n}}")
    for prefix in ("aspx_progress_", "aspx_on_demand_"):
        yield from as_declared(kinds, calls, prefix)
    for call in calls:
        if call.progress == "done":
            yield done(kinds, "gated_", call)
    yield "void aspx_progress_fill(struct aspx_real *table)\n{"
    yield "    *table = aspx_progress_behind;"
    for call in calls:
        if call in gated or call.progress == "done":
            yield f"    table->{call.name} = gated_{call.name};"
        elif call.progress == "own":
            yield (f"    table->{call.name} = "
                   f"{own_name('aspx_progress_', call)};")
    yield "}"
    bars = [call for call in calls if call.progress == "callback"]
    inits = [call for call in calls if call not in bars and
             call.offload == "init" and is_large(call) != "0"]
    for call in bars + inits:
        yield (f"static {call.ret} noted_{call.name}"
               f"({declare(kinds, call)})\n{{\n{on_demand_body(call)}\n}}")
    for what, noted, always in (
            ("bars", bars, ()),
            ("ungated", inits, ("demand", "ungated")),
            ("gated", (), ("demand",))):
        yield f"void aspx_on_demand_fill_{what}(struct aspx_real *table)\n{{"
        for call in noted:
            yield f"    table->{call.name} = noted_{call.name};"
        yield from put("aspx_on_demand_", (
            call for call in calls if says(call, "life", *always)))
        yield "}"


def timed(kinds, call):
    """The wrapper of a function whose time is measured; where most calls are
    only counted, what is rare has a stack frame apart."""
    index = f"ASPX_CALL({call.name})"
    behind = f"aspx_profile_behind.{call.name}"
    head = f"{call.ret} {{}}_{call.name}({declare(kinds, call)})\n{{{{\n"
    timing = "    struct aspx_timing timing;\n"
    leave = f"aspx_timing_leave(&timing, {index});"
    apart = "ASPX_TIMED_APART " if call.timed != "each" else ""
    yield (f"ASPX_TIMED_WRAPPER static {apart}" +
           head.format("apart" if apart else "timed") + timing +
           around(call, f"aspx_timing_enter(&timing, {index});", behind,
                  leave) + "\n}")
    if call.timed == "some":
        yield (f"static {head.format('timed')}"
               f"    return aspx_timing_skip({index})\n"
               f"               ? {behind}({plain(call)})\n"
               f"               : apart_{call.name}({plain(call)});\n}}")
    if call.timed == "wait":
        yield (f"ASPX_TIMED_WRAPPER static {head.format('timed')}" + timing +
               around(call, f"if (!aspx_timing_quick(&timing, {index}))\n"
                            f"        return apart_{call.name}({plain(call)});",
                      behind, leave) + "\n}")


def profile_c(kinds, calls):
    yield (BANNER + '#include "mpi_behind.h"\n'
           '#include "runtime/profile/profile.h"\n'
           '#include "runtime/profile/timing.h"\n')
    measured = [call for call in calls if call.timed != "-"]
    for call in measured:
        yield from timed(kinds, call)
    yield "void aspx_profile_fill(struct aspx_real *table)\n{"
    for call in measured:
        yield f"    table->{call.name} = timed_{call.name};"
    yield ("}\n\nconst uint8_t aspx_timed[ASPX_CALLS] = {")
    for call in measured:
        yield f"    [ASPX_CALL({call.name})] = ASPX_TIMED_{call.timed.upper()},"
    yield "};"


def argument(call, kind, default):
    """The name of its first argument of a kind."""
    return next((name for name, its in call.args if its == kind), default)


def made(kinds, call):
    """A call that makes a communicator: what the tuned collectives know of its
    handle was of another one."""
    return (f"static {call.ret} made_{call.name}({declare(kinds, call)})\n"
            f"{{\n    {call.ret} rc = "
            f"aspx_coll_behind.{call.name}({plain(call)});\n\n"
            f"    return aspx_coll_comm_created(rc, "
            f"{argument(call, 'comm*', '')});\n}}")


def enabled(kinds, call):
    """A call that makes a communicator whose messages ghosts may carry; a
    duplicate as they do those of its model."""
    like = argument(call, "comm", "") if "_dup" in call.name else ""
    return (f"static {call.ret} enabled_{call.name}({declare(kinds, call)})\n"
            f"{{\n    {call.ret} rc = "
            f"aspx_p2p_behind.{call.name}({plain(call)});\n\n"
            f"    return aspx_p2p_comm_made(rc, "
            f"{like or 'MPI_COMM_NULL'}, "
            f"{argument(call, 'info', 'MPI_INFO_NULL')}, "
            f"{argument(call, 'comm*', '')});\n}}")


def counted(kinds, call):
    """A collective, after which messages may become MPI's again."""
    return (f"static {call.ret} counted_{call.name}({declare(kinds, call)})\n"
            f"{{\n    {call.ret} rc = "
            f"aspx_p2p_behind.{call.name}({plain(call)});\n\n"
            f"    return aspx_p2p_at_collective(rc, "
            f"{argument(call, 'comm', '')});\n}}")


def interceptors_c(kinds, calls):
    """The interceptors whose functions are written in C."""
    yield (BANNER + '#include "entry.h"\n#include "mpi_behind.h"\n'
           '#include "mpi_wrap.h"\n#include "runtime/coll/select/comm.h"\n'
           '#include "runtime/p2p/comm.h"\n'
           '#include "runtime/p2p/give_back.h"\n')
    makers = {
        "aspx_coll_": [(made, c) for c in calls if c.coll == "made"],
        "aspx_p2p_": [(enabled, c) for c in calls if c.p2p == "made"] +
                     [(counted, c) for c in calls if c.p2p == "counted"]}
    for make, call in itertools.chain(*makers.values()):
        yield make(kinds, call)
    for prefix in ("aspx_pack_", "aspx_staged_", "aspx_coll_", "aspx_p2p_",
                   "aspx_posted_"):
        yield from as_declared(kinds, calls, prefix)
        yield f"void {prefix}fill(struct aspx_real *table)\n{{"
        yield from put(prefix, (
            call for call in calls if is_handled(prefix, call)))
        for make, call in makers.get(prefix, ()):
            yield f"    table->{call.name} = {make.__name__}_{call.name};"
        yield "}"


def behind_h(_kinds, _calls):
    yield "#ifndef ASPEN_MPI_BEHIND_H\n#define ASPEN_MPI_BEHIND_H\n"
    yield BANNER + '#include "mpi_real.h"\n'
    yield ("/* What lies behind each interceptor (entry.h): the table that its functions\n"
           " * jump on through. And what puts these functions into a table. */")
    for interceptor in INTERCEPTORS:
        # hidden: read where it is, without a look for its address
        yield (f"extern struct aspx_real aspx_{interceptor}_behind\n"
               '    __attribute__((visibility("hidden")));')
        yield f"void aspx_{interceptor}_fill(struct aspx_real *table);"
    yield "#endif"


def behind_c(_kinds, _calls):
    yield BANNER + '#include "mpi_behind.h"\n'
    for interceptor in INTERCEPTORS:
        yield f"struct aspx_real aspx_{interceptor}_behind;"


def advice_h(_kinds, calls):
    yield BANNER
    for call in calls:
        if call.advice != "-":
            yield f'{{"{call.name}", ASP_ADVICE_{call.advice.upper()}}},'


def export_map(_kinds, calls):
    yield BANNER + "{\nglobal:"
    for call in calls:
        for prefix, _table in prefixes(call):
            yield f"    {prefix}{call.name};"
    for name in OTHERS:
        yield f"    {name};"
    yield "local:\n    *;\n};"


def fate(call):
    """What the columns say of it, where they say something."""
    columns = {"offload": call.offload, "time": call.timed, "pack": call.pack,
               "coll": call.coll, "p2p": call.p2p}
    return (call.treatment, *(f"{column} {word}"
                              for column, word in columns.items()
                              if word != "-"))


def coverage_md(_kinds, calls):
    count = {t: sum(c.treatment == t for c in calls)
             for t in COLUMNS["treatment"]}
    yield "# What happens to each MPI function\n"
    yield ("Generated from `runtime/mpi/mpi_calls.tab`. "
           f"{len(calls)} functions: {count['pass']} pass, "
           f"{count['world']} world, {count['inherit']} inherit, "
           f"{count['wrap']} wrap.\n")
    yield ("`pass`: calls the library. `world`: the users' communicator takes "
           "the place of\n`MPI_COMM_WORLD`, then the library is called. "
           "`inherit`: the same, and the new\ncommunicator gets the error "
           "handler of `MPI_COMM_WORLD`. `wrap`: written in C.\n")
    yield ("Where each rank has an offload thread, `offload` says who "
           "carries the call\nout. `caller`: the calling thread. `thread`: the "
           "offload thread, while the caller\nwaits. `post`: the offload thread, "
           "while the caller goes on with a request.\n`init`: as thread, and the "
           "request that comes back is one of Aspen's. `twin`: as\nthread, but "
           "for programs with MPI_THREAD_MULTIPLE the non-blocking twin is\n"
           "posted. `own`: written in C. `done`: nobody, for Aspen's thread does "
           "it anyway.\n`refuse`: nobody, it fails and says why.\n")
    yield ("Where time in MPI is measured, `time` says how. `each`: every call. "
           "`wait`: what it\nwaits in every call, the rest in some. `some`: in "
           "some calls, which stand for all.\n")
    yield ("Behind a function stands the release of MPICH that brought it (4.2), "
           "or from which\non it is missing (<4.2). What an MPI lacks for which "
           "Aspen is built is left out;\nwhat it has more is handed on by the "
           "offload thread and inside the gate, if no\nargument is a handle that "
           "Aspen translates.\n")
    yield ("With `coll=tune` or `coll=table`, `coll` says what stands before "
           "the mode. `own`:\nwritten in C. `made`: what is known of a "
           "communicator's handle is forgotten.\n`known`: nothing. Where typed "
           "data is Aspen's to pack, `pack` says so.\n`library`: before the "
           "library. `threads`: before the mode. `both`.\n")
    groups = {}
    for call in calls:
        groups.setdefault(fate(call), []).append(
            call.name if call.mpich == "-" else f"{call.name}({call.mpich})")
    yield "Functions of which all this is the same stand together."
    for words, names in sorted(groups.items()):
        yield f"\n## {', '.join(words)}\n"
        yield textwrap.fill(" ".join(names), 96, initial_indent="    ",
                            subsequent_indent="    ")


MAKERS = {
    "mpi_real.h": real_h,
    "mpi_real_names.h": names_h,
    "mpi_wrap.h": wrap_h,
    "mpi_entry.c": entry_c,
    "mpi_wrappers.c": wrappers_c,
    "mpi_offload.c": offload_c,
    "mpi_progress.c": progress_c,
    "mpi_profile.c": profile_c,
    "mpi_interceptors.c": interceptors_c,
    "mpi_behind.h": behind_h,
    "mpi_behind.c": behind_c,
    "mpi_advice.h": advice_h,
    "mpi_export.map": export_map,
    "mpi-coverage.md": coverage_md,
}


# These speak of every row, whatever is installed.
OF_ALL_ROWS = ("mpi_wrap.h", "mpi_advice.h", "mpi-coverage.md")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--mpi")
    parser.add_argument("--developer", action="store_true")
    parser.add_argument("folder")
    parser.add_argument("outputs", nargs="*")
    options = parser.parse_args()
    kinds, rows = load(options.folder)
    calls = take_installed(kinds, rows, options.mpi, options.developer) \
        if options.mpi else rows
    for path in options.outputs:
        name = os.path.basename(path)
        text = "\n".join(MAKERS[name](
            kinds, rows if name in OF_ALL_ROWS else calls)) + "\n"
        if path.endswith((".h", ".c")):
            text = "/* SPDX-License-Identifier: BSD-3-Clause */\n" + text
        with open(path, "w", encoding="ascii") as out:
            out.write(text)


main()
