"""Prints the time of a call of an empty function from Python, in nanoseconds of processor time: the median of 101
batches. Arguments: the bitcode of guest.c, a tier, a function."""

import statistics
import sys
import time

import ompvm

BATCHES, CALLS = 101, 20000
path, tier, name = sys.argv[1:]
function = ompvm.Module(path, cached=False).start(tier=tier)[name]


def batch():
    start = time.thread_time_ns()
    for _ in range(CALLS):
        function()
    return (time.thread_time_ns() - start) / CALLS


times = [batch() for _ in range(BATCHES)]
print(f"Python {name}: {statistics.median(times):.1f} ns, least {min(times):.1f}")
