"""Runs of `ncube`, each done once: what came of a run is kept, and found again by what was run.

    lab = Lab(build, kept)
    run = lab.run("-d", 2, lab.guest("rates"), machine="dim = 2;", stats=True)
    run.text, run.said        its standard output and error
    run.value("daxpy")        the first number behind that pattern
    run.lines                 the words name=value of each line
    run.stats                 its statistics (docs/statistics.md)

A run's key is a hash of the system's files (ncube, plugin, kernel, file server, QEMU's version), of the words with the
contents of the files that they name, of the machine file and of the images it began with. kept/KEY holds what it left;
a folder gets this name when it is complete, so an interrupted study goes on where it was. Runs that are asked for at
the same time, by `each`, go side by side on all processors, and equal ones are one run.
"""
import contextlib
import hashlib
import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

RACKS = "bin/ncube-mpi"
SYSTEM = ["bin/ncube", "lib/plugin.so", "lib/vertex.elf", "lib/nsdisk.elf"]
LIMIT_STATUS = 124  # of ncube run after --limit
PROCESSORS_MAX = 16
KEPT_DAYS = 14


class Failure(Exception):
    """One line for the user: why nothing can come of it."""


def each(function, items):
    """[function(*item) for item in items], all at the same time; an item that is no tuple is the only argument."""
    items = [item if isinstance(item, tuple) else (item,) for item in items]
    result, ended = [None] * len(items), queue.SimpleQueue()

    def work(i):
        try:
            result[i] = function(*items[i])
            ended.put(None)
        except BaseException as error:  # of the first one, in the thread that has asked
            ended.put(error)

    for i in range(len(items)):
        threading.Thread(target=work, args=(i,), daemon=True).start()
    for _ in items:
        failure = ended.get()
        if failure:
            raise failure
    return result


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def hash_of(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def copy_images(there, here):
    subprocess.run(["cp", "-r", "--sparse=always", there, here], check=True)


class Images:
    """Blank images for all drives of a machine: `ncube disk create` with these words, the same bytes every time."""

    def __init__(self, *words):
        self.words = words
        self.key = ["images", *words]

    def provide(self, lab, folder):
        """Puts them into folder/images, for its machine.conf; those of one machine are made once."""
        with open(folder + "/machine.conf", encoding="utf-8") as file:
            key = hash_of([self.key, lab.system, file.read()])
        blank = lab.kept + "/images." + key
        with lab.lock(key):
            if not os.path.isdir(blank):
                with lab.new_name() as new:
                    os.mkdir(new)
                    lab.check("disk", "create", "-m", folder + "/machine.conf", "--images=" + new, *self.words)
                    lab.complete(new, blank)
        copy_images(blank, folder + "/images")


class Run:
    """What a run left in its folder."""

    def __init__(self, lab, key, spec):
        self.lab, self.key, self.spec = lab, key, spec
        self.folder = os.path.join(lab.kept, key)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    text = property(lambda self: self.read("out"))
    said = property(lambda self: self.read("said"))
    stats = property(lambda self: json.loads(self.read("stats")))
    failed = property(lambda self: self.read("status").split()[0] != "0")

    @property
    def lines(self):
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in self.text.splitlines()]

    def word(self, pattern):
        found = re.search("^.*" + pattern + r" *([0-9.]+)", self.text, re.MULTILINE)
        if not found:
            raise Failure("no number behind '%s' in what this printed: %s" % (pattern, self.spec["shown"]))
        return found.group(1)

    def value(self, pattern):
        return float(self.word(pattern))

    def drive_commands(self, kind):
        """The first drive's `reads` or `writes`."""
        return self.stats["drives"][0][kind]

    # As Images: a run may begin with what another one left on its drives.

    def provide(self, lab, folder):
        with lab.lock(self.key):
            if not os.path.isdir(self.folder + "/images"):
                lab.execute(self.key, self.spec, keep_images=True)
            copy_images(self.folder + "/images", folder + "/images")

    def drop_images(self):
        with self.lab.lock(self.key):
            shutil.rmtree(self.folder + "/images", ignore_errors=True)


class Lab:
    """launch: words before the program of each run, which lets its nodes be on several hosts. Such a run has the
    processors of all hosts to itself, and leaves what it would leave on one."""

    def __init__(self, build, kept, settings=(), sampled=False, launch=""):
        self.build = os.path.abspath(build)
        self.ncube = self.build + "/bin/ncube"
        self.kept = os.path.abspath(kept)
        self.settings = [word for setting in settings for word in ("--set", setting)]
        self.guest = "build/guest/{}".format  # a program's path is among its words, and so in its memory: wherever
        self.example = "build/examples/{}".format  # the build is, a run finds it as `build` in its folder
        processors = min(len(os.sched_getaffinity(0)), PROCESSORS_MAX)
        self.launch = self.take_launch(launch)
        self.slots = threading.Semaphore(1 if launch else processors)
        self.guard = threading.Condition()
        self.locks, self.answers, self.digests, self.children = {}, {}, {}, set()
        self.count, self.done, self.begun, self.ended = 0, 0, time.monotonic(), False
        self.with_images = set()  # keys of runs whose images are there until the end
        self.at_work = 0  # threads that may write into `kept`
        os.makedirs(self.kept, exist_ok=True)
        self.forget_dead()
        self.system = self.digest_system()
        self.sampled, self.seed = sampled, hash_of(self.system)[:8]  # which rows a test takes; by which it draws some
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.take_signal)

    # ---- Keys

    def digest_system(self):
        missing = [name for name in SYSTEM if not os.path.exists(os.path.join(self.build, name))]
        if missing:
            raise Failure("%s/%s is missing; run \"make\"" % (self.build, missing[0]))
        qemu = subprocess.run(["qemu-system-riscv64", "--version"], capture_output=True, text=True, check=False)
        return [qemu.stdout] + [digest_of(os.path.join(self.build, name)) for name in SYSTEM]

    def take_launch(self, launch):
        """The words before those of a run."""
        if not launch:
            return [self.ncube]
        try:
            words = shlex.split(launch)
        except ValueError:  # a quote that is not closed
            words = []
        if not words or not shutil.which(words[0]):
            raise Failure("--launch='%s': no command that can be run; give one such as 'mpirun.openmpi -np 3'" %
                          launch)
        if not os.path.exists(os.path.join(self.build, RACKS)):
            raise Failure("--launch needs ncube-mpi, which is not installed; Debian's package is ncube-mpi")
        return [*words, os.path.join(self.build, RACKS)]

    def name_of(self, word):
        """A word, or the name and the contents of a file that it names."""
        path = self.build + word[len("build"):] if word.startswith("build/") else word
        if path.startswith("/") and not path.startswith("//") and os.path.isfile(path):
            if path not in self.digests:
                self.digests[path] = digest_of(path)
            return word + " " + self.digests[path]
        return word

    def lock(self, key):
        with self.guard:
            return self.locks.setdefault(key, threading.RLock())

    # ---- Runs

    def run(self, *words, machine=None, images=None, stats=False, limit_us=None, may_fail=False, get=None,
            reads=(), keep_images=False):
        """`ncube run` with these words. machine: the text of a machine file. images: what its drives begin with, Images
        or a Run. limit_us: where it is cut off. get: a file of the machine, whose SHA-256 is kept as `got`. reads:
        files of the host that it reads beside those that are words. keep_images: another run will begin with what this
        one leaves on its drives; without it, this one is run again for that."""
        options = (["--stats=stats"] if stats else []) + (["--limit=%.9f" % (limit_us / 1e6)] if limit_us else [])
        return self.find({"words": ["run", "--cores=1", *options, *self.settings], "more": [str(w) for w in words],
                          "machine": machine, "images": images, "status": LIMIT_STATUS if limit_us else 0,
                          "may_fail": may_fail, "get": get, "reads": [self.name_of(path) for path in reads]},
                         keep_images)

    def find(self, spec, keep_images):
        named = {name: value for name, value in spec.items() if name != "images"}
        named["words"] = [self.name_of(word) for word in spec["words"]]
        named["more"] = [self.name_of(word) for word in spec["more"]]
        named["images"] = spec["images"] and spec["images"].key
        named["system"] = self.system
        key = hash_of(named)
        spec["shown"] = " ".join(["ncube"] + spec["words"] + spec["more"])
        with self.lock(key):
            if os.path.isdir(os.path.join(self.kept, key)):
                os.utime(os.path.join(self.kept, key))
            else:
                self.execute(key, spec, keep_images)
        return Run(self, key, spec)

    @contextlib.contextmanager
    def new_name(self):
        """A path in `kept` for something that is not complete; none is given after the end."""
        with self.guard:
            if self.ended:
                raise Failure("another run has failed")
            self.count += 1
            self.at_work += 1
            new = "%s/new.%d.%d" % (self.kept, os.getpid(), self.count)
        try:
            yield new
        finally:
            with self.guard:
                self.at_work -= 1
                self.guard.notify_all()

    def execute(self, key, spec, keep_images):
        if keep_images:
            self.with_images.add(key)
        with self.new_name() as new:
            os.mkdir(new)
            self.execute_in(new, key, spec, keep_images)
        self.done += 1
        self.show_progress()

    def execute_in(self, new, key, spec, keep_images):
        os.symlink(self.build, new + "/build")
        options = []
        if spec["machine"] is not None:
            options = ["-m", "machine.conf"]
            with open(new + "/machine.conf", "w", encoding="utf-8") as file:
                file.write(spec["machine"])
        if spec["images"]:
            spec["images"].provide(self, new)
            options.append("--images=images")
        status = self.spawn([*self.launch, *spec["words"], *options, *spec["more"]], new)
        if status != spec["status"] and not spec["may_fail"]:
            with open(new + "/said", encoding="utf-8", errors="replace") as file:
                said = file.read().strip().splitlines() or ["status %d, and no word of why" % status]
            own = [line for line in said if line.startswith("ncube: ")]  # a launcher may have said more
            raise Failure("%s: %s" % (spec["shown"], (own or said)[-1]))
        with open(new + "/status", "w", encoding="ascii") as file:
            file.write("%d %s\n" % (status != spec["status"], spec["shown"]))
        if spec["get"]:
            text = self.check("disk", "get", "-m", new + "/machine.conf", "--images=" + new + "/images", spec["get"],
                              "-")
            with open(new + "/got", "w", encoding="ascii") as file:
                file.write(hashlib.sha256(text).hexdigest())
        if not keep_images:
            shutil.rmtree(new + "/images", ignore_errors=True)
        self.complete(new, os.path.join(self.kept, key))

    def complete(self, new, folder):
        """The folder `new` gets its name, and replaces an older one."""
        shutil.rmtree(folder, ignore_errors=True)
        try:
            os.rename(new, folder)
        except OSError:
            if not os.path.isdir(folder):  # else another process was quicker with the same
                raise

    def spawn(self, argv, folder):
        """One of as many processes as there are processors. They die with this one."""
        with self.slots, open(folder + "/out", "wb") as out, open(folder + "/said", "wb") as said:
            with self.guard:
                if self.ended:
                    raise Failure("another run has failed")
                child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *argv], cwd=folder,
                                         stdin=subprocess.DEVNULL, stdout=out, stderr=said)
                self.children.add(child)
            status = child.wait()
            with self.guard:
                self.children.discard(child)
            return status

    def show_progress(self):
        if sys.stderr.isatty() and not self.ended:
            sys.stderr.write("\r\033[K%d runs, %d s" % (self.done, time.monotonic() - self.begun))

    # ---- What needs no run

    def check(self, *words):
        """What `ncube WORDS` prints; a failure if it fails."""
        done = subprocess.run([self.ncube, *words], capture_output=True, check=False,
                              env={**os.environ, "E2FSPROGS_FAKE_TIME": "820454400"})
        if done.returncode != 0:
            line = (done.stderr.decode(errors="replace").strip().splitlines() or ["status %d" % done.returncode])[-1]
            raise Failure(re.sub("^ncube[a-z ]*: ", "", line))
        return done.stdout

    def ask(self, *words, machine=None):
        """The text that a tool such as `ncube map` prints, about the machine file with this text."""
        words = [str(word) for word in words]
        key = hash_of([words, machine])
        with self.lock(key):
            if key not in self.answers:
                with self.new_name() as path:
                    if machine is not None:
                        with open(path, "w", encoding="utf-8") as file:
                            file.write(machine)
                    options = ["-m", path] if machine is not None else []
                    self.answers[key] = self.check(words[0], *options, *words[1:]).decode()
                    if machine is not None:
                        os.remove(path)
            return self.answers[key]

    # ---- The end

    def end(self):
        """Ends what still runs, and leaves no half result."""
        with self.guard:
            self.ended = True
            for child in self.children:
                child.terminate()
            while self.at_work:
                self.guard.wait()
        self.forget("new.%d." % os.getpid())
        for key in self.with_images:
            shutil.rmtree("%s/%s/images" % (self.kept, key), ignore_errors=True)
        if sys.stderr.isatty() and self.done:
            sys.stderr.write("\r\033[K")

    def forget(self, prefix):
        for name in os.listdir(self.kept):
            if name.startswith(prefix):
                path = os.path.join(self.kept, name)
                shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.remove(path)

    def forget_dead(self):
        """Removes what a process has left that was killed, and runs that nobody has asked for in a long time."""
        for name in os.listdir(self.kept):
            if name.startswith("new."):
                dead = not os.path.exists("/proc/" + name.split(".")[1])
            else:
                dead = time.time() - os.path.getmtime(os.path.join(self.kept, name)) > KEPT_DAYS * 86400
            if dead:
                self.forget(name)

    def take_signal(self, number, frame):
        raise SystemExit(128 + number)
