# nsdisk/: the file server. images/ links NSDISK_SRCS for the nodes; the tests link NSDISK_CORE on the host.
NSDISK_CORE := $(addprefix nsdisk/,cache.c ext2_alloc.c ext2_data.c ext2_dir.c ext2_inode.c ext2_map.c \
    ext2_name.c ext2_super.c open_table.c serve.c text.c)
NSDISK_SRCS := nsdisk/main.c $(NSDISK_CORE)

NSDISK_TEST := tests/nsdisk/volume.c $(NSDISK_CORE)
$(eval $(call host_test,nsdisk/test_files,$(NSDISK_TEST)))
