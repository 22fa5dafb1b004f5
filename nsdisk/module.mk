# nsdisk/: the file server. images/ links NSDISK_SRCS for the nodes; the tests link NSDISK_CORE on the host.
#
#   make bench-cache    reads of 4 KB from the data cache in a second, on this host
#   make check-cache    the data cache against its models, a million requests with each setting; power cuts
# The part of the mapping engine that views need
NSDISK_MAP := $(addprefix libpio/map/,falls.c pattern.c places.c pattern_wire.c plan.c plan_move.c)
NSDISK_DATA := $(addprefix nsdisk/ext2/,cache.c data_ask.c data_cache.c data_transfer.c data_write.c)
NSDISK_CORE := $(NSDISK_DATA) $(addprefix nsdisk/,ext2/ext2_alloc.c ext2/ext2_cached.c ext2/ext2_data.c \
    ext2/ext2_dir.c ext2/ext2_direct.c ext2/ext2_group.c ext2/ext2_inode.c ext2/ext2_itable.c ext2/ext2_journal.c \
    ext2/ext2_map.c ext2/ext2_name.c ext2/ext2_rename.c ext2/ext2_super.c ext2/ext2_sync.c ext2/ext2_walk.c \
    serve/merge.c serve/open_table.c serve/serve.c serve/serve_names.c serve/view.c serve/volume_locks.c \
    serve/counters.c serve/family_names.c serve/private_files.c) vertex/shared/file_parts.c vertex/shared/text.c \
    $(NSDISK_MAP)
NSDISK_LOOP := $(addprefix nsdisk/serve/,loop.c loop_aside.c loop_disk.c loop_jobs.c loop_families.c fiber.c)
# The families and their table: a test may have its own
NSDISK_CFS := $(addprefix nsdisk/cfs/,alloc.c block.c cfs_name.c header.c part.c part_disk.c common_pointer.c runs.c \
    server.c waiting.c)
NSDISK_CLF := $(addprefix nsdisk/clusterfile/,clf_access.c clf_name.c clf_parts.c clf_part.c clf_record.c \
    clf_rounds.c clf_server.c)
# The program of a cache manager, beside libpio
MANAGER_SRCS := $(addprefix nsdisk/managers/,cached_file.c manager_part.c peers.c pio_cache.c) \
    $(addprefix nsdisk/clusterfile/,clf_access.c clf_parts.c clf_record.c clf_rounds.c clf_server.c) $(NSDISK_DATA) \
    nsdisk/ext2/ext2_cached.c nsdisk/serve/merge.c nsdisk/serve/view.c
NSDISK_FAMILIES := nsdisk/serve/families.c $(NSDISK_CFS) $(NSDISK_CLF)
NSDISK_SRCS := nsdisk/serve/nsdisk.c nsdisk/serve/in_order.c $(NSDISK_FAMILIES) $(NSDISK_LOOP) $(NSDISK_CORE)

NSDISK_TEST := tests/nsdisk/volume.c $(NSDISK_CORE)
$(eval $(call host_test,nsdisk/test_cache,$(NSDISK_DATA) vertex/shared/text.c))
$(eval $(call host_test,nsdisk/test_data_cache,$(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_data_ask,tests/nsdisk/ask_disk.c $(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_data_bytes,tests/nsdisk/ask_disk.c $(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_files,$(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_names,$(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_mount,$(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_corrupt,$(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_view,tests/libpio/random_pattern.c libpio/map/pattern_text.c $(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_merge,tests/libpio/random_pattern.c nsdisk/serve/in_order.c $(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_loop,tests/nsdisk/several.c tests/nsdisk/drives.c $(NSDISK_FAMILIES) \
    $(NSDISK_LOOP) $(NSDISK_TEST)))
NSDISK_ECHO := tests/nsdisk/echo_family.c
$(eval $(call host_test,nsdisk/test_families,tests/nsdisk/drives.c $(NSDISK_ECHO) $(NSDISK_LOOP) $(NSDISK_TEST)))
CFS_TEST := tests/nsdisk/cfs_lab.c tests/nsdisk/drives.c $(NSDISK_FAMILIES) $(NSDISK_LOOP) $(NSDISK_TEST)
$(eval $(call host_test,nsdisk/test_cfs,$(CFS_TEST)))
$(eval $(call host_test,nsdisk/test_cfs_lasting,$(CFS_TEST)))
# With the client of programs
$(eval $(call host_test,nsdisk/test_cfs_stops,tests/nsdisk/cfs_client.c $(CFS_CORE) $(SERVERS_CORE) $(CFS_TEST)))
# The client of Clusterfile and its servers in one process; some suites leave a server without memory
CLF_WRAP := -Wl,--wrap=clf_record_new
CLF_TEST := tests/libpio/clf_world.c tests/libpio/random_pattern.c tests/nsdisk/cfs_lab.c \
    tests/nsdisk/drives.c $(CLF_CORE) $(SERVERS_CORE) $(addprefix libpio/group/two_phase,.c _window.c) \
    $(filter-out $(NSDISK_MAP) vertex/shared/text.c,$(NSDISK_FAMILIES) $(NSDISK_LOOP) $(NSDISK_TEST)) $(MAP_SRCS)
$(eval $(call host_test,libpio/test_clf,$(CLF_TEST)))
$(eval $(call host_test,libpio/test_clf_errors,$(CLF_TEST)))
$(eval $(call host_test,libpio/test_clf_rounds,$(CLF_TEST),$(CLF_WRAP)))
$(eval $(call host_test,libpio/test_clf_random,$(CLF_TEST)))
$(eval $(call host_test,nsdisk/test_clf_requests,tests/libpio/random_pattern.c libpio/map/pattern_text.c $(CFS_TEST), \
    $(CLF_WRAP)))

$(eval $(call host_test,nsdisk/test_model,tests/nsdisk/model.c $(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_crash,tests/nsdisk/cuts.c tests/nsdisk/model.c $(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_crash_files,tests/nsdisk/cuts.c $(NSDISK_TEST)))
NSDISK_WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=serve_request
$(eval $(call host_test,nsdisk/test_memory,$(NSDISK_TEST),$(NSDISK_WRAP)))
$(eval $(call host_test,nsdisk/test_locks,$(NSDISK_TEST)))
$(eval $(call host_test,nsdisk/test_serve,tests/nsdisk/fuzz.c tests/nsdisk/model.c $(NSDISK_TEST)))

# What random requests and damaged images are made with (tests/fuzz)
NSDISK_FUZZ := $(addprefix tests/nsdisk/,fuzz.c several.c drives.c model.c volume.c)

# make bench-cache: how fast cached reads are answered on this host
$(B)/tests/nsdisk/bench_data_cache: $(patsubst %.c,$(B)/obj/%.o,tests/nsdisk/bench_data_cache.c $(NSDISK_TEST))
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -o $@ $^
.PHONY: bench-cache check-cache
# The data cache against its models, STEPS requests with each setting; then a power cut at every block of every sequence
STEPS ?= 1000000
CACHE_TESTS := $(addprefix $(B)/tests/nsdisk/,test_data_ask test_data_bytes test_data_cache test_crash test_crash_files)
check-cache:
	$(SUBMAKE) $(CACHE_TESTS)
	@export NSDISK_STEPS=$(STEPS) NSDISK_ALL_CUTS=1; for t in $(CACHE_TESTS); do $$t || exit; done

bench-cache:
	$(SUBMAKE) $(B)/tests/nsdisk/bench_data_cache
	@$(B)/tests/nsdisk/bench_data_cache
