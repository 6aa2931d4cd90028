#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Start aspen-agent as the plugin does, run a command in a task's place.

usage: agent_run.py [--task N] [--all] [--agent-arg=ARG] AGENT REQUEST [COMMAND]

Writes the request file to the agent's stdin, reads and checks the framed
answer, prints "status S tasks N" and "message TEXT", then runs COMMAND (sh -c)
with the environment of local task N (0), or of every task at once with --all;
AGENT_PID is set. At the end closes the pipe and prints how the agent ended:
"agent status=N ms=N" (negative: signal), or "agent hangs" after 10 s.
Exit status: that of the command, 99 when the agent or its answer is bad.
"""
import argparse
import os
import select
import struct
import subprocess
import sys
import time

HEAD = struct.Struct("=IIIIII496s")
TASK = struct.Struct("=II16QII")
STATUS = ["ok", "plain", "refuse"]
ANSWER_TIMEOUT_S = 20


def read_answer(fd):
    """All bytes until the agent closes its stdout."""
    data = b""
    end = time.monotonic() + ANSWER_TIMEOUT_S
    while True:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        if not ready:
            raise ValueError("no answer in time")
        block = os.read(fd, 65536)
        if not block:
            return data
        data += block


def parse_block(block):
    """NUL-terminated NAME=value strings as a dictionary."""
    if block and block[-1] != 0:
        raise ValueError("environment block without its end")
    return dict(s.decode().split("=", 1) for s in block.split(b"\0")[:-1])


def parse_answer(data):
    """Returns status, message and a list of environments."""
    if len(data) < HEAD.size:
        raise ValueError("answer of %d bytes" % len(data))
    (magic, version, status, ntasks, total, shared,
     message) = HEAD.unpack_from(data)
    if magic != 0x41505341 or version != 2 or total != len(data):
        raise ValueError("bad header %x %d %d" % (magic, version, total))
    at = HEAD.size
    common = parse_block(data[at:at + shared])
    at += shared
    environments = []
    for _ in range(ntasks):
        fields = TASK.unpack_from(data, at)
        at += TASK.size
        own = parse_block(data[at:at + fields[-2]])
        at += fields[-2]
        environments.append(dict(common, **own))
    if at != total:
        raise ValueError("%d bytes too many" % (total - at))
    return STATUS[status], message.split(b"\0")[0].decode(), environments


def run_tasks(args, environments, pid):
    """Run the command as one task or as all; returns the worst status."""
    tasks = range(len(environments)) if args.all else [args.task]
    running = []
    for task in tasks:
        env = dict(os.environ, AGENT_PID=str(pid), **environments[task])
        running.append(subprocess.Popen(["sh", "-c", args.command], env=env))
    return max(p.wait(timeout=60) for p in running)


def end_agent(agent):
    """Close the pipe and see the agent off."""
    begin = time.monotonic()
    agent.stdin.close()
    try:
        status = agent.wait(timeout=10)
        print("agent status=%d ms=%d" % (status,
                                         (time.monotonic() - begin) * 1000))
    except subprocess.TimeoutExpired:
        agent.kill()
        agent.wait()
        print("agent hangs")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--agent-arg", action="append", default=[])
    parser.add_argument("agent")
    parser.add_argument("request")
    parser.add_argument("command", nargs="?")
    args = parser.parse_args()

    with open(args.request, "rb") as request:
        text = request.read()
    agent = subprocess.Popen([args.agent] + args.agent_arg, bufsize=0,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    status = 0
    try:
        agent.stdin.write(text)
        answer = parse_answer(read_answer(agent.stdout.fileno()))
        print("status %s tasks %d" % (answer[0], len(answer[2])))
        if answer[1]:
            print("message " + answer[1])
        sys.stdout.flush()
        if args.command and answer[2]:
            status = run_tasks(args, answer[2], agent.pid)
    except (ValueError, struct.error, BrokenPipeError) as error:
        print("bad answer: %s" % error)
        status = 99
    end_agent(agent)
    return status


if __name__ == "__main__":
    sys.exit(main())
