"""What more processors of the host give nodes that compute between messages: a model of two constants for one processor
and two for several, each measured here, and its check.

64 nodes compute for g ms of virtual time, and then exchange 8 bytes with a neighbour, again and again. Per node and
round, the host takes

    T(1, g) = s + u g                 s: the exchange: kernels, model, hand-overs; u: the user code of a ms
    T(P, g) = n + (s + u g) / (P e)   n: what only one processor can do at the exchange: ncube's work, and what harts
                                      wait for it and for each other; e: what a processor does of what it does alone

s and u come from T(1, 10) and T(1, 400), n and e from T(2, 10) and T(2, 800). Other grains check both. For 4 and more
processors, n and e are those of two: what ncube's processor does stays there, and a user's processors may share less
than these two. Exit status as of bench.
"""
import os
import tempfile

from bench import Bench, less, small

NODES_DIM = small(6, 2)
TURNS_PER_MS = 715  # of `integer`
FITTED = {1: (10, 400), 2: (10, 800)}
FITTED_GRAINS = (10, 400, 800)
GRAINS = (10, 50, 100, 200, 400, 800)
MOST = 16  # processors


def measure(bench, program, grains):
    """us for a node and round, by number of processors and grain. The runs are in turn, and without their starts."""
    rounds = {g: small(min(2000 // g + 3, 100), 2) for g in grains}
    cases = [(p, g) for g in grains for p in (1, 2)]
    commands = [bench.run("--cores=%d" % p, "-d", NODES_DIM, program, TURNS_PER_MS * small(g, 1), n)
                for p, g in cases for n in (rounds[g], 1)]
    times = bench.best(*commands)
    return {case: less(times[2 * k].wall, times[2 * k + 1].wall) / (rounds[case[1]] - 1) / 2 ** NODES_DIM * 1e6
            for k, case in enumerate(cases)}


def line(measured, p):
    """Constant and slope of T(p, g); a slope is not less than what can be measured."""
    a, b = FITTED[p]
    slope = max((measured[p, b] - measured[p, a]) / (b - a), 0.001)
    return measured[p, a] - slope * a, slope


def constants(measured):
    """s, u, n and e."""
    s, u = line(measured, 1)
    constant, slope = line(measured, 2)
    e = u / slope / 2
    return s, u, constant - s / (2 * e), e


def main(build):
    runs = int(os.environ.get("RUNS", "3"))
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(build, runs, work)
        program = bench.node_program("compute", "compute", "-DWORK=integer")
        measured = measure(bench, program, GRAINS)
    s, u, n, e = constants(measured)
    print("s = %.0f us, u = %.2f us/ms; two processors: n = %.0f us, e = %.2f" % (s, u, n, e))
    processors = [2 ** k for k in range(MOST.bit_length())]
    print("%6s %s" % ("g, ms", " ".join("%20s" % ("%d processor%s" % (p, "s" * (p > 1))) for p in processors)))
    for g in GRAINS:
        model = {p: s + u * g if p == 1 else n + (s + u * g) / (p * e) for p in processors}
        cells = ["%.0f us%s" % (model[p], " (%.0f)" % measured[p, g] if (p, g) in measured else
                                " x %.1f" % (model[1] / model[p]) if p > 1 else "") for p in processors]
        print("%6d %s" % (g, " ".join("%20s" % cell for cell in cells)))
    print("in brackets: as measured; x: times as fast as one processor")
