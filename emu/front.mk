# The front end's tests; -lelf comes from libelf-dev.

FRONT_SERVE_SOURCES := emu/serve.c emu/openfiles.c emu/beneath.c emu/listing.c emu/streams.c emu/errmap.c
FRONT_SOURCES := emu/front.c emu/console.c emu/load.c $(FRONT_SERVE_SOURCES)

$(eval $(call host_test,emu/test_streams,emu/streams.c emu/errmap.c))
$(eval $(call host_test,emu/test_load,emu/load.c,-lelf))
$(eval $(call host_test,emu/test_serve,$(FRONT_SERVE_SOURCES)))
$(eval $(call host_test,emu/test_front,$(FRONT_SOURCES),-lelf))
