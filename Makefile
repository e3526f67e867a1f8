# The few commands a person needs; Meson and Ninja do the work. Build folders are made as needed.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
MESON ?= meson
NINJA ?= ninja

.PHONY: all build test clean

all: build

build: $(BUILD)/build.ninja
	$(NINJA) -C $(BUILD)

$(BUILD)/build.ninja:
	$(MESON) setup $(BUILD) --buildtype=release -Dtests=disabled

build-test/build.ninja:
	$(MESON) setup build-test -Dtests=enabled --werror

test: build-test/build.ninja
	$(MESON) test -C build-test

clean:
	rm -rf build build-*
