# libpio: what images/module.mk makes lib/libpio.a of, and the tests on the host, where a fake transport stands in.

PIO_SRCS := $(addprefix libpio/,file/map.c file/pending.c file/layout.c file/store.c file/open.c file/rw.c file/seek.c)
LIBPIO_SRCS := $(PIO_SRCS) libpio/file/transport_vertex.c

$(eval $(call host_test,libpio/test_map,libpio/file/map.c,))
$(eval $(call host_test,libpio/test_pending,libpio/file/pending.c,))
$(eval $(call host_test,libpio/test_layout,libpio/file/layout.c,))
$(eval $(call host_test,libpio/test_open,tests/libpio/fake.c $(PIO_SRCS),))
$(eval $(call host_test,libpio/test_rw,tests/libpio/fake.c $(PIO_SRCS),))
$(eval $(call host_test,libpio/test_seek,tests/libpio/fake.c $(PIO_SRCS),))
