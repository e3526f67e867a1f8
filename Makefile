# The few commands a person needs; Meson and Ninja do the work, each kind of build in a folder of its
# own. `make test` and `make demo` install what they miss (tools/install-packages).

PREFIX ?= /usr/local
DESTDIR ?=
MESON ?= meson
NINJA ?= ninja
# Options for every `meson setup`, such as --cross-file.
MESON_FLAGS ?=

# For users: optimised, no asserts. For work on edo: asserts, tests, warnings are errors.
RELEASE := --buildtype=release -Ddebug=true -Dtests=disabled
WORK := -Dtests=enabled --werror

.DEFAULT_GOAL := build
.PHONY: build test demo lint format install bench fuzz soak explore mutants docs asan tsan release \
	valgrind test-aarch64 test-musl ci clean help

help:
	@echo 'build (default), demo, test, lint, format, install (PREFIX, DESTDIR), bench, fuzz, soak, explore, mutants, docs,'
	@echo 'asan, tsan, valgrind, release, test-aarch64 and test-musl (the tests, built so), ci, clean'

build: build/build.ninja
	$(NINJA) -C build

build/build.ninja:
	@tools/install-packages build
	CC='$(CC)' $(MESON) setup build $(RELEASE) --prefix=$(PREFIX) $(MESON_FLAGS)

# A folder of each other kind: build-<kind>, set up with $(<kind>_flags) and $(<kind>_cc).
test_flags := $(WORK)
asan_flags := $(WORK) -Db_sanitize=address,undefined -Db_lundef=false
release_flags := $(WORK) --buildtype=release
tsan_flags := $(WORK) -Db_sanitize=thread -Db_lundef=false
valgrind_flags := $(WORK) -Dvalgrind=enabled
fuzz_flags := -Dtests=disabled -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
fuzz_cc := clang
aarch64_flags := $(WORK) --cross-file packaging/cross/aarch64.ini --cross-file build-aarch64-cmocka/paths.ini
aarch64_runs := qemu-aarch64 -L /usr/aarch64-linux-gnu
musl_flags := $(WORK) --cross-file packaging/cross/musl.ini --cross-file build-musl-cmocka/paths.ini
lint_flags := $(WORK) -Dbench=true
lint_cc := clang

build-%/build.ninja:
	CC='$(or $($*_cc),$(CC))' $(MESON) setup build-$* $($*_flags) $(MESON_FLAGS)

test:
	@tools/install-packages build test
	@$(MAKE) --no-print-directory build-test/build.ninja
	$(MESON) test -C build-test --print-errorlogs

demo:
	@tools/install-packages build demo
	@$(MAKE) --no-print-directory build
	@tools/demo.sh build

# release: as users have it, so that nothing leans on an assert.
asan tsan release:
	@tools/install-packages build test
	@$(MAKE) --no-print-directory build-$@/build.ninja
	$(MESON) test -C build-$@ --print-errorlogs

valgrind:
	@tools/install-packages build test valgrind
	@$(MAKE) --no-print-directory build-valgrind/build.ninja
	$(MESON) test -C build-valgrind --setup=valgrind --print-errorlogs

# Built for another machine (run by qemu) or C library: the tests, and the echo examples' real work.
test-aarch64 test-musl: test-%:
	@tools/install-packages build test demo $*
	@tools/cross-cmocka $* build-$*-cmocka
	@$(MAKE) --no-print-directory build-$*/build.ninja
	$(NINJA) -C build-$*
	$(MESON) test -C build-$* --print-errorlogs
	@tools/count-tests build-$*
	@tools/check-echo build-$* $($*_runs)

lint:
	@tools/install-packages build test lint
	@$(MAKE) --no-print-directory build-lint/build.ninja
	tools/lint build-lint

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

# The folder may have been set up before, with another prefix.
install: build/build.ninja
	$(MESON) configure build --prefix=$(PREFIX)
	$(NINJA) -C build
	DESTDIR='$(DESTDIR)' $(MESON) install -C build --no-rebuild

bench:
	@tools/install-packages build bench
	@$(MAKE) --no-print-directory build/build.ninja
	$(MESON) configure build -Dbench=true
	$(NINJA) -C build
	bench/run build

fuzz:
	@tools/install-packages build fuzz
	@$(MAKE) --no-print-directory build-fuzz/build.ninja
	$(NINJA) -C build-fuzz
	tools/fuzz build-fuzz $(FUZZ_SECONDS)

# Random use of runtimes, with everything balanced afterwards: SOAK_SECONDS in all, a third each for an
# optimised build with asserts, one under the address and undefined-behaviour sanitizers and one under the
# thread sanitizer, one after the other. SOAK_SEED replays, SOAK_GENERATION a part. Freed memory that the
# address sanitizer holds back does not count as grown.
SOAK_SECONDS ?= 600
soak_flags := $(WORK) --buildtype=release -Ddebug_asserts=enabled
soak:
	@tools/install-packages build test
	@set -e; for kind in soak asan tsan; do \
		$(MAKE) --no-print-directory build-$$kind/build.ninja; \
		$(NINJA) -C build-$$kind tests/soak/soak; \
	done
	@set -e; for kind in soak asan tsan; do \
		echo "soak: build-$$kind"; \
		ASAN_OPTIONS=quarantine_size_mb=8:$$ASAN_OPTIONS \
			SOAK_SECONDS=$$(($(SOAK_SECONDS) / 3)) build-$$kind/tests/soak/soak; \
	done

# The explorer's models within their wide bounds. MODELS: parts of their programs' names.
explore:
	@tools/install-packages build test
	@$(MAKE) --no-print-directory build-test/build.ninja
	$(NINJA) -C build-test
	@tools/explore build-test $(MODELS)

# MUTANTS: words that choose some.
mutants:
	@tools/install-packages build test
	tools/mutants $(MUTANTS)

docs:
	@tools/install-packages docs
	mkdir -p build
	doxygen docs/Doxyfile

ci:
	.ci/run

clean:
	rm -rf build build-*
