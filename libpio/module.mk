# libpio: what images/module.mk makes lib/libpio.a of, and the tests on the host, where a fake transport stands in.

PIO_SRCS := $(addprefix libpio/,file/map.c file/pending.c file/layout.c file/fail.c file/store.c file/change.c \
    file/open.c file/pieces.c file/table.c file/shared_state.c file/transfer.c file/transfer_end.c file/passes.c \
    file/rw.c file/starts.c file/seek.c file/viewed.c file/setview.c file/rename.c file/preallocate.c)
MAP_SRCS := $(addprefix libpio/map/,falls.c pattern.c places.c pattern_text.c pattern_format.c \
    pattern_wire.c plan.c plan_move.c plan_project.c window.c) vertex/shared/text.c
NDEVICE_SRCS := $(addprefix libpio/,ndevices/ioctl.c ndevices/mapped.c ndevices/global.c ndevices/global_call.c \
    ndevices/nredist.c ndevices/striped.c ndevices/striped_names.c pipes/pipe.c pipes/pipe_end.c pipes/pipe_message.c \
    pipes/pipe_poll.c pipes/pipe_read.c pipes/pipe_write.c)
GROUP_SRCS := $(addprefix libpio/group/,members.c collect.c stream.c halves.c operations.c group.c group_make.c \
    parts.c pacing.c two_phase.c two_phase_window.c)
MPI_SRCS := $(wildcard libpio/mpi/*/*.c)
CFS_CORE := $(addprefix libpio/cfs/,cfs_async.c cfs_check.c cfs_file.c cfs_grow.c cfs_header.c cfs_machine.c \
    cfs_moves.c)
CFS_SRCS := $(CFS_CORE) $(addprefix libpio/cfs/,cfs_calls.c cfs_modes.c cfs_result.c cfs_told.c \
    cfs_device.c)
CLF_CORE := $(addprefix libpio/clusterfile/,clf_ask.c clf_attach.c clf_file.c clf_group.c clf_layout.c clf_meet.c \
    clf_list.c clf_manager.c clf_move.c clf_paths.c clf_types.c clf_view.c clf_ways.c)
CLF_SRCS := $(CLF_CORE) $(addprefix libpio/clusterfile/,clf_calls.c clf_device.c clf_redistribute.c clf_told.c)
# What clients of families of requests have in common
SERVERS_CORE := libpio/servers/server_folders.c libpio/servers/server_volumes.c
SERVERS_SRCS := $(SERVERS_CORE) $(addprefix libpio/servers/,server_told.c server_traps.c)
TWO_PHASE := $(addprefix libpio/group/two_phase,.c _window.c)
# Parallel files of virtual processors: what needs no node, and the rest
STAR_CORE := $(addprefix libpio/star/,shape.c row_order.c segments.c detect.c meta.c scopes.c star_nodes.c \
    star_table.c row_move.c star_ahead.c star_behind.c star_buffer.c star_flush.c star_ib.c star_blocks.c \
    star_directory.c star_entries.c star_parts.c star_transfer.c star_seek.c star_stdio.c star_open.c store_unix.c)
STAR_SRCS := $(STAR_CORE) $(addprefix libpio/star/,star_modes.c star_scalar.c star_sfopen.c store_pio.c)
LIBPIO_SRCS := $(MAP_SRCS) $(GROUP_SRCS) $(PIO_SRCS) libpio/file/transport_vertex.c $(NDEVICE_SRCS) \
    $(MPI_SRCS) $(STAR_SRCS) $(SERVERS_SRCS) $(CFS_SRCS) $(CLF_SRCS)

# A machine of volumes in memory
FAKE := $(addprefix tests/libpio/,fake.c fake_volumes.c fake_calls.c fake_transfers.c random_pattern.c)

$(eval $(call host_test,libpio/test_pending,libpio/file/pending.c,))
$(eval $(call host_test,libpio/test_layout,libpio/file/layout.c $(MAP_SRCS),))
$(eval $(call host_test,libpio/test_open,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))
RW_TEST := tests/libpio/rw_files.c $(FAKE) $(PIO_SRCS) $(MAP_SRCS)
$(eval $(call host_test,libpio/test_rw,$(RW_TEST),))
$(eval $(call host_test,libpio/test_rw_failures,$(RW_TEST),))
$(eval $(call host_test,libpio/test_starts,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))
$(eval $(call host_test,libpio/test_seek,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))

$(eval $(call host_test,libpio/test_mapped,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))
$(eval $(call host_test,libpio/test_rename,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))
$(eval $(call host_test,libpio/test_change,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))
$(eval $(call host_test,libpio/test_preallocate,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))
SEQUENCES_TEST := $(FAKE) tests/libpio/sequences.c $(PIO_SRCS) $(MAP_SRCS)
$(eval $(call host_test,libpio/test_sequences,$(SEQUENCES_TEST),))
$(eval $(call host_test,libpio/test_viewed,$(FAKE) $(PIO_SRCS) $(MAP_SRCS),))

PATTERN_TEST := tests/libpio/random_pattern.c $(MAP_SRCS)
$(eval $(call host_test,libpio/test_map,libpio/file/map.c $(PATTERN_TEST)))
$(eval $(call host_test,libpio/test_pattern,$(PATTERN_TEST)))
$(eval $(call host_test,libpio/test_pattern_text,$(PATTERN_TEST)))
$(eval $(call host_test,libpio/test_pattern_wire,$(PATTERN_TEST)))
$(eval $(call host_test,libpio/test_window,$(PATTERN_TEST)))

# Nodes that are processes
STAR_TEST := $(addprefix tests/libpio/,fake_group.c star_program.c unstar.c) $(STAR_CORE) $(TWO_PHASE) \
    $(MAP_SRCS)
$(foreach name,star star_failures star_files,$(eval $(call host_test,libpio/test_$(name),$(STAR_TEST),-lpthread)))
$(eval $(call host_test,libpio/test_two_phase,tests/libpio/fake_group.c tests/libpio/random_pattern.c $(TWO_PHASE) \
    $(STAR_CORE) $(MAP_SRCS),-lpthread))
STAR_PARTS := $(addprefix libpio/star/,shape.c row_order.c segments.c detect.c meta.c)
$(eval $(call host_test,libpio/test_star_parts,tests/libpio/unstar.c $(STAR_PARTS) $(MAP_SRCS)))

# Against Open MPI and HDF5, where they are installed
SHELL_TESTS += tests/libpio/test_judges.sh tests/libpio/test_mpi.sh

$(eval $(call host_test,libpio/test_mapped_device,libpio/ndevices/mapped.c $(PATTERN_TEST)))

# make check-patterns: random patterns and pairs under the sanitizers; PATTERN_ROUNDS= (default 100000)
.PHONY: check-patterns
check-patterns:
	@mkdir -p $(B)/tests/libpio
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) -o $(B)/tests/libpio/patterns \
	    tests/libpio/test_pattern.c $(PATTERN_TEST) -lcriterion
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) -o $(B)/tests/libpio/packed \
	    tests/libpio/test_pattern_wire.c $(PATTERN_TEST) -lcriterion
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) -o $(B)/tests/libpio/windows \
	    tests/libpio/test_window.c $(PATTERN_TEST) -lcriterion
	@$(B)/tests/libpio/windows
	@PATTERN_ROUNDS=$(or $(PATTERN_ROUNDS),100000) $(B)/tests/libpio/patterns
	@$(B)/tests/libpio/packed

# make check-pio: random sequences of PIO calls under the sanitizers; SEQUENCES= (default 100000). Then some in the
# machine: SEQUENCES_IN_MACHINE= (default 500)
.PHONY: check-pio
check-pio:
	@mkdir -p $(B)/tests/libpio
	$(CC) $(HOST_CFLAGS) $(SANITIZERS) -o $(B)/tests/libpio/sequences \
	    tests/libpio/test_sequences.c $(SEQUENCES_TEST) -lcriterion
	@SEQUENCES=$(or $(SEQUENCES),100000) $(B)/tests/libpio/sequences
	$(SUBMAKE) $(B)/tests/machine/test_pio
	@SEQUENCES_IN_MACHINE=$(or $(SEQUENCES_IN_MACHINE),500) $(B)/tests/machine/test_pio --filter 'pio/random*'

# make bench-map: what patterns and plans cost on this host, beside Open MPI where that is installed
$(B)/tests/libpio/bench_map: $(patsubst %.c,$(B)/obj/%.o,tests/libpio/bench_map.c $(MAP_SRCS))
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -o $@ $^
.PHONY: bench-map
bench-map:
	$(SUBMAKE) $(B)/tests/libpio/bench_map
	@$(B)/tests/libpio/bench_map
	@if command -v mpicc >/dev/null; then \
	    mpicc $(HOST_CFLAGS) -o $(B)/tests/libpio/bench_mpi tests/libpio/bench_mpi.c $(MAP_SRCS) && \
	    OMPI_MCA_btl=self OMPI_MCA_ess_singleton_isolated=1 $(B)/tests/libpio/bench_mpi; \
	else echo "skipped: MPI_Pack: libopenmpi-dev is not installed"; fi

# make check-mpi: the programs of tests/mpi on more numbers of ranks, against Open MPI; MPI_SIZES= (default 1 2 3 4 7 8
# 13 16); and MPI_CASES= random cases of types and of collective calls (default 10000)
.PHONY: check-mpi
check-mpi:
	$(SUBMAKE) all
	@MPI_CASES=$(or $(MPI_CASES),10000) MPI_SIZES="$(or $(MPI_SIZES),1 2 3 4 7 8 13 16)" \
	    tests/run.sh -j 1 $(B) tests/libpio/test_mpi.sh
