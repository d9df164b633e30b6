# SPDX-License-Identifier: GPL-2.0
#
# Front door of the kit in tools/kit, which does the work. Variables given here
# (make guest DEBUG=1 ...) reach it through the environment.

KIT := tools/kit

export SCRIPT STOCK DEBUG SELFTEST ICOUNT SMP MEM MODULES APPEND TIMEOUT CPU T CONFIG
export KERNEL_SRC KERNEL_TREE SEED MINUTES QUICK ROUNDTRIPS FORKS
export ARCH BITS R6

.PHONY: help run test bench guest shell kselftest stress series check deb menuconfig \
	clean distclean deps kernel rootfs

help:
	@sed -n 's/^#: \{0,1\}//p' $(MAKEFILE_LIST)

#: Usage: make TARGET [VARIABLE=value]...
#:
#:   run         install what is missing, build the patched kernel, and play the
#:               RFC's session in it
#:   test        every test of the project (T="name ...": those with these words
#:               in their names; STOCK=fresh: the stock kernel is run as well, where
#:               its results are kept in tools/kit/tests/stock)
#:   bench       what tracing costs, in instructions, on the stock kernel and on
#:               ours: tables and plots in build/bench (QUICK=1: only a call's
#:               cost; T=gtsc: only that of trace channels)
#:
#:   guest       boot the kernel and run SCRIPT=file in it
#:   shell       the same guest, with a shell
#:   kselftest   the kernel's ftrace self-tests and ours, in the guest
#:               (T=test.d/dir or T=test.d/dir/test.tc: only these)
#:   stress      all users of the function tracer at random in the guest
#:               (MINUTES=2, SEED=number: the one of a run to repeat)
#:
#:   series      the patches as series to mail: a folder of build/series for each
#:               folder of patches
#:   check       checkpatch, shellcheck, W=1 and sparse
#:   deb         Debian packages of the patched kernel, in build/deb
#:               (CONFIG=file: another configuration than this machine's)
#:   menuconfig  look at or try out the configuration
#:   clean       remove what was built; distclean: and the kernel sources
#:
#: Variables:
#:   KERNEL_SRC=path    kernel source, a tree or a tarball (else the package
#:                      linux-source-6.12)
#:   KERNEL_TREE=dir    use this tree as it stands, without our patches
#:   STOCK=1            the unpatched kernel
#:   ARCH=mips          for MIPS, in an emulated Malta board: run, guest, shell,
#:                      kselftest and bench (BITS=32 or 64; R6=1: its release 6)
#:   DEBUG=1            the kernel with lockdep, KASAN, kmemleak, fault injection
#:                      and, with SELFTEST=1, the tracers' start-up tests
#: for guest, shell and kselftest:
#:   SMP=2 MEM=2048 TIMEOUT=600 APPEND="kernel parameters" MODULES="a.ko b.ko"
#:   ICOUNT=1           one processor that counts instructions
#:   CPU=model          another processor model of QEMU
#: for bench:
#:   ROUNDTRIPS=2000 FORKS=200
#:                      the load of system calls with tracers (20000 and 2000
#:                      without)
#:
#: make itself ends with 2 whenever a script in the guest fails; tools/kit/guest
#: SCRIPT ends with the script's own status.

deps:
	@$(KIT)/deps

kernel: deps
	@$(KIT)/build

rootfs: deps
	@$(KIT)/rootfs

run: kernel rootfs
	@$(KIT)/run

test: deps
	@$(KIT)/test $(T)

bench: deps
	@$(KIT)/bench

guest: kernel rootfs
	@$(KIT)/guest "$${SCRIPT:?SCRIPT= names the script to run}"

shell: kernel rootfs
	@$(KIT)/guest --shell

kselftest: kernel rootfs
	@$(KIT)/kselftest $(T)

stress: kernel rootfs
	@$(KIT)/stress

series: deps
	@$(KIT)/mkseries

check: deps
	@$(KIT)/check

deb: deps
	@$(KIT)/deb

menuconfig: deps
	@$(KIT)/menuconfig

clean:
	@$(KIT)/clean

distclean:
	@rm -rf build
