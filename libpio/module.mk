# libpio: what images/module.mk makes lib/libpio.a of, and the tests on the host, where a fake transport stands in.

PIO_SRCS := $(addprefix libpio/,map.c queue.c layout.c store.c open.c rw.c seek.c)
LIBPIO_SRCS := $(PIO_SRCS) libpio/transport_vertex.c

$(eval $(call host_test,libpio/test_map,libpio/map.c,))
$(eval $(call host_test,libpio/test_queue,libpio/queue.c,))
$(eval $(call host_test,libpio/test_layout,libpio/layout.c,))
$(eval $(call host_test,libpio/test_open,tests/libpio/fake.c $(PIO_SRCS),))
$(eval $(call host_test,libpio/test_rw,tests/libpio/fake.c $(PIO_SRCS),))
$(eval $(call host_test,libpio/test_seek,tests/libpio/fake.c $(PIO_SRCS),))
