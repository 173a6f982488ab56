# The two commands of the README, `make demo` and `make test`, and `make build`. They work as the first
# command in a fresh clone on Debian 12: what is missing is installed with apt-get.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: build demo test setup clean

JOBS ?= $(shell nproc)
PACKAGES := antlr4 libantlr4-runtime-dev libeigen3-dev libboost-dev libboost-program-options-dev \
  libgtest-dev libgmock-dev libbenchmark-dev nlohmann-json3-dev libedit-dev libhwy-dev \
  libexpected-dev ninja-build ccache cmake g++ python3
PACKAGES += $(EXTRA_PACKAGES)
GENERATOR = $(shell command -v ninja >/dev/null && echo -G Ninja)

build: setup
	cmake -S . -B build $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DRASP_TESTS=OFF
	cmake --build build --parallel $(JOBS)

test: setup
	cmake -S . -B build $(GENERATOR) -DCMAKE_BUILD_TYPE=Release -DRASP_TESTS=ON
	cmake --build build --parallel $(JOBS)
	ctest --test-dir build --output-on-failure --parallel $(JOBS)

demo: build
	@bash examples/demo.sh build/rasp

setup:
	@missing=(); \
	for package in $(PACKAGES); do \
	  dpkg-query -W -f='$${Status}' "$$package" 2>/dev/null | grep -q 'ok installed' \
	    || missing+=("$$package"); \
	done; \
	if (( $${#missing[@]} )); then \
	  as_root=(); if (( EUID != 0 )); then as_root=(sudo); fi; \
	  echo "Installing $${missing[*]}"; \
	  "$${as_root[@]}" apt-get update -qq; \
	  DEBIAN_FRONTEND=noninteractive "$${as_root[@]}" apt-get install -y -qq \
	    --no-install-recommends "$${missing[@]}" >/dev/null; \
	fi

clean:
	rm -rf build build-sanitize
