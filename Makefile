# SPDX-License-Identifier: GPL-2.0
#
# Calls the scripts in tools/kit. Variables on the command line (make guest DEBUG=1 ...)
# reach the scripts through the environment.

KIT := tools/kit

export SCRIPT STOCK DEBUG SELFTEST ICOUNT SMP MEM MODULES APPEND TIMEOUT CPU T CONFIG
export KERNEL_SRC KERNEL_TREE SEED MINUTES QUICK ROUNDTRIPS FORKS
export ARCH BITS R6 ENGINE NOPADDING GUESTS BASE DEBIAN_MIRROR PARALLEL QEMU VARIANT

.PHONY: help run test test-all bench guest shell kselftest stress bundle soak series check deb menuconfig \
	clean distclean deps kernel rootfs bases

help:
	@sed -n 's/^#: \{0,1\}//p' $(MAKEFILE_LIST)

#: Usage: make TARGET [VARIABLE=value]...
#:
#:   run         install missing packages, build the patched kernel, play the RFC's
#:               session in the guest, and compare its output
#:   test        run the tests that take no longer than an hour in all, and list the
#:               commands that run the others (T="word ...": only tests with one of
#:               these words in their names, and nothing of them is left out;
#:               STOCK=fresh: run the stock kernel too, instead of reading its
#:               results from tools/kit/tests/stock)
#:   test-all    run all tests, for hours
#:   bench       count the instructions that tracing costs on the stock kernel and
#:               on the patched one: tables and plots in build/BASE/bench
#:               (QUICK=1: only the cost of a call; T=gtsc: only the cost of trace
#:               channels; T=record: only the cost of an event in the ring buffer and
#:               of its writers; T=stat: only that of function_tracers_stat;
#:               T=size: only the size of the kernel;
#:               T=native: only the trampolines and the ring buffer, in nanoseconds on
#:               this processor)
#:
#:   guest       boot the kernel and run SCRIPT=file in it
#:   shell       boot the kernel and open a shell in it
#:   kselftest   run the ftrace self-tests of the kernel tree in the guest
#:               (T=test.d/dir or T=test.d/dir/test.tc: only these)
#:   stress      run random actions of all users of the function tracer in the guest
#:               (MINUTES=2; SEED=number: repeat the run with this seed)
#:
#:   bundle      make one file with kernel, guest and QEMU that plays the session, runs
#:               the stress or opens a shell on any x86_64 Linux:
#:               build/BASE/function-tracers.run
#:
#:   soak        run the suites on kernels of many configurations, for a day, and print a
#:               table (T="name ...": only these configurations, suites or cells)
#:   series      write the patches as mails: one folder in build/BASE/series for
#:               each folder of patches
#:   bases       list for Linux 6.12 and 7.3 which patches apply exactly, with fuzz, or
#:               not at all (BASE=7.2: for this version)
#:   check       run checkpatch, shellcheck, W=1 and sparse
#:   deb         build Debian packages of the patched kernel in build/BASE/deb, or
#:               build/BASE/deb-ktrace (CONFIG=file: use this configuration, not
#:               that of this machine)
#:   menuconfig  view and change the configuration
#:   clean       remove all build results; distclean: also the kernel sources
#:
#: Variables:
#:   BASE=7.3           the kernel version that the patches are applied to (default:
#:                      6.12). Its source is the package linux-source-BASE of
#:                      Debian. Everything that is built for it is in build/BASE.
#:   KERNEL_SRC=path    kernel source, a tree or a tarball; its version is the base
#:   KERNEL_TREE=dir    use this tree and do not apply the patches
#:   DEBIAN_MIRROR=url  Debian's archive, for packages that are fetched and not installed
#:                      (default: the one in apt's package sources)
#:   STOCK=1            use the stock kernel
#:   ARCH=mips          MIPS, on an emulated Malta board: run, guest, shell, kselftest,
#:                      stress and bench (BITS=32 or 64; R6=1: MIPS release 6)
#:   ARCH=arm64         arm64, on QEMU's board virt: run, guest, shell, kselftest, bench,
#:                      stress and deb (without CONFIG=, of the kernel's defconfig)
#:   ARCH=riscv         riscv, on the same board, with BASE=7.3: run, guest, shell, kselftest,
#:                      bench and stress
#:   ENGINE=ktrace      the kernel that traces functions without -pg (x86_64);
#:                      bench: beside the patched kernel with -pg
#:                      NOPADDING=1: with CONFIG_CALL_PADDING=n
#:   VARIANT=name       another configuration (x86_64): dynamic (preempt=... on the command
#:                      line), rt (PREEMPT_RT), kcsan (data races) or debian (that of
#:                      Debian, without its modules)
#:   DEBUG=1            the kernel with lockdep, KASAN, kmemleak and fault injection;
#:                      SELFTEST=1: it also runs the start-up tests of the tracers
#: for guest, shell and kselftest:
#:   SMP=2 MEM=2048 TIMEOUT=1800 APPEND="kernel parameters" MODULES="a.ko b.ko"
#:   ICOUNT=1           one processor; QEMU counts its instructions
#:   CPU=model          processor model of QEMU
#:   PARALLEL=1         QEMU runs a thread for each processor (x86_64; fetches a newer
#:                      QEMU if the installed one is older than 8.1)
#:   QEMU=program       another QEMU
#: for bench:
#:   ROUNDTRIPS=2000 FORKS=200
#:                      size of the load of system calls with tracers (without
#:                      tracers: 20000 and 2000)
#:   GUESTS=2           how many guests run at a time
#:
#: When a script in the guest fails, make exits with 2; tools/kit/guest SCRIPT exits
#: with the status of the script.

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

test-all: deps
	@$(KIT)/deps --all || :
	@TEST_ALL=1 $(KIT)/test $(T)

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

bundle: kernel rootfs
	@$(KIT)/bundle

soak: deps rootfs
	@$(KIT)/soak $(T)

series: deps
	@$(KIT)/mkseries

bases:
	@$(KIT)/bases $(BASE)

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
