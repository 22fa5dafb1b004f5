# ncube: an emulated nCUBE 2 and its operating system.
#
#   make demo     set up, build, run the demonstration (FILE= names another file to copy)
#   make test     set up, build, run all tests, as many suites side by side as there are processors (JOBS=n)
#   make test-all the same with every case of the tables of which make test tries a part, drawn by the commit
#   make all      build all but tests into build/, and newlib if it is not cached
#   make guest    build the programs of nodes for tests and measurements
#   make setup    install what the build needs and is missing
#   make setup-tests   install what tests and development need besides (clang-format, gdb, gnuplot)
#   make install      what is built, to PREFIX=/usr/local (DESTDIR= before it)     make uninstall   takes it away
#   make deb          a Debian package, build/deb/ncube_*.deb, for the release on which it is made
#   make check-host   tests of single modules only     make check-guest   tests that boot a machine only
#   make check-debian   as root: the first two on a bare Debian 12 and 13 (RELEASES=trixie, DEBIAN_DIR=folder)
#   make check-package  as root: the package, made and used on both
#   make bench-net    the bare network: speed, contention, 10,000 comparisons with its reference
#   make bench-processors    what more processors of the host would give nodes that compute between messages
#   make bench-racks  what more hosts would give them
#   make bench-counted   what the plugin costs a node that computes, by the instructions of the host (x86-64)
#   make bench-map    patterns and plans: plans, runs, ranks, gather and scatter
#   make bench-cache  reads from the file server's data cache
#   make check-cache  the data cache against its models, STEPS=1000000 requests with each setting, and a power cut at
#                     every block that each sequence of calls writes
#   make paper-000    the paper's study: build/paper-000/report.html, and the tables of docs/papers/000.md. This one,
#                     paper-001 and figures run only what has changed since (build/measured)
#   make study        speed-up of channel-disjoint routings on a 10-cube
#   make figures      every virtual time of README, docs/ and manual pages, measured and written there
#   make pictures     the pictures of README.md, by chromium
#   make bench    the figures of docs/performance.md, on this host (ROWS=name,... LARGE=1 RUNS=n), also those of
#                 another build (AGAINST=BUILD)
#   make racks    nodes on several hosts: random programs on 1 to 5 racks, failures, what it costs
#   make exact SEEDS=n   random programs, exact however far they run ahead (FIRST=seed)
#   make sched PLAYS=n   random plays of harts without QEMU for the scheduler (FIRST=seed)
#   make pipes SEEDS=n   parallel pipes give what files give, for n random pairs of mappings (FIRST=seed)
#   make striped-kills   calls that change names of striped volumes, killed at every message (KILL_EVERY=n, KILL_CALL=)
#   make striped-races SEEDS=n   pairs of these calls, made by 64 nodes at the same time (FIRST=seed)
#   make star-kills   a parallel file of virtual processors is written when something ends (STAR_KILLS=moments)
#   make paper-003    the study of paper 003: docs/papers/003.md; FULL=1: its sizes up to 16 MB
#   make paper-004    what paper 004 measures: writes docs/papers/004.md, and its plots; FULL=1: its own size
#   make paper-001    what paper 001 claims, measured: writes docs/papers/001.md
#   make paper-002    the study of paper 002: docs/papers/002.md; FULL=1: its own sizes
#   make repeat   10 runs each of 8, 64 and 512 nodes, disturbed: one hash (RUNS=n NODES=n)
#   make soak     200 machines started and stopped     make torture   100,000 messages on 32 nodes, and with noise
#   make instrumentation   what the plugin adds to the code that QEMU makes (docs/performance.md)
#   make check-patterns    100,000 random file patterns and pairs against tables of bytes, under the sanitizers
#   make check-pio         100,000 random sequences of PIO calls against plain arrays, under the sanitizers; then 500 in
#                          the machine
#   make sanitize   the host side under AddressSanitizer and UBSan: modules, commands, whole machines
#   make fuzz SECONDS=n   inputs that are nearly right, under the sanitizers, so long for each that reads some: machine
#                  files, traces, messages of clients, packets of gdb, requests to nsdisk (TARGETS=name SEED=n)
#   make mutation MUTANTS=n   which changes of an operator, constant or statement no test notices (SEED=n)
#   make fuzz-calls, fuzz-nsdisk   random arguments to every call; random requests to the file server
#   make map-of-files   each file of the product, with the first sentence of its comment
#   make format   lay out the code as .clang-format says (clang-format 14)
#   make clean    remove build/
#
# DEBUG=1 compiles the models' invariants in, checked after every event (with B=DIR, to build both). B=DIR builds
# elsewhere, SANITIZE=1 compiles with the sanitizers, NODE_OPT=-O1 (-O2) is for what runs on the nodes, V=1 shows the
# commands of demo and test. Each folder's module.mk
# adds its programs and tests.

B ?= build
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
# As many commands side by side as there are processors, unless the user says how many; one goal after another. What
# this make starts gets them from it: a -j of its own would come with a warning.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS))$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

HOST_CFLAGS := -std=gnu11 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -I.
ifdef DEBUG
HOST_CFLAGS += -DNCUBE_DEBUG
endif
# With them gcc knows less of how long texts are, and warns of what cannot be.
SANITIZERS := -O1 -Wno-format-truncation -fsanitize=address,undefined -fno-sanitize-recover=all
ifdef SANITIZE
HOST_CFLAGS += $(SANITIZERS)
endif
RV := riscv64-unknown-elf-
RV_ARCH := -march=rv64gc -mabi=lp64d -mcmodel=medany
NODE_OPT ?= -O2
RV_CFLAGS := $(RV_ARCH) -std=gnu11 $(NODE_OPT) -g -Wall -Wextra -Werror -I.

PROGRAMS :=
TEST_PROGRAMS :=
HOST_TESTS :=

# $(call say,CC,$<): a short line instead of the command
say = $(if $(SHORT),@echo '  $(1)	$(2:$(B)/%=%)')

# Host objects at $(B)/obj/<path>.o
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(HOST_CFLAGS) -fPIC -MMD -MP -c -o $@ $<

# Tests are compiled more often than they need speed; those that start programs, and wait, need none.
$(B)/obj/tests/%.o: HOST_CFLAGS += -O1
$(B)/obj/tests/emu/test_%.o $(B)/obj/tests/machine/%.o: HOST_CFLAGS += -O0
$(B)/obj/tests/machine/test_kernel_ways.o: HOST_CFLAGS += -O2 # it computes

# Every test has tests/certificates.c, whose function is found before that of a library.
CRITERION := -lcriterion -Wl,--export-dynamic-symbol=mbedtls_x509_crt_parse_file

# $(call host_test,emu/test_net,emu/network/net.c emu/time/eventq.c,-lm): a Criterion test tests/emu/test_net.c and \
    what it links
define host_test
HOST_TESTS += $$(B)/tests/$(1)
$$(B)/tests/$(1): $$(patsubst %.c,$$(B)/obj/%.o,tests/$(1).c tests/certificates.c $(2))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(CC) $$(HOST_CFLAGS) -o $$@ $$^ $$(CRITERION) $(3)
endef

# $(call host_program,bin/ncube,emu/cmd/ncube.c ...,-lconfig); those below tests/ are built with the tests
define host_program
$(if $(filter tests/%,$(1)),TEST_PROGRAMS,PROGRAMS) += $$(B)/$(1)
$$(B)/$(1): $$(patsubst %.c,$$(B)/obj/%.o,$(2))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(CC) $$(HOST_CFLAGS) -o $$@ $$^ $(3)
endef

# Kernel and library objects for the nodes at $(B)/rv/<path>.o
$(B)/rv/%.o: %.c
	@mkdir -p $(@D)
	$(call say,RVCC,$<)
	$(RV)gcc $(RV_CFLAGS) $(RV_FLAGS_$(firstword $(subst /, ,$*))) -MMD -MP -c -o $@ $<
$(B)/rv/%.o: %.S
	@mkdir -p $(@D)
	$(call say,RVCC,$<)
	$(RV)gcc $(RV_CFLAGS) $(RV_FLAGS_$(firstword $(subst /, ,$*))) -MMD -MP -c -o $@ $<

# Shell scripts that test, each ending with the line "N passed, N failed, N skipped"
SHELL_TESTS :=

# images/ links what the others name; tests/ has programs for the nodes.
LAST_MODULES := images/module.mk $(wildcard tests/module.mk)
include $(filter-out $(LAST_MODULES),$(wildcard */module.mk)) $(LAST_MODULES)

# newlib first: what the nodes run waits for it
.PHONY: all
all: $(NEWLIB_LIBC) $(PROGRAMS)

.PHONY: host-tests
host-tests: $(HOST_TESTS) $(TEST_PROGRAMS)

# What is made after set-up is made by another make: before, compilers and libraries may be missing. It says in a short
# line what it makes.
SUBMAKE = +@$(MAKE) --no-print-directory $(if $(V),,-s SHORT=1) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# What pages measure, and the demonstration (images/measure/measure.py)
MEASURE_PY = python3 -B images/measure/measure.py $(B)

# make all builds newlib, beside what does not need it
.PHONY: setup setup-tests
setup:
	@images/setup.sh
setup-tests:
	@images/setup.sh --tests

.PHONY: demo
demo: setup
	$(SUBMAKE) all
	@$(MEASURE_PY) demo "$(FILE)"

# Tests of single modules, and those that boot a machine
MACHINE_TESTS := $(filter $(B)/tests/machine/%,$(HOST_TESTS))
MODULE_TESTS := $(filter-out $(MACHINE_TESTS),$(HOST_TESTS)) $(SHELL_TESTS)

# How many suites run side by side
JOBS ?= $(shell nproc)
RUN_TESTS = @TESTS_DRAW=$(TESTS_DRAW) tests/run.sh -j $(JOBS)

# By which number tests draw cases from tables that take long (tests/run.sh): the commit's, so that each version tries
# others; "all" tries all.
TESTS_DRAW ?= $(shell printf %d 0x0$$(git rev-parse HEAD 2>/dev/null | cut -c 1-7))

.PHONY: test test-all check-host check-guest
test-all:
	$(SUBMAKE) TESTS_DRAW=all test
test: setup-tests
	$(SUBMAKE) all host-tests
	$(RUN_TESTS) $(B) $(MODULE_TESTS) $(MACHINE_TESTS)
check-host: setup-tests
	$(SUBMAKE) all host-tests
	$(RUN_TESTS) $(B) $(MODULE_TESTS)
check-guest: setup-tests
	$(SUBMAKE) all host-tests
	$(RUN_TESTS) $(B) $(MACHINE_TESTS)

# In a build of its own. Not: a limit of address space, in which a sanitizer cannot start (test_limits).
SANITIZED := $(B)-sanitized
.PHONY: sanitize
sanitize:
	$(SUBMAKE) SANITIZE=1 B=$(SANITIZED) all host-tests
	@ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 tests/run.sh -j $(JOBS) $(SANITIZED) \
	    $(patsubst $(B)/%,$(SANITIZED)/%,$(filter-out %/test_limits,$(filter $(B)/%,$(MODULE_TESTS)) $(MACHINE_TESTS))) \
	    $(filter tests/emu/%,$(SHELL_TESTS)) tests/machine/test_gdb.sh

.PHONY: map-of-files
map-of-files:
	@tests/house/map_of_files.sh

.PHONY: format
format:
	git ls-files '*.c' '*.h' | grep -v '^tests/images/old/' | xargs clang-format -i

.PHONY: pictures
pictures:
	$(SUBMAKE) all
	@images/pictures.sh $(B) docs/pictures

PREFIX ?= /usr/local
.PHONY: install uninstall
install:
	@DESTDIR="$(DESTDIR)" images/install.sh "$(B)" "$(PREFIX)"
uninstall:
	@DESTDIR="$(DESTDIR)" images/install.sh --remove "$(PREFIX)"

# In a copy, as dpkg-buildpackage writes beside the tree that it builds
.PHONY: deb
deb:
	$(SUBMAKE) all
	@images/package.sh $(B)

.PHONY: check-debian check-package
check-debian:
	@tests/check_debian.sh $(RELEASES)
check-package:
	@tests/check_debian.sh --package $(RELEASES)

.PHONY: clean
clean:
	rm -rf $(B)

-include $(shell find $(B) -name mutation -prune -o -name '*.d' -print 2>/dev/null)
