# images/: newlib, the user library, ncc, and the programs that run on the nodes. Included after the other
# folders, which say what nsdisk and libpio are made of: NSDISK_SRCS, LIBPIO_SRCS.

# newlib lies outside the clone; empty until set-up has installed its source and the compiler.
NEWLIB := $(shell images/newlib/build.sh --path)
NEWLIB_LIBC := $(if $(NEWLIB),$(NEWLIB)/lib/libc.a,newlib)

ifneq ($(NEWLIB),)
$(NEWLIB_LIBC):
	@images/newlib/build.sh
else
.PHONY: newlib
newlib:
	@images/newlib/build.sh
endif

# ---- Headers for programs ----------------------------------------------------------------------

MPI_HEADERS := $(patsubst libpio/mpi/%,$(B)/include/%,$(wildcard libpio/mpi/mpi*.h))
PUBLIC_HEADERS := \
    $(patsubst vertex/include/%,$(B)/include/%,$(wildcard vertex/include/*.h vertex/include/sys/*.h)) \
    $(B)/include/ncube/errors.h $(B)/include/pio.h $(B)/include/pattern.h $(B)/include/group.h \
    $(MPI_HEADERS) $(B)/include/cstar.h $(B)/include/cfs.h $(B)/include/clf.h

# A file of the build that is one of the tree
define copy
@mkdir -p $(@D)
@cp $< $@
endef

$(B)/include/%.h: vertex/include/%.h
	$(copy)
$(B)/include/ncube/errors.h: vertex/contract/errors.h
	$(copy)
$(foreach h,map/pattern.h group/group.h cfs/cfs.h clusterfile/clf.h star/cstar.h file/pio.h,\
    $(eval $(B)/include/$(notdir $(h)): libpio/$(h) ; $$(copy)))
$(MPI_HEADERS): $(B)/include/%.h: libpio/mpi/%.h
	$(copy)

# ---- The user library --------------------------------------------------------------------------

LIBVERTEX_SRCS := $(wildcard images/lib/*/*.c) images/lib/posix/sigentry.S images/lib/posix/forkentry.S
LIBVERTEX_OBJS := $(patsubst %.S,$(B)/rv/%.o,$(patsubst %.c,$(B)/rv/%.o,$(LIBVERTEX_SRCS)))
LIBPIO_OBJS := $(patsubst %.c,$(B)/rv/%.o,$(filter-out vertex/%,$(LIBPIO_SRCS))) \
    $(patsubst %.c,$(B)/rv/user/%.o,$(filter vertex/%,$(LIBPIO_SRCS)))
PIPE_OBJS := $(addprefix $(B)/rv/libpio/pipes/,pipe.o pipe_end.o pipe_message.o pipe_poll.o pipe_read.o pipe_write.o)
STRIPED_OBJS := $(B)/rv/libpio/ndevices/striped.o $(B)/rv/libpio/ndevices/striped_names.o
NSDISK_OBJS := $(patsubst %.c,$(B)/rv/%.o,$(filter-out vertex/%,$(NSDISK_SRCS))) \
    $(patsubst %.c,$(B)/rv/user/%.o,$(filter vertex/%,$(NSDISK_SRCS)))

# What the kernel shares with programs, compiled with the programs' ABI
$(B)/rv/user/%.o: %.c
	@mkdir -p $(@D)
	$(call say,RVCC,$<)
	$(RV)gcc $(RV_CFLAGS) $(RV_USER_FLAGS) -MMD -MP -c -o $@ $<

RV_USER_FLAGS := -D_POSIX_TIMERS=1 -D_POSIX_MONOTONIC_CLOCK=1 -fno-pic -ffunction-sections -fdata-sections \
    -I$(B)/include -isystem $(NEWLIB)/include
RV_FLAGS_images += $(RV_USER_FLAGS)
RV_FLAGS_libpio += $(RV_USER_FLAGS)
RV_FLAGS_nsdisk += $(RV_USER_FLAGS)

# Or gcc would make calls of memcpy out of memcpy's own loops.
$(B)/rv/images/lib/fast/mem%.o: RV_FLAGS_images += -fno-tree-loop-distribute-patterns

USER_OBJS := $(LIBVERTEX_OBJS) $(LIBPIO_OBJS) $(NSDISK_OBJS)
$(USER_OBJS): $(B)/newlib.path | $(PUBLIC_HEADERS) $(NEWLIB_LIBC)

# Which newlib the objects are compiled against: another one compiles them again.
ifneq ($(shell cat $(B)/newlib.path 2>/dev/null),$(NEWLIB))
.PHONY: $(B)/newlib.path
endif
$(B)/newlib.path:
	@mkdir -p $(@D)
	@echo $(NEWLIB) >$@

define archive
@mkdir -p $(@D)
$(call say,AR,$@)
@rm -f $@
$(RV)ar rcs $@ $(filter %.o,$^)
endef

$(B)/lib/libvertex.a: $(LIBVERTEX_OBJS)
	$(archive)

$(B)/lib/crt0.o: $(B)/rv/images/lib/start/crt0.o
	$(copy)
$(B)/lib/program.ld: images/program.ld
	$(copy)

ifdef LIBPIO_SRCS
LIBPIO := $(B)/lib/libpio.a
$(LIBPIO): $(filter-out %/striped.o $(PIPE_OBJS),$(LIBPIO_OBJS)) \
        $(addprefix $(B)/rv/,engine.o striped.o pipes.o cfs.o)
	$(archive)

# $(call in_sections,symbols,prefix): one object whose sections begin with the prefix, and which defines only these
# symbols. What it defines and uses of the mapping engine has the names of the drivers' copy.
define in_sections
$(RV)ld -r -o $@.all $(filter %.o,$^) $$($(RV)gcc -march=rv64gc -mabi=lp64d -print-libgcc-file-name)
$(RV)objcopy --redefine-syms=$(B)/rv/engine.names $@.all
$(RV)objcopy --wildcard $(addprefix --keep-global-symbol=,$(1)) --prefix-alloc-sections=$(2) $@.all $@
endef

# The mapping engine for all drivers in sections of its own, under other names than the program's.
ENGINE_OBJS := $(filter $(B)/rv/libpio/map/% $(B)/rv/user/%,$(LIBPIO_OBJS))
$(B)/rv/engine.names: $(ENGINE_OBJS)
	$(RV)nm -g --defined-only $^ | awk 'NF == 3 { print $$3, "engine_" $$3 }' | sort -u >$@
$(B)/rv/engine.o: $(ENGINE_OBJS) $(B)/rv/engine.names
	$(call in_sections,engine_*,.engine)

# The driver of striped files in one object with what it takes of libpio, in sections of its own (images/program.ld),
# but for the engine, and for what it shares with the program's own copy.
$(B)/rv/striped.o: $(STRIPED_OBJS) $(filter-out %/shared_state.o,$(filter $(B)/rv/libpio/file/%,$(LIBPIO_OBJS))) \
        $(B)/rv/engine.names
	$(call in_sections,ndevice_striped,.striped)

# The driver of pipes likewise.
$(B)/rv/pipes.o: $(PIPE_OBJS) $(B)/rv/engine.names
	$(call in_sections,pipes_start pipes_new_end ndevice_pipe,.pipes)

# The driver of the CFS likewise, under a name of its own: a program that names a call of <cfs.h> has another one.
CFS_DRIVER := $(addprefix $(B)/rv/libpio/,$(addprefix cfs/,cfs_check.o cfs_device.o cfs_file.o cfs_grow.o \
    cfs_header.o cfs_machine.o cfs_moves.o) servers/server_folders.o \
    servers/server_traps.o servers/server_volumes.o)
$(B)/rv/cfs.o: $(CFS_DRIVER) $(B)/rv/engine.names
	$(call in_sections,ndevice_cfs,.cfs)
	$(RV)objcopy --redefine-sym ndevice_cfs=ndevice_cfs_segment $@
endif

# Archives without members: the names by which programs for other systems link what libpio has.
NAMES := $(addprefix $(B)/lib/,libcfs.a libclf.a libmpi.a libcstar.a)
$(NAMES):
	$(archive)

# ---- ncc ---------------------------------------------------------------------------------------

# gcc refuses from version 14 on what codes of before ANSI C do; -fpermissive makes warnings of it, as before.
NCC_PERMISSIVE := $(shell [ "$$($(RV)gcc -dumpversion 2>/dev/null | cut -d. -f1)" -lt 14 ] 2>/dev/null || echo \
    -fpermissive)

NCC := $(B)/bin/ncc
$(NCC): images/ncc $(B)/newlib.path
	@mkdir -p $(@D)
	@sed 's|@NEWLIB@|$(NEWLIB)|; s|@PERMISSIVE@|$(NCC_PERMISSIVE)|' $< >$@.new && chmod +x $@.new && mv $@.new $@

# MPI's compiler and launchers, and what checks exercises of the course
MPI_COMMANDS := $(B)/bin/mpicc $(B)/bin/mpirun $(B)/bin/mpiexec $(B)/bin/ncube-course
$(B)/bin/mpicc $(B)/bin/ncube-course: $(B)/bin/%: images/%
	$(copy)
$(B)/bin/mpirun $(B)/bin/mpiexec: images/mpirun
	$(copy)
PROGRAMS += $(MPI_COMMANDS)

# ar and ranlib by the names of the time.
ARCHIVERS := $(B)/bin/nar $(B)/bin/nranlib
$(ARCHIVERS): $(B)/bin/n%:
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec $(RV)%s "$$@"\n' $* >$@ && chmod +x $@
PROGRAMS += $(ARCHIVERS)

# What a program is linked with, beside its own objects.
PROGRAM_DEPS := $(NCC) $(B)/lib/crt0.o $(B)/lib/program.ld $(B)/lib/libvertex.a $(LIBPIO) $(NAMES) $(NEWLIB_LIBC)

# ---- Programs of the nodes ---------------------------------------------------------------------

ifdef NSDISK_SRCS
$(B)/lib/nsdisk.elf: $(NSDISK_OBJS) $(PROGRAM_DEPS)
	$(call say,LD,$@)
	$(NCC) -o $@ $(NSDISK_OBJS)
PROGRAMS += $(B)/lib/nsdisk.elf

# Cache managers of Clusterfile
MANAGER_OBJS := $(patsubst %.c,$(B)/rv/%.o,$(MANAGER_SRCS))
$(MANAGER_OBJS): $(B)/newlib.path | $(PUBLIC_HEADERS) $(NEWLIB_LIBC)
$(B)/examples/pio_cache: $(MANAGER_OBJS) $(PROGRAM_DEPS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(NCC) -Nserves -o $@ $(MANAGER_OBJS)
PROGRAMS += $(B)/examples/pio_cache
endif

NCC_CFLAGS := -std=gnu11 $(NODE_OPT) -g -Wall -Wextra -Werror

# $(call node_program,examples/hello,images/examples/hello.c,-lpio): a program of the nodes at $(B)/<first>
define node_program
PROGRAMS += $$(B)/$(1)
$$(B)/$(1): $(2) $$(PROGRAM_DEPS) $$(PUBLIC_HEADERS)
	@mkdir -p $$(@D) $(B)/rv/$(dir $(1))
	$$(call say,LD,$$@)
	$$(NCC) $$(NCC_CFLAGS) -MMD -MP -MF $(B)/rv/$(1).d -MT $$@ -o $$@ $(2) $(3)
endef

$(foreach src,$(wildcard images/examples/*.c),\
    $(eval $(call node_program,examples/$(basename $(notdir $(src))),$(src),$(if $(LIBPIO),-lpio))))

$(foreach src,$(wildcard images/examples/pipeline/*.c),\
    $(eval $(call node_program,examples/pipeline/$(basename $(notdir $(src))),$(src),$(if $(LIBPIO),-lpio) -lm)))

$(foreach src,$(wildcard images/examples/mpi/*.c),\
    $(eval $(call node_program,examples/mpi/$(basename $(notdir $(src))),$(src),-lm)))

# The course: what is to be completed, and the solutions
$(foreach src,$(wildcard docs/course/*/*.c),\
    $(eval $(call node_program,course/$(basename $(notdir $(src))),$(src),-lm)))

# The shell
$(eval $(call node_program,examples/nsh,$(wildcard images/nsh/*.c),-I. $(if $(LIBPIO),-lpio)))

# The machines that come with ncube, which a command finds by name
MACHINES := $(addprefix $(B)/machines/,$(notdir $(wildcard images/machines/*.conf)) sandia.conf)
$(B)/machines/sandia.conf $(B)/examples/sandia.conf: images/sandia.conf
	$(copy)
$(B)/machines/%.conf: images/machines/%.conf
	$(copy)
PROGRAMS += $(MACHINES)

# Their sources and a machine file beside them, for who has no clone
EXAMPLES := $(patsubst images/examples/%,$(B)/examples/%,$(wildcard images/examples/*.[ch] \
    images/examples/pipeline/*.[ch] images/examples/mpi/*)) $(B)/examples/sandia.conf
$(B)/examples/%: images/examples/%
	$(copy)

# What measures: a study of a paper is one file (images/measure/runs.py)
MEASURE := $(patsubst images/measure/%,$(B)/measure/%,$(wildcard images/measure/*.py)) $(B)/measure/report_page.css
$(B)/measure/%.py: images/measure/%.py
	$(copy)
$(B)/measure/%.css: emu/report/%.css
	$(copy)
PROGRAMS += $(MEASURE)

# The manual pages: man -M build/man
MAN := $(B)/man/man1/ncube.1
$(MAN): images/pages.sh $(wildcard docs/man/*/*) $(MPI_HEADERS)
	@rm -rf $(B)/man
	@images/pages.sh $(B)/man $(B)/include >/dev/null

PROGRAMS += $(PROGRAM_DEPS) $(PUBLIC_HEADERS) $(EXAMPLES) $(MAN)

# ---- Tests -------------------------------------------------------------------------------------

SHELL_TESTS += tests/images/test_setup.sh tests/images/test_ncc.sh tests/images/test_declared.sh \
    tests/images/test_demo.sh tests/images/test_measure.sh tests/images/test_install.sh \
    tests/images/test_completion.sh tests/docs/test_commands.sh tests/docs/test_papers.sh tests/images/test_stated.sh \
    tests/images/test_course.sh tests/images/test_libc.sh tests/images/test_old_codes.sh tests/images/test_unix.sh \
    tests/images/test_processes.sh
