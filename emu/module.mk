# emu/: the host side.

# Models and machine file: unit tests need no QEMU.
$(eval $(call host_test,emu/test_eventq,emu/eventq.c))
$(eval $(call host_test,emu/test_topo,emu/topo.c))
$(eval $(call host_test,emu/test_net,emu/net.c emu/memory.c emu/topo.c emu/eventq.c))
$(eval $(call host_test,emu/test_net_reference,tests/emu/reference.c emu/net.c emu/memory.c emu/topo.c emu/eventq.c))
$(eval $(call host_test,emu/test_net_load,tests/emu/traffic.c emu/net.c emu/memory.c emu/topo.c emu/eventq.c))
$(eval $(call host_program,tests/emu/bench_net,\
    tests/emu/bench_net.c tests/emu/traffic.c emu/net.c emu/memory.c emu/topo.c emu/eventq.c))
$(eval $(call host_test,emu/test_fault,emu/fault.c emu/topo.c,-lm))
$(eval $(call host_test,emu/test_disk,emu/disk.c emu/disk_model.c))
$(eval $(call host_test,emu/test_config,emu/config.c emu/fault.c emu/software.c emu/setting.c emu/topo.c \
    emu/disk_model.c,-lconfig))
# Not a test: the tables behind the choice of the default drive in docs/timing.md.
$(eval $(call host_program,tests/emu/drive_study,tests/emu/drive_study.c emu/disk.c emu/disk_model.c))

$(eval $(call host_test,emu/test_paths,emu/paths.c emu/topo.c))
SHELL_TESTS += tests/emu/test_tools.sh

# What the plugin adds to blocks and instructions: a test, and make instrumentation prints its counts.
SHELL_TESTS += tests/emu/test_instrumentation.sh
.PHONY: instrumentation
instrumentation:
	$(SUBMAKE) all
	@SHOW=1 tests/emu/test_instrumentation.sh $(B)

# The product: everything but the plugin and xnc is ncube; the plugin is itself and the cost table.
NCUBE_SRCS := $(filter-out emu/plugin.c emu/xnc.c,$(wildcard emu/*.c))
$(eval $(call host_program,bin/ncube,$(NCUBE_SRCS),-lconfig -lelf -ldw -ljansson))
$(eval $(call host_program,bin/xnc,emu/xnc.c emu/link.c emu/launch.c emu/options.c emu/load.c,-lelf))

PROGRAMS += $(B)/lib/plugin.so
$(B)/lib/plugin.so: $(B)/obj/emu/plugin.o $(B)/obj/emu/cost.o
	@mkdir -p $(@D)
	$(CC) -shared -fvisibility=hidden -o $@ $^

include emu/front.mk

$(eval $(call host_test,emu/test_cost,emu/cost.c))
$(eval $(call host_test,emu/test_text_pool,emu/text_pool.c emu/memory.c))
$(eval $(call host_test,emu/test_clocks,emu/clocks.c emu/memory.c))
$(eval $(call host_test,emu/test_sched,emu/sched.c emu/clocks.c emu/account.c emu/memory.c emu/harts.c emu/eventq.c \
    emu/signals.c,-lpthread))
