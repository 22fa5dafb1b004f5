# Tests inside the machine: programs for the nodes in tests/guest/, and the host programs that run ncube on them
# and judge status and output, in tests/machine/.

SHELL_TESTS += tests/house/test_run.sh tests/house/test_house.sh tests/house/test_circles.sh \
    tests/house/test_figures.sh tests/docs/test_pages.sh
SHELL_TESTS += tests/images/test_deb.sh tests/machine/test_gdb.sh tests/machine/test_core.sh \
    tests/machine/test_inside.sh tests/machine/test_record.sh tests/machine/test_record_boot.sh \
    tests/machine/test_travel.sh tests/machine/test_travel_run.sh tests/machine/test_checkpoints.sh

# What is added to PROGRAMS from here on is for tests and measurements, and not part of `all` (see GUEST_PROGRAMS)
PRODUCT := $(PROGRAMS)

GUEST_FLAGS_processes := -Nprocs 3
GUEST_FLAGS_short := -Nprocs 3
GUEST_FLAGS_calls := -I.
GUEST_FLAGS_collectives := -I.
GUEST_FLAGS_rexec := -I.
GUEST_FLAGS_odd := -I.
GUEST_FLAGS_ends := -I.
GUEST_FLAGS_devices := -I.
GUEST_FLAGS_sleeps := -I.
GUEST_FLAGS_sequences := -I. tests/libpio/sequences.c
GUEST_FLAGS_star := -I. tests/libpio/star_program.c
GUEST_FLAGS_transparency := -I.
GUEST_FLAGS_requests := -I.
GUEST_FLAGS_library := -lm
GUEST_FLAGS_costs := -fno-builtin -Wno-stringop-truncation -lm
GUEST_FLAGS_globals := -lm
GUEST_FLAGS_clocks := -Wl,-e,look_at_entry
GUEST_FLAGS_debugged := -g -O0
$(foreach src,$(wildcard tests/guest/*.c),\
    $(eval $(call node_program,guest/$(basename $(notdir $(src))),$(src),\
        $(GUEST_FLAGS_$(basename $(notdir $(src)))) $(if $(LIBPIO),-lpio))))

# Two programs that differ in a few instructions only
$(eval $(call node_program,guest/text_other,tests/guest/text.c,-DVARIANT=2))
# Random programs with two processes on each node
$(eval $(call node_program,guest/exact2,tests/guest/exact.c,-DPROCS=2 -Nprocs 2 $(if $(LIBPIO),-lpio)))
$(eval $(call node_program,guest/exact_loops2,tests/guest/exact_loops.c,-DPROCS=2 -Nprocs 2))
$(eval $(call node_program,guest/exact_ends2,tests/guest/exact_ends.c,-DPROCS=2 -Nprocs 2))
$(eval $(call node_program,guest/exact_kills2,tests/guest/exact_kills.c,-DPROCS=2 -Nprocs 2))

# A program of a job that is not waited for
$(eval $(call node_program,guest/answers_serving,images/examples/answers.c,-Nserves))
# patience, with two processes on each node
$(eval $(call node_program,guest/patience2,tests/guest/patience.c,-Nprocs 2 -lpio))
# groups, with three processes on each node
$(eval $(call node_program,guest/groups3,tests/guest/groups.c,-DPROCS=3 -Nprocs 3))

$(eval $(call node_program,guest/endpoints3,tests/guest/endpoints.c,-Nprocs 3))
$(eval $(call node_program,guest/reactive3,tests/guest/reactive.c,-Nprocs 3))
# global_io, with three processes on each node
$(eval $(call node_program,guest/global_io3,tests/guest/global_io.c,-Nprocs 3))

# An nsdisk that ends on request, for tests/machine/test_lost_nsdisk.c
NSDISK_ENDS := tests/nsdisk/ends_on_request.c
PROGRAMS += $(B)/guest/nsdisk_ends.elf
$(B)/guest/nsdisk_ends.elf: $(NSDISK_ENDS) $(NSDISK_OBJS) $(PROGRAM_DEPS)
	@mkdir -p $(@D)
	$(NCC) $(NCC_CFLAGS) -I. -Wl,--wrap=serve_request,--wrap=server_mount,--wrap=server_shutdown -o $@ \
	    $(NSDISK_ENDS) $(NSDISK_OBJS)

# An ncube whose nsdisk has a family of requests for tests, tests/nsdisk/echo_family.h
NSDISK_ECHO_OBJS := $(filter-out %/families.o,$(NSDISK_OBJS))
PROGRAMS += $(addprefix $(B)/echo/,bin/ncube lib/nsdisk.elf lib/vertex.elf lib/plugin.so)
$(B)/echo/lib/nsdisk.elf: $(NSDISK_ECHO) $(NSDISK_ECHO_OBJS) $(PROGRAM_DEPS)
	@mkdir -p $(@D)
	$(NCC) $(NCC_CFLAGS) -I. -o $@ $(NSDISK_ECHO) $(NSDISK_ECHO_OBJS)
$(B)/echo/%: $(B)/%
	@mkdir -p $(@D)
	@cp $< $@

GUEST_PROGRAMS := $(filter-out $(PRODUCT),$(PROGRAMS))
PROGRAMS := $(PRODUCT)

.PHONY: guest
guest: $(GUEST_PROGRAMS)
host-tests: $(GUEST_PROGRAMS)

MACHINE_TEST_LIBS_test_stats := -ljansson
MACHINE_TEST_LIBS_test_renewal := -ljansson
MACHINE_TEST_LIBS_test_clf := -ljansson
MACHINE_TEST_LIBS_test_caches := -ljansson
MACHINE_TEST_LIBS_test_merging := -ljansson
MACHINE_TEST_LIBS_test_waiting := -ljansson
MACHINE_TEST_LIBS_test_creation := -ljansson
MACHINE_TEST_SOURCES_test_socket := emu/base/nearest.c emu/link/link.c emu/link/launch.c emu/job/shares.c
MACHINE_TEST_LIBS_test_global_io := -ljansson
MACHINE_TEST_LIBS_test_mpi := -ljansson
MACHINE_TEST_LIBS_test_ps := -ljansson
MACHINE_TEST_LIBS_test_trace := -ljansson -lm
MACHINE_TEST_SOURCES_test_star := tests/libpio/unstar.c tests/libpio/star_program.c tests/libpio/fake_group.c \
    $(STAR_CORE) $(TWO_PHASE) $(MAP_SRCS)
MACHINE_TEST_LIBS_test_top := -lutil
MACHINE_TEST_LIBS_test_nhost := $(B)/host/lib/libnhost.a
$(B)/tests/machine/test_nhost: $(B)/host/lib/libnhost.a
MACHINE_TEST_SOURCES_test_kernel_ways := emu/qemu/cost.c
MACHINE_TEST_LIBS_test_kernel_ways := -lelf

# $(call machine_test,test_boot): tests/machine/test_boot.c, run after everything is built
define machine_test
$(call host_test,machine/$(1),$(addprefix tests/machine/,command.c guest.c booted.c observe.c) \
    emu/base/starved.c $(MACHINE_TEST_SOURCES_$(1)),$(MACHINE_TEST_LIBS_$(1)))
$$(B)/tests/machine/$(1): | $$(PROGRAMS) $$(GUEST_PROGRAMS)
endef

$(foreach name,$(basename $(notdir $(wildcard tests/machine/test_*.c))),$(eval $(call machine_test,$(name))))

# ---- Fuzzing (tests/fuzz/fuzz.h): what reads input from outside, under the sanitizers, its steps counted

FUZZED := $(sort $(CONFIG_SOURCES) $(TIMELINE_SOURCES) $(GDB_SOURCES) $(CLIENTS_SOURCES) $(NSDISK_LOOP) \
    $(NSDISK_FAMILIES) $(NSDISK_CORE) $(filter-out %/store_unix.c,$(STAR_CORE)) $(TWO_PHASE) \
    $(MAP_SRCS) \
    emu/tools/star_alone.c emu/tools/star_repair.c)
FUZZING := $(filter-out %/uncounted.c,$(wildcard tests/fuzz/*.c)) tests/emu/gdb_target.c $(NSDISK_FUZZ)

$(B)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) $(FUZZ_STEPS) -MMD -MP -c -o $@ $<
$(patsubst %.c,$(B)/fuzz/%.o,$(FUZZED)): FUZZ_STEPS := -fsanitize-coverage=trace-pc
$(B)/tests/fuzz/fuzz: $(patsubst %.c,$(B)/fuzz/%.o,$(FUZZED) $(FUZZING))
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) -o $@ $^ -lconfig -ljansson -lelf -ldw -lz -lm -lnettle -lxxhash \
	    -lcriterion

# Suites of what reads input run under the sanitizers only, of the same objects. make sanitize has all suites so.
# $(call sanitized_test,emu/test_config,-lconfig): tests/emu/test_config.c
define sanitized_test
HOST_TESTS := $$(filter-out $$(B)/tests/$(1),$$(HOST_TESTS)) $$(B)/tests/sanitized/$(notdir $(1))
$$(B)/tests/sanitized/$(notdir $(1)): $$(patsubst %.c,$$(B)/fuzz/%.o,tests/$(1).c tests/certificates.c \
    tests/fuzz/uncounted.c $(2))
	@mkdir -p $$(@D)
	$$(CC) $$(HOST_CFLAGS) $$(SANITIZERS) -o $$@ $$^ $$(CRITERION) $(3)
endef
$(eval $(call sanitized_test,emu/test_config,$(CONFIG_SOURCES),-lconfig))
$(eval $(call sanitized_test,emu/test_timeline,$(TIMELINE_SOURCES),-ljansson -lz -lm))
$(eval $(call sanitized_test,emu/test_rsp,tests/emu/gdb_target.c $(GDB_SOURCES)))
$(eval $(call sanitized_test,emu/test_agent_expression,emu/qemu/agent_expression.c))
$(eval $(call sanitized_test,emu/test_trail,emu/debug/trail.c emu/base/memory.c))
$(eval $(call sanitized_test,emu/test_link,emu/link/link.c emu/base/nearest.c))
$(eval $(call sanitized_test,emu/test_launch,emu/link/launch.c emu/job/shares.c))
$(eval $(call sanitized_test,libpio/test_pattern_wire,$(PATTERN_TEST)))
$(eval $(call sanitized_test,nsdisk/test_corrupt,$(NSDISK_TEST)))
$(eval $(call sanitized_test,nsdisk/test_families,tests/nsdisk/drives.c $(NSDISK_ECHO) $(NSDISK_LOOP) $(NSDISK_TEST)))
$(eval $(call sanitized_test,nsdisk/test_clf_requests,tests/libpio/random_pattern.c libpio/map/pattern_text.c \
    $(CFS_TEST),$(CLF_WRAP)))
$(eval $(call sanitized_test,nsdisk/test_view,tests/libpio/random_pattern.c libpio/map/pattern_text.c $(NSDISK_TEST)))

# A short run of it is one of the tests.
host-tests: $(B)/tests/fuzz/fuzz
SHELL_TESTS += tests/fuzz/test_fuzz.sh

# make fuzz: SECONDS= of each target (default 60), or of those in TARGETS=, from SEED= (default 1). An input for which
# something is wrong is written to $(B)/fuzz. make fuzz-nsdisk: ROUNDS= (default 20) of those of the file server.
.PHONY: fuzz fuzz-nsdisk
fuzz: $(B)/tests/fuzz/fuzz
	$< -k $(B)/fuzz -s $(or $(SECONDS),60) -f $(or $(SEED),1) $(TARGETS)
fuzz-nsdisk: $(B)/tests/fuzz/fuzz
	$< -r $(or $(ROUNDS),20) -f $(or $(SEED),1) \
	    nsdisk-messages nsdisk-caches nsdisk-images nsdisk-allocation nsdisk-clients

# make mutation: whether the tests notice when an operator, constant or statement of the scheduler, the network, ext2's
# allocation, the mapping engine or Stream* is another; MUTANTS= (default 200) drawn by SEED=, ONLY= "mapping star" and
# the like for some of these groups (tests/mutation/mutate.sh)
.PHONY: mutation
mutation:
	$(SUBMAKE) host-tests
	@tests/mutation/mutate.sh $(B) $(or $(MUTANTS),200) $(or $(SEED),1)

# ---- Longer runs of tests

# make pipes: parallel pipes against files, SEEDS= pairs of random mappings (default 200) from FIRST= on
.PHONY: pipes
pipes:
	$(SUBMAKE) $(B)/tests/machine/test_pipes
	@PIPES_SEEDS=$(or $(SEEDS),200) FIRST=$(or $(FIRST),1) $(B)/tests/machine/test_pipes \
	    --filter 'pipes/give_what_a_file_gives'

# make striped-kills: calls that change names of striped volumes, killed at every message and command of a drive
.PHONY: striped-kills
striped-kills:
	$(SUBMAKE) all guest $(B)/tests/machine/test_striped_kills
	@KILL_EVERY=$(or $(KILL_EVERY),1) KILL_CALL="$(KILL_CALL)" $(B)/tests/machine/test_striped_kills

# make striped-races: every pair of these calls, made by 64 nodes at about the same time; SEEDS= seeds from FIRST= on
.PHONY: striped-races
striped-races:
	$(SUBMAKE) all guest $(B)/tests/machine/test_striped_races
	@for seed in $$(seq $(or $(FIRST),1) $$(($(or $(FIRST),1) + $(or $(SEEDS),1) - 1))); do \
	    RACES_SEED=$$seed $(B)/tests/machine/test_striped_races || exit 1; \
	done

# make paper-001: docs/papers/001.md, what the paper claims beside what was measured (images/measure/paper_001.py)
.PHONY: paper-001
paper-001:
	$(SUBMAKE) all guest
	@$(MEASURE_PY) paper-001

# make paper-002: the study of [P2], with files of 32 MB; FULL=1: the paper's 128 MB, and all sizes. Takes minutes.
.PHONY: paper-002
paper-002: setup-tests
	$(SUBMAKE) all guest
	@FULL=$(FULL) $(MEASURE_PY) paper-002

# make paper-003: the study of [P3], and docs/papers/003.md with its plots; FULL=1: the paper's sizes up to 16 MB
.PHONY: paper-003
paper-003:
	$(SUBMAKE) all
	@FULL=$(FULL) $(MEASURE_PY) paper-003

# make paper-004: the study of [P4], as a report, and docs/papers/004.md with its plots; FULL=1: its 32 MB
.PHONY: paper-004
paper-004:
	$(SUBMAKE) all
	@FULL=$(FULL) $(MEASURE_PY) paper-004

# make star-kills: a parallel file of virtual processors is being written when something ends, at STAR_KILLS= moments
.PHONY: star-kills
star-kills:
	$(SUBMAKE) all guest $(B)/tests/machine/test_star_kills
	@STAR_KILLS=$(or $(STAR_KILLS),100) $(B)/tests/machine/test_star_kills

# make soak: many machines started and stopped in a row, none of which may hang or leave anything behind
SOAK ?= 200
.PHONY: soak
soak:
	$(SUBMAKE) $(B)/tests/machine/test_ends
	@SOAK=$(SOAK) $(B)/tests/machine/test_ends --filter 'ends/leave_nothing_after_many_starts'

# make exact: SEEDS random programs of each kind, from FIRST on, run ahead and in the slow reference mode
SEEDS ?= 20
FIRST ?= 1
.PHONY: exact
exact:
	$(SUBMAKE) all guest $(B)/tests/machine/test_exact
	@SEEDS=$(SEEDS) FIRST=$(FIRST) $(B)/tests/machine/test_exact

# make sched: PLAYS random plays of harts without QEMU, from seed FIRST on, ahead and in strict mode
PLAYS ?= 20000
.PHONY: sched
sched:
	$(SUBMAKE) $(B)/tests/emu/test_sched_random
	@PLAYS=$(PLAYS) FIRST=$(FIRST) $(B)/tests/emu/test_sched_random

# make repeat: RUNS runs each of 8, 64 and 512 nodes (at most NODES), disturbed in every way: one hash of each size
RUNS ?= 10
NODES ?= 512
.PHONY: repeat
repeat:
	$(SUBMAKE) all guest $(B)/tests/machine/test_repeat
	@RUNS=$(RUNS) NODES=$(NODES) $(B)/tests/machine/test_repeat -j1

# make bench: figures of docs/performance.md, on this host. ROWS=name,... some of them, LARGE=1 those of 4096 nodes and
# more, too, RUNS=n the best of n runs
SHELL_TESTS += tests/bench/test_bench.sh
.PHONY: bench
bench:
	$(SUBMAKE) all guest
	@$(MEASURE_PY) bench

# make racks: nodes on several hosts: ends and failures, random programs, 8 to 512 nodes, disturbed, and the
# demonstration, on 1 to 5 racks, what it costs
.PHONY: racks
racks:
	$(SUBMAKE) all host-tests
	@tests/run.sh $(B) tests/emu/test_racks.sh
	@RACKS=1 $(B)/tests/machine/test_exact -j1 --filter 'exact/is_every*'
	@RUNS=2 NODES=512 $(B)/tests/machine/test_repeat -j1 --filter 'repeat/*_on_racks'
	@$(MEASURE_PY) demo >$(B)/demo.here
	@for n in 2 3 4 6; do \
	    LAUNCH="mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np $$n" $(MEASURE_PY) demo | \
	        cmp $(B)/demo.here - && echo "the demonstration is the same on $$((n - 1)) rack(s)" || exit 1; done
	@ROWS='racks_*' LARGE=1 $(MEASURE_PY) bench

# make bench-racks: what more hosts would give
.PHONY: bench-racks
bench-racks:
	$(SUBMAKE) all guest
	@$(MEASURE_PY) racks

# make bench-processors: what more processors of the host would give
.PHONY: bench-processors
bench-processors:
	$(SUBMAKE) all guest
	@$(MEASURE_PY) processors

# make bench-counted: what the plugin costs a node that computes, by the instructions of the host
ifeq ($(shell uname -m),x86_64)
TEST_PROGRAMS += $(B)/tests/bench/counted
$(B)/tests/bench/counted: tests/bench/counted.c tests/bench/counted.S
	@mkdir -p $(@D)
	$(CC) $(filter-out $(SANITIZERS),$(HOST_CFLAGS)) -no-pie -o $@ $^
.PHONY: bench-counted
bench-counted: $(B)/tests/bench/counted
	@$<
endif

# make bench-net: the bare network's speed and shapes, and all of its random comparisons with the reference
NET_SETS ?= 10000
.PHONY: bench-net
bench-net:
	$(SUBMAKE) $(B)/tests/emu/bench_net $(B)/tests/emu/test_net_reference
	@$(B)/tests/emu/bench_net
	@NET_SETS=$(NET_SETS) $(B)/tests/emu/test_net_reference

# make paper-000: the study of [P0], as a report and in docs/papers/000.md. Takes minutes.
.PHONY: paper-000
paper-000: setup-tests
	$(SUBMAKE) all guest
	@$(MEASURE_PY) paper-000

# make study: the speed-up of channel-disjoint routings. Needs gnuplot; boots 1024 nodes. STUDY_DIM=5: a smaller cube.
STUDY_DIM ?= 10
.PHONY: study
study: setup-tests
	$(SUBMAKE) all guest
	@$(MEASURE_PY) study $(STUDY_DIM)

# make figures: every virtual time of README, docs/ and the manual pages, measured and written there: tables, and the
# outputs of commands
.PHONY: figures
figures:
	$(SUBMAKE) all guest
	@$(MEASURE_PY) figures
	@tests/docs/test_commands.sh $(B) --write

# make torture: 100,000 messages on 32 nodes; the same with parity errors, and with more of them and shorter messages
# (docs/network.md says why); random groups with parity errors. make fuzz-calls: 1,000,000 calls of the kernel on 8
SEED ?= 1
TORTURE_ROUNDS ?= 625
.PHONY: torture fuzz-calls
torture:
	$(SUBMAKE) all guest
	@mkdir -p $(B)/torture
	@for rate in 1 5; do \
	    echo "dim = 5; faults = ( { parity = $$rate; seed = $(SEED); } );" >$(B)/torture/noise$$rate.conf; done
	$(B)/bin/ncube run -d 5 $(B)/guest/torture $(TORTURE_ROUNDS) $(SEED)
	$(B)/bin/ncube run -d 5 -m $(B)/torture/noise1.conf $(B)/guest/torture $(TORTURE_ROUNDS) $(SEED)
	$(B)/bin/ncube run -d 5 -m $(B)/torture/noise5.conf $(B)/guest/torture $(TORTURE_ROUNDS) $(SEED) 5 14
	for seed in 1 2 3 4 5; do \
	    $(B)/bin/ncube run -d 5 -m $(B)/torture/noise5.conf $(B)/guest/exact_groups groups $$seed >/dev/null || exit; done
fuzz-calls:
	$(SUBMAKE) all guest
	@$(B)/bin/ncube run -d 3 $(B)/guest/calls 125000 $(SEED) 2>&1 | \
	    grep -v 'refused: the front end reads no' | tee /dev/stderr | grep -qx passed
