"""What more hosts give nodes that compute between messages, by the model of the rows racks_model_* of bench.

Nodes compute for g ms of virtual time, and then exchange 8 bytes with a neighbour, again and again. A round of N nodes
takes

    T(1, g) = x + N u g / (P e)              on one host of P processors (processors.py has u and e)
    T(H, g) = x + N u g / (H P e) + W r      on H of them

x is a round of all N nodes that compute for a ms, measured on one host: nearly all of it is the exchange, and passes
rank 0, whose work does not become less with more hosts. W is how many windows that round has, counted there; r is what
a window takes two nodes on two racks, with a network of 50 us each way.
"""
import os
import tempfile

import processors
from bench import Bench, OnRacks, count_windows, less, small

DELAY_US = 50
NODES_DIM, HOSTS, PROCESSORS = 13, 64, 32
GRAINS = (1, 10, 100, 1000, 10000, 100000)
ROUNDS = 2


def exchange_of_all(bench, program):
    """Seconds of a round, and its windows."""
    words = ["-d", small(NODES_DIM, 2), program, processors.TURNS_PER_MS]
    runs = [[*words, n] for n in (1 + ROUNDS, 1)]
    more, one = bench.best(*[bench.run(*run) for run in runs])
    windows = count_windows(bench, runs[0]) - count_windows(bench, runs[1])
    return less(more.wall, one.wall) / ROUNDS, max(1, windows) / ROUNDS


def window_us(bench):
    trips = bench.node_program("trips", "trips")
    one = OnRacks(bench, DELAY_US, [["-d", 1, trips, n] for n in (small(1000, 20), 1)])
    return max(0, one.there - one.here) / one.windows * 1e6


def main(build):
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(build, int(os.environ.get("RUNS", "3")), work)
        program = bench.node_program("compute", "compute", "-DWORK=integer")
        _, u, _, e = processors.constants(processors.measure(bench, program, processors.FITTED_GRAINS))
        r = window_us(bench)
        x, windows = exchange_of_all(bench, program)
    nodes = 2 ** NODES_DIM
    print("u = %.2f us/ms, e = %.2f, x = %.2f s, W = %.0f, r = %.0f us" % (u, e, x, windows, r))
    print("%d nodes; hosts of %d processors" % (nodes, PROCESSORS))
    print("%9s %12s %12s" % ("g, ms", "one host", "%d hosts" % HOSTS))
    for g in GRAINS:
        work = nodes * u * g / (PROCESSORS * max(e, 0.01)) / 1e6
        one, more = x + work, x + work / HOSTS + windows * r / 1e6
        print("%9d %10.2f s %10.2f s  %.1f times as fast" % (g, one, more, one / more))
