# The front end's tests; -lelf and -ldw come from libelf-dev and libdw-dev.

FRONT_SERVE_SOURCES := emu/serve.c emu/openfiles.c emu/beneath.c emu/listing.c emu/lines.c emu/streams.c \
    emu/errmap.c
FRONT_SOURCES := emu/front.c emu/ionodes.c emu/topo.c emu/job.c emu/lives.c emu/owed.c emu/memory.c emu/subcube.c \
    emu/where.c emu/console.c emu/load.c $(FRONT_SERVE_SOURCES)

$(eval $(call host_test,emu/test_streams,emu/streams.c emu/errmap.c))
$(eval $(call host_test,emu/test_lines,emu/lines.c emu/streams.c emu/errmap.c))
$(eval $(call host_test,emu/test_where,emu/where.c,-lelf -ldw))
$(eval $(call host_test,emu/test_subcube,emu/subcube.c))
$(eval $(call host_test,emu/test_load,emu/load.c,-lelf))
$(eval $(call host_test,emu/test_serve,$(FRONT_SERVE_SOURCES)))
$(eval $(call host_test,emu/test_front,$(FRONT_SOURCES),-lelf -ldw))
$(eval $(call host_test,emu/test_job,$(FRONT_SOURCES),-lelf -ldw))
$(eval $(call host_test,emu/test_link,emu/link.c))
$(eval $(call host_test,emu/test_launch,emu/launch.c))
