# emu/: the host side.

# What reads input from outside, for the fuzzer (tests/module.mk)
CONFIG_SOURCES := emu/config/config.c emu/config/config_cache.c emu/config/config_cfs.c emu/config/config_costs.c \
    emu/config/config_faults.c emu/config/config_striped.c libpio/file/layout.c $(wildcard libpio/map/*.c) \
    vertex/shared/text.c emu/model/fault.c \
    emu/model/timing.c emu/config/setting.c emu/config/overrides.c emu/config/machine_file.c \
    emu/base/beside.c emu/base/nearest.c emu/base/inputs.c emu/base/memory.c emu/network/topo.c \
    emu/model/disk_model.c
TIMELINE_SOURCES := emu/report/timeline.c emu/report/timeline_read.c emu/report/facts.c \
    emu/report/critical.c emu/report/cells.c emu/report/findings.c emu/trace/trace_put.c emu/base/memory.c \
    emu/base/progress.c
GDB_SOURCES := emu/debug/rsp.c emu/debug/commands.c emu/debug/target.c emu/debug/target_places.c \
    emu/debug/target_breaks.c emu/debug/breakpoints.c emu/qemu/breaks.c emu/qemu/agent_expression.c \
    emu/qemu/page_table.c emu/qemu/cost.c emu/debug/core.c emu/debug/session.c emu/debug/monitor.c emu/debug/trail.c \
    emu/debug/travel.c emu/base/memory.c
# The clients of a machine that is kept up, whose front end is the real one (tests/fuzz/link.c)
CLIENTS_SOURCES := emu/link/clients.c emu/link/life_acts.c emu/link/link.c emu/link/launch.c emu/link/hosts.c \
    emu/link/machine_report.c emu/base/options.c emu/base/beside.c emu/base/signals.c emu/base/starved.c \
    emu/base/json_text.c \
    $(wildcard emu/front/*.c) $(wildcard emu/job/*.c) emu/network/topo.c emu/model/owed_notices.c emu/base/alike.c \
    $(wildcard emu/hostfs/*.c) \
    vertex/shared/file_parts.c emu/base/progress.c emu/base/memory.c $(wildcard emu/record/*.c) emu/base/new_file.c

SHELL_TESTS += tests/emu/test_experiments.sh tests/emu/test_tools.sh tests/emu/test_map_cmd.sh \
    tests/emu/test_disk_cmd.sh tests/emu/test_star_cmd.sh tests/emu/test_no_turns.sh \
    tests/emu/test_racks.sh \
    tests/emu/test_options.sh tests/emu/test_report_cmd.sh tests/emu/test_progress.sh

# What the plugin adds to blocks and instructions: a test, and make instrumentation prints its counts.
SHELL_TESTS += tests/emu/test_instrumentation.sh
.PHONY: instrumentation
instrumentation:
	$(SUBMAKE) all guest
	@SHOW=1 tests/emu/test_instrumentation.sh $(B)

# A report's style sheets and scripts are part of ncube.
$(B)/obj/emu/report/report_assets.o: emu/report/report_page.css emu/report/report_view.css emu/report/report_view.js \
    emu/report/report_play.js

# The product: everything but the plugin, xnc and libnhost is ncube; the plugin is plugin*.c and the cost table. Tests
# take what they call out of the same archive.
EMU := $(B)/libemu.a
EMU_LIBS := -lconfig -lelf -ldw -ljansson -lz -lm -lext2fs -lcom_err -lncurses -lnettle -lxxhash
$(EMU): $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(wildcard emu/plugin/*.c) emu/cmd/xnc.c emu/cmd/ncube.c \
    emu/cmd/hosts_%.c emu/nhost/% emu/rack/%,$(wildcard emu/*/*.c)) \
    vertex/shared/file_parts.c vertex/shared/text.c $(wildcard libpio/map/*.c) \
    libpio/file/map.c libpio/file/layout.c libpio/group/two_phase.c libpio/group/two_phase_window.c \
    $(filter-out %/star_modes.c %/star_scalar.c %/store_pio.c,$(wildcard libpio/star/*.c)))
	$(call say,AR,$@)
	rm -f $@
	$(AR) rcs $@ $^
$(eval $(call host_program,bin/ncube,emu/cmd/ncube.c emu/cmd/hosts_one.c $(EMU),$(EMU_LIBS)))

# ncube-mpi, where Open MPI is installed (Debian: libopenmpi-dev): the same program, whose nodes other hosts have
MPI_LIBS := $(shell pkg-config --silence-errors --libs ompi-c)
ifneq ($(MPI_LIBS),)
$(B)/obj/emu/rack/ranks.o: HOST_CFLAGS += $(shell pkg-config --cflags ompi-c)
$(eval $(call host_program,bin/ncube-mpi,emu/cmd/ncube.c emu/cmd/hosts_mpi.c $(wildcard emu/rack/*.c) $(EMU),\
    $(EMU_LIBS) $(MPI_LIBS)))
$(eval $(call host_program,tests/emu/ranks_play,tests/emu/ranks_play.c emu/rack/ranks.c emu/rack/ranks_sockets.c \
    emu/rack/ranks_folder.c emu/rack/rack_wire.c $(EMU),$(EMU_LIBS) $(MPI_LIBS)))
# ncube on so many racks, for tests
RACKS := $(patsubst %,$(B)/tests/racks/%,1 2 3 5)
TEST_PROGRAMS += $(RACKS)
$(RACKS): tests/machine/ncube-racks
	@mkdir -p $(@D)
	cp $< $@
endif

# ncube whose QEMUs throw their translated code away at each opportunity, for tests
TEST_PROGRAMS += $(addprefix $(B)/tests/renews/,ncube qemu-system-riscv64)
$(B)/tests/renews/ncube: tests/machine/ncube-renews
	@mkdir -p $(@D)
	cp $< $@
$(B)/tests/renews/qemu-system-riscv64: tests/machine/qemu-renews
	@mkdir -p $(@D)
	cp $< $@

# Tests of single modules, which need no QEMU; some have further sources. bench_net and drive_study are no tests: the
# bare network's speed, and the tables behind the choice of the default drive in docs/timing.md.
EMU_TEST_front := tests/emu/front_play.c
EMU_TEST_front_messages := tests/emu/front_play.c
EMU_TEST_hostfs := tests/emu/served.c
EMU_TEST_hostfs_answers := tests/emu/served.c
EMU_TEST_hostfs_names := tests/emu/served.c
EMU_TEST_net_reference := tests/emu/reference.c
EMU_TEST_net_load := tests/emu/traffic.c
EMU_TEST_map_picture := tests/libpio/random_pattern.c
EMU_TEST_rsp := tests/emu/gdb_target.c
EMU_TEST_sched := tests/emu/sched_play.c tests/emu/sched_player.c
EMU_TEST_sched_random := $(EMU_TEST_sched)
EMU_TEST_turns := emu/plugin/plugin_turns.c emu/plugin/plugin_fiber.c
$(foreach name,$(patsubst tests/emu/test_%.c,%,$(wildcard tests/emu/test_*.c)),\
    $(eval $(call host_test,emu/test_$(name),$(EMU_TEST_$(name)) $(EMU),$(EMU_LIBS))))
$(eval $(call host_program,tests/emu/bench_net,tests/emu/bench_net.c tests/emu/traffic.c $(EMU),$(EMU_LIBS)))
$(eval $(call host_program,tests/emu/drive_study,tests/emu/drive_study.c $(EMU),$(EMU_LIBS)))

$(eval $(call host_program,bin/xnc,emu/cmd/xnc.c emu/cmd/job_options.c emu/link/link.c emu/link/launch.c \
    emu/base/options.c emu/base/nearest.c emu/job/loader.c emu/job/shares.c,-lelf))

# libnhost.a, for host programs: one object, which defines nothing but the names of nhost.h.
PROGRAMS += $(B)/host/lib/libnhost.a $(B)/host/include/nhost.h $(B)/host/include/ncube/nhost.h
NHOST_OBJS := $(patsubst %,$(B)/obj/%.o,emu/nhost/nhost emu/base/nearest emu/link/link emu/link/launch emu/job/shares)
$(B)/host/lib/libnhost.a: $(NHOST_OBJS)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(LD) -r -o $(@D)/nhost.o $^
	objcopy $(foreach n,nopen nclose nodeset rexecl rexecv nload nwrite nread ntest nwait nfailed,-G $n) $(@D)/nhost.o
	rm -f $@
	$(AR) rcs $@ $(@D)/nhost.o
	rm $(@D)/nhost.o
# Codes of the time name either.
$(B)/host/include/nhost.h $(B)/host/include/ncube/nhost.h: emu/nhost/nhost.h
	@mkdir -p $(@D)
	cp $< $@

PROGRAMS += $(B)/lib/plugin.so
PLUGIN_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard emu/plugin/*.c))
$(PLUGIN_OBJS): HOST_CFLAGS += -fvisibility=hidden
# QEMU has no sanitizers' library, nor do host programs that link libnhost.
PLUGIN_MORE := $(B)/obj/emu/qemu/cost.o $(B)/obj/emu/qemu/inside.o $(B)/obj/emu/qemu/process_copy.o \
    $(B)/obj/emu/qemu/breaks.o $(B)/obj/emu/qemu/agent_expression.o $(B)/obj/emu/qemu/page_table.o \
    $(B)/obj/emu/base/memory_file.o
$(PLUGIN_OBJS) $(PLUGIN_MORE) $(NHOST_OBJS): HOST_CFLAGS := $(filter-out $(SANITIZERS),$(HOST_CFLAGS))
$(B)/lib/plugin.so: HOST_CFLAGS := $(filter-out $(SANITIZERS),$(HOST_CFLAGS))
$(B)/lib/plugin.so: $(filter-out %/plugin_inside.o,$(PLUGIN_OBJS)) $(PLUGIN_MORE)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CC) -shared -o $@ $^

# The plugin with all of ncube inside (emu/qemu/inside.h)
ifndef SANITIZE
PROGRAMS += $(B)/lib/ncube.so
$(B)/obj/emu/cmd/ncube_inside.o: emu/cmd/ncube.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(CC) $(HOST_CFLAGS) -fPIC -Dmain=ncube_main -MMD -MP -c -o $@ $<
$(B)/lib/ncube.so: $(PLUGIN_OBJS) $(B)/obj/emu/cmd/ncube_inside.o $(B)/obj/emu/cmd/hosts_one.o $(EMU)
	$(call say,LD,$@)
	$(CC) -shared -Wl,-Bsymbolic -o $@ $^ $(EMU_LIBS)
endif
