"""A queueing model of the iPSC/860's Concurrent File System, from the paper [P2] and its tables alone: an oracle for
the servers, of whose code it has nothing.

    read_rate("part", 64)                       MB/s of all nodes, as cfsbench reads
    read_rate("inter", 64, block=65536, cache=1250, disks=5, group=8)

Clients have one request of 4 KB under way, block after block [section 3.0]. An I/O node answers one request at a time,
by a cache of 250 blocks, the least recently used of which goes [section 6.3]. A block that is not there brings its
group of 8 from the disk; when a group's last block is asked for, the next one is read ahead. A disk carries out one
command after the other. Its times and the client's turn are those of Tables 1 and 2, the I/O node's own time that of
Figure 4's peak.
"""
import collections
import heapq

KB, MB = 1 << 10, 1 << 20
BLOCK = 4 * KB
TURN_MS = 4 / 2.0 / 1.024  # a request and its reply with 4 KB, across the machine: 2.0 MB/s [Table 2]
NODE_MS = 10 * 4 / 14 / 1.024  # of an I/O node for a block: ten of them have 14 MB/s [section 5.1]
GROUP_MS = 32 / 0.82 / 1.024  # a command of 32 KB: 0.82 MB/s [Table 2]
SINGLE_MS = 3 * 4 / 0.82 / 1.024  # one of 4 KB: a third of the rate [section 3.0]


def command_ms(blocks):
    return SINGLE_MS + (GROUP_MS - SINGLE_MS) * (blocks - 1) / 7


class IoNode:
    """An I/O node with its disk. Blocks are numbered as they lie on the disk."""

    def __init__(self, model, blocks):
        self.model, self.blocks = model, blocks
        self.free_ms = self.disk_free_ms = 0.0
        self.cache = collections.OrderedDict()  # blocks, the least recently used first
        self.coming = {}  # groups: when they are there

    def fetch(self, group, now):
        """Reads what is absent of a group. When it is there."""
        if group in self.coming:
            return self.coming[group]
        first = group * self.model.group
        wanted = [b for b in range(first, min(first + self.model.group, self.blocks)) if b not in self.cache]
        if not wanted:
            return now
        self.disk_free_ms = max(now, self.disk_free_ms) + command_ms(len(wanted))
        self.coming[group] = self.disk_free_ms
        self.model.moved += len(wanted)
        self.model.later(self.disk_free_ms, self.arrive, group, wanted)
        return self.disk_free_ms

    def arrive(self, now, group, blocks):
        del self.coming[group]
        for block in blocks:
            self.cache[block] = True
            self.cache.move_to_end(block)
        while len(self.cache) > self.model.cache:
            self.cache.popitem(last=False)

    def ask(self, now, block, client):
        group = block // self.model.group
        if block in self.cache:
            self.cache.move_to_end(block)
            self.answer(now, client)
        else:
            there = self.fetch(group, now)
            self.model.wait_ms += there - now
            self.model.later(there, self.answer, client)
        if self.model.ahead and (block + 1) % self.model.group == 0 and block + 1 < self.blocks:
            self.fetch(group + 1, now)

    def answer(self, now, client):
        begin = max(now, self.free_ms)
        self.free_ms = begin + NODE_MS
        self.model.later(begin + TURN_MS, client)


class Model:
    def __init__(self, cache, group, ahead):
        self.cache, self.group, self.ahead = cache, group, ahead
        self.events, self.count, self.moved, self.wait_ms = [], 0, 0, 0.0

    def later(self, at, what, *args):
        self.count += 1
        heapq.heappush(self.events, (at, self.count, what, args))

    def run(self):
        now = 0.0
        while self.events:
            now, _, what, args = heapq.heappop(self.events)
            what(now, *args)
        return now


def blocks_of(test, node, nodes, size, block):
    """The file's blocks of 4 KB that a node reads, in order."""
    each, calls = block // BLOCK, size // block
    if test == "part":
        return range(node * size // nodes // BLOCK, (node + 1) * size // nodes // BLOCK)
    return (j * each + i for j in range(node, calls, nodes) for i in range(each))


def read_rate(test, nodes, size=32 * MB, block=65536, disks=10, cache=250, group=8, ahead=True):
    """MB/s, how many blocks the disks move for each of the file, and the ms that all requests wait for a disk."""
    model = Model(cache, group, ahead)
    io = [IoNode(model, -(-size // BLOCK // disks)) for _ in range(disks)]

    def client(wanted):
        def go_on(now):
            k = next(wanted, None)
            if k is not None:
                io[k % disks].ask(now, k // disks, go_on)
        return go_on

    for node in range(nodes):
        model.later(0.0, client(iter(blocks_of(test, node, nodes, size, block))))
    ms = model.run()
    return size / MB / (ms / 1e3), model.moved / (size // BLOCK), model.wait_ms
