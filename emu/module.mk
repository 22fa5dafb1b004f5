# emu/: the host side.

# Models and machine file: unit tests need no QEMU.
$(eval $(call host_test,emu/test_eventq,emu/time/eventq.c emu/base/memory.c))
$(eval $(call host_test,emu/test_topo,emu/network/topo.c))
$(eval $(call host_test,emu/test_net,emu/network/net.c emu/base/memory.c emu/network/topo.c emu/time/eventq.c))
$(eval $(call host_test,emu/test_net_reference,tests/emu/reference.c emu/network/net.c emu/base/memory.c \
    emu/network/topo.c emu/time/eventq.c))
$(eval $(call host_test,emu/test_net_load,tests/emu/traffic.c emu/network/net.c emu/base/memory.c emu/network/topo.c \
    emu/time/eventq.c))
$(eval $(call host_program,tests/emu/bench_net,\
    tests/emu/bench_net.c tests/emu/traffic.c emu/network/net.c emu/base/memory.c emu/network/topo.c emu/time/eventq.c))
$(eval $(call host_test,emu/test_fault,emu/model/fault.c emu/network/topo.c,-lm))
$(eval $(call host_test,emu/test_ncu,$(wildcard emu/model/ncu*.c) emu/network/net.c emu/model/fault.c \
    emu/model/fault_plan.c emu/model/disk.c emu/model/disk_model.c emu/network/topo.c $(wildcard emu/trace/*.c) \
    emu/base/memory.c emu/base/nodeset.c emu/time/eventq.c,-lm))
$(eval $(call host_test,emu/test_trace,$(wildcard emu/trace/*.c) emu/network/topo.c emu/base/memory.c,-ljansson))
$(eval $(call host_test,emu/test_disk,emu/model/disk.c emu/model/disk_model.c emu/base/memory.c))
CONFIG_SOURCES := emu/config/config.c emu/config/config_cache.c emu/config/config_costs.c \
    emu/config/config_faults.c \
    emu/config/config_striped.c libpio/file/layout.c $(wildcard libpio/map/*.c) vertex/shared/text.c \
    emu/model/fault.c emu/model/software.c emu/config/setting.c emu/config/overrides.c emu/config/machine_file.c \
    emu/base/beside.c emu/base/nearest.c emu/base/inputs.c emu/base/memory.c emu/network/topo.c \
    emu/model/disk_model.c
$(eval $(call host_test,emu/test_config,$(CONFIG_SOURCES),-lconfig))
# Not a test: the tables behind the choice of the default drive in docs/timing.md.
$(eval $(call host_program,tests/emu/drive_study,tests/emu/drive_study.c emu/model/disk.c emu/model/disk_model.c \
    emu/base/memory.c))

$(eval $(call host_test,emu/test_paths,emu/tools/paths.c emu/network/topo.c emu/base/memory.c))
$(eval $(call host_test,emu/test_top_view,emu/tools/top_view.c emu/base/memory.c,-ljansson))
TIMELINE_SOURCES := emu/report/timeline.c emu/report/timeline_read.c emu/report/facts.c \
    emu/report/critical.c emu/report/cells.c emu/trace/trace_put.c emu/base/memory.c emu/base/progress.c
$(eval $(call host_test,emu/test_timeline,$(TIMELINE_SOURCES),-ljansson -lz -lm))
$(eval $(call host_test,emu/test_report,emu/link/machine_report.c emu/base/memory.c,-ljansson))
$(eval $(call host_test,emu/test_queueing,emu/tools/queueing_exact.c emu/tools/queueing_constant.c \
    emu/time/eventq.c emu/base/memory.c,-lm))
$(eval $(call host_test,emu/test_map_picture,emu/tools/map_picture.c emu/base/memory.c tests/libpio/random_pattern.c \
    $(wildcard libpio/map/*.c) vertex/shared/text.c))
SHELL_TESTS += tests/emu/test_experiments.sh tests/emu/test_tools.sh tests/emu/test_map_cmd.sh \
    tests/emu/test_disk_cmd.sh tests/emu/test_options.sh tests/emu/test_report_cmd.sh tests/emu/test_progress.sh

# What the plugin adds to blocks and instructions: a test, and make instrumentation prints its counts.
SHELL_TESTS += tests/emu/test_instrumentation.sh
.PHONY: instrumentation
instrumentation:
	$(SUBMAKE) all guest
	@SHOW=1 tests/emu/test_instrumentation.sh $(B)

# A report's style sheet and script are part of ncube.
$(B)/obj/emu/report/report_assets.o: emu/report/report_page.css emu/report/report_view.css emu/report/report_view.js

# The product: everything but the plugin and xnc is ncube; the plugin is plugin*.c and the cost table.
NCUBE_SRCS := $(filter-out $(wildcard emu/qemu/plugin*.c) emu/cmd/xnc.c emu/nhost/%,$(wildcard emu/*/*.c)) \
    vertex/shared/file_parts.c vertex/shared/text.c $(wildcard libpio/map/*.c) libpio/file/map.c libpio/file/layout.c
$(eval $(call host_program,bin/ncube,$(NCUBE_SRCS),-lconfig -lelf -ldw -ljansson -lz -lm \
    -lext2fs -lcom_err -lncurses))
$(eval $(call host_program,bin/xnc,emu/cmd/xnc.c emu/cmd/job_options.c emu/link/link.c emu/link/launch.c \
    emu/base/options.c emu/base/nearest.c emu/job/loader.c emu/job/shares.c,-lelf))

# libnhost.a, for host programs: one object, which defines nothing but the names of nhost.h.
PROGRAMS += $(B)/host/lib/libnhost.a $(B)/host/include/nhost.h $(B)/host/include/ncube/nhost.h
NHOST_OBJS := $(patsubst %,$(B)/obj/%.o,emu/nhost/nhost emu/link/link emu/link/launch emu/job/shares)
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
PLUGIN_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard emu/qemu/plugin*.c))
$(PLUGIN_OBJS): HOST_CFLAGS += -fvisibility=hidden
# QEMU has no sanitizers' library, nor do host programs that link libnhost.
$(PLUGIN_OBJS) $(B)/obj/emu/qemu/cost.o $(NHOST_OBJS): HOST_CFLAGS := $(filter-out $(SANITIZERS),$(HOST_CFLAGS))
$(B)/lib/plugin.so: HOST_CFLAGS := $(filter-out $(SANITIZERS),$(HOST_CFLAGS))
$(B)/lib/plugin.so: $(PLUGIN_OBJS) $(B)/obj/emu/qemu/cost.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(CC) -shared -o $@ $^

$(eval $(call host_test,emu/test_cost,emu/qemu/cost.c))
$(eval $(call host_test,emu/test_text_pool,emu/qemu/text_pool.c emu/base/memory.c))
$(eval $(call host_test,emu/test_snapshot,emu/qemu/snapshot.c emu/qemu/cabinet.c emu/base/memory.c))
$(eval $(call host_test,emu/test_signals,emu/base/signals.c emu/base/starved.c))
$(eval $(call host_test,emu/test_account,emu/time/account.c))
$(eval $(call host_test,emu/test_clocks,emu/time/clocks.c emu/base/memory.c))
$(foreach name,test_sched test_sched_random,$(eval $(call host_test,emu/$(name),tests/emu/sched_play.c \
    tests/emu/sched_player.c emu/time/sched.c emu/time/sched_process.c emu/time/sched_poll.c emu/time/clocks.c \
    emu/time/account.c emu/base/memory.c emu/qemu/harts.c emu/qemu/processors.c emu/time/eventq.c emu/base/signals.c \
    emu/base/starved.c, \
    -lpthread)))
$(eval $(call host_test,emu/test_harts,emu/qemu/harts.c emu/qemu/processors.c emu/base/memory.c emu/base/signals.c \
    emu/base/starved.c))
$(eval $(call host_test,emu/test_turns,emu/qemu/plugin_turns.c emu/qemu/plugin_fiber.c emu/qemu/harts.c \
    emu/qemu/processors.c emu/base/memory.c emu/base/signals.c emu/base/starved.c,-lpthread -lm))
GDB_SOURCES := emu/debug/rsp.c emu/debug/commands.c emu/debug/documents.c emu/debug/target.c emu/base/memory.c
$(eval $(call host_test,emu/test_rsp,tests/emu/gdb_target.c $(GDB_SOURCES)))
$(eval $(call host_test,emu/test_limits,emu/base/limits.c))
$(eval $(call host_test,emu/test_memory,emu/base/memory.c))
$(eval $(call host_test,emu/test_oneline))
$(eval $(call host_test,emu/test_alike,emu/base/alike.c emu/base/memory.c))
$(eval $(call host_test,emu/test_repeats,emu/front/repeats.c emu/base/alike.c emu/base/memory.c))
$(eval $(call host_test,emu/test_processors,emu/qemu/processors.c))

# The front end's tests; -lelf and -ldw come from libelf-dev and libdw-dev.

HOSTFS_SOURCES := $(wildcard emu/hostfs/*.c) vertex/shared/file_parts.c emu/base/progress.c emu/base/memory.c
FRONT_SOURCES := $(wildcard emu/front/*.c) $(wildcard emu/job/*.c) emu/network/topo.c emu/model/owed.c \
    emu/base/alike.c $(HOSTFS_SOURCES)

# The clients of a machine that is kept up, whose front end is the real one (tests/fuzz/link.c)
CLIENTS_SOURCES := emu/link/clients.c emu/link/link.c emu/link/launch.c emu/link/hosts.c emu/link/machine_report.c \
    emu/base/options.c emu/base/signals.c emu/base/starved.c $(FRONT_SOURCES)

$(eval $(call host_test,emu/test_streams,emu/hostfs/streams.c emu/base/progress.c emu/hostfs/errmap.c \
    emu/base/memory.c))
$(eval $(call host_test,emu/test_lines,emu/hostfs/lines.c emu/hostfs/streams.c emu/base/progress.c \
    emu/hostfs/errmap.c emu/base/memory.c))
$(eval $(call host_test,emu/test_where,emu/job/where.c,-lelf -ldw))
$(eval $(call host_test,emu/test_lives,emu/job/lives.c))
$(eval $(call host_test,emu/test_subcube,emu/job/subcube.c emu/base/memory.c))
$(eval $(call host_test,emu/test_loader,emu/job/loader.c,-lelf))
$(eval $(call host_test,emu/test_hostfs,$(HOSTFS_SOURCES)))
$(eval $(call host_test,emu/test_front,$(FRONT_SOURCES),-lelf -ldw))
$(eval $(call host_test,emu/test_job,$(FRONT_SOURCES),-lelf -ldw))
$(eval $(call host_test,emu/test_link,emu/link/link.c))
$(eval $(call host_test,emu/test_launch,emu/link/launch.c emu/job/shares.c))
