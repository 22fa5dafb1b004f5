# Vertex, the node kernel: build/lib/vertex.elf, one image for compute and I/O nodes.

VERTEX_C := start.c main.c console.c text.c copy.c string.c page.c kmem.c vm.c ncu.c event.c queue.c msg.c resend.c \
            trap.c sched.c timer.c signal.c mail.c lost.c report.c proc.c tree.c load.c rexec.c syscall.c message.c \
            path.c request.c file.c async.c disk.c
VERTEX_S := boot.S entry.S
VERTEX_OBJECTS := $(patsubst %.S,$(B)/rv/vertex/%.o,$(VERTEX_S)) $(patsubst %.c,$(B)/rv/vertex/%.o,$(VERTEX_C))

# No floating point in the kernel: a trap need not save the program's FP registers.
RV_FLAGS_vertex := -march=rv64imac_zicsr_zifencei -mabi=lp64 -ffreestanding -fno-pic -msmall-data-limit=0 \
                   -fno-tree-loop-distribute-patterns -fno-common -flto

PROGRAMS += $(B)/lib/vertex.elf
$(B)/lib/vertex.elf: $(VERTEX_OBJECTS) vertex/vertex.ld
	@mkdir -p $(@D)
	$(RV)gcc $(RV_CFLAGS) $(RV_FLAGS_vertex) -nostdlib -static -Wl,--build-id=none -Wl,-z,max-page-size=4096 \
	    -T vertex/vertex.ld -o $@ $(VERTEX_OBJECTS)

$(eval $(call host_test,vertex/test_page,vertex/page.c tests/vertex/stub_panic.c))
$(eval $(call host_test,vertex/test_kmem,vertex/kmem.c vertex/page.c tests/vertex/stub_panic.c))
$(eval $(call host_test,vertex/test_queue,vertex/queue.c))
$(eval $(call host_test,vertex/test_msg))
$(eval $(call host_test,vertex/test_copy,vertex/copy.c))
$(eval $(call host_test,vertex/test_path,vertex/path.c))
$(eval $(call host_test,vertex/test_tree,vertex/tree.c))
$(eval $(call host_test,vertex/test_text,vertex/text.c))
