# Vertex, the node kernel: build/lib/vertex.elf, one image for compute and I/O nodes.

VERTEX_C := boot/machine_mode.c boot/kernel.c base/panic.c shared/text.c memory/copy.c memory/string.c memory/page.c \
            memory/kmem.c memory/vm_tables.c memory/vm.c memory/vm_text.c memory/vm_bytes.c base/ncu_calls.c \
            trap/event.c message/queue.c message/buffers.c message/channels.c message/sends.c message/console_line.c \
            message/resend.c trap/trap.c process/dispatch.c trap/timer.c trap/signal.c message/delivery.c \
            message/lost.c message/pace.c process/report.c process/returns.c process/kin.c process/fork.c \
            process/proc.c process/proc_end.c process/tree.c process/load.c process/pipe_open.c process/exec.c \
            process/exec_here.c trap/syscall.c message/calls_send.c message/calls_read.c message/calls_buffers.c \
            file/path.c file/request.c file/name.c file/file.c file/node_pipe.c file/poll_wait.c file/async.c \
            file/ask.c file/watch.c file/drive_traps.c message/stated.c message/replies.c message/sync.c
VERTEX_S := boot/boot.S trap/entry.S
VERTEX_OBJECTS := $(patsubst %.S,$(B)/rv/vertex/%.o,$(VERTEX_S)) $(patsubst %.c,$(B)/rv/vertex/%.o,$(VERTEX_C))

# No floating point in the kernel: a trap need not save the program's FP registers.
# Registers are saved where a function begins, as by gcc 12, also where it finds nothing to do: the scheduler relies on
# how long the shortest ways take (tests/machine/test_kernel_ways.c).
RV_FLAGS_vertex := -march=rv64imac_zicsr_zifencei -mabi=lp64 -ffreestanding -fno-pic -msmall-data-limit=0 \
                   -fno-tree-loop-distribute-patterns -fno-common \
                   -fno-shrink-wrap-separate -flto=auto

PROGRAMS += $(B)/lib/vertex.elf
$(B)/lib/vertex.elf: $(VERTEX_OBJECTS) vertex/boot/vertex.ld
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(RV)gcc $(RV_CFLAGS) $(RV_FLAGS_vertex) -nostdlib -static -Wl,--build-id=none -Wl,-z,max-page-size=4096 \
	    -T vertex/boot/vertex.ld -o $@ $(VERTEX_OBJECTS)

# The kernel's host tests run under the sanitizers. $(call vertex_test,vertex/test_kmem,vertex/memory/kmem.c ...)
$(B)/sanitized/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) -MMD -MP -c -o $@ $<
define vertex_test
HOST_TESTS += $$(B)/tests/$(1)
$$(B)/tests/$(1): $$(patsubst %.c,$$(B)/sanitized/%.o,tests/$(1).c tests/certificates.c $(2))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(CC) $$(HOST_CFLAGS) $(SANITIZERS) -o $$@ $$^ $$(CRITERION)
endef

PAGES_TEST := tests/vertex/pages.c tests/vertex/stub_panic.c
$(eval $(call vertex_test,vertex/test_page,vertex/memory/page.c $(PAGES_TEST)))
$(eval $(call vertex_test,vertex/test_kmem,vertex/memory/kmem.c vertex/memory/page.c $(PAGES_TEST)))
$(eval $(call vertex_test,vertex/test_queue,vertex/message/queue.c vertex/memory/kmem.c vertex/memory/page.c \
    $(PAGES_TEST)))
$(eval $(call vertex_test,vertex/test_buffers))
$(B)/tests/vertex/test_buffers: | $(B)/lib/vertex.elf
$(eval $(call vertex_test,vertex/test_copy,vertex/memory/copy.c))
$(eval $(call vertex_test,vertex/test_path,vertex/file/path.c))
$(eval $(call vertex_test,vertex/test_tree,vertex/process/tree.c))
$(eval $(call vertex_test,vertex/test_text,vertex/shared/text.c))
$(eval $(call vertex_test,vertex/test_requests,tests/vertex/request_node.c \
    vertex/file/ask.c vertex/file/watch.c vertex/file/async.c vertex/file/file.c vertex/file/node_pipe.c \
    vertex/file/request.c vertex/file/path.c vertex/file/name.c vertex/memory/copy.c \
    vertex/message/buffers.c vertex/message/channels.c vertex/message/sends.c vertex/message/queue.c))
