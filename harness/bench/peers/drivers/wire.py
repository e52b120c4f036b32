"""How a peer's driver talks to the bench: one JSON object per line on what was standard output, orders one per line on standard input.
Whatever the peer itself prints goes to standard error, so that it can never be taken for an answer."""

import ctypes
import json
import os
import signal
import sys


PR_SET_PDEATHSIG = 1


def open_wire():
    """Returns `say(**fields)`. Standard output is standard error from here on, also for workers that are forked later. The driver dies
    with the bench, however that dies: it may be stopped then and would never read the end of its orders."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    line = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(**fields):
        line.write(json.dumps(fields) + "\n")
        line.flush()

    return say


def orders():
    """Orders as lists of words, until the bench closes the pipe or says `quit`."""
    for text in sys.stdin:
        words = text.split()
        if not words:
            continue
        if words[0] == "quit":
            return
        yield words


def versions_of(names):
    """Installed versions by package name; what is not there is left out."""
    from importlib import metadata

    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return found
