# SPDX-License-Identifier: Apache-2.0
# Short names for the usual commands; everything is done by CMake, CTest and tools/.

BUILD := build
JOBS ?= $(shell nproc)
DEMO_STEPS ?= 1400
DEMO_SAMPLE_EVERY ?= 100
DEMO_RANKS := 2

GENERATOR := $(if $(shell command -v ninja),Ninja,Unix Makefiles)
LAUNCHER := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
# Compute threads of each process: without this every process takes all cores.
THREADS := $(shell expr $$(nproc) / $(DEMO_RANKS) \| 1)

# As root (containers) Open MPI refuses to start unless told otherwise. The demo gives every process five
# seconds to end on a signal, not one; see docs/faults.md.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_btl_vader_single_copy_mechanism := none

.PHONY: help deps configure build demo test test-all sanitize format format-check clean

help:
	@echo "make demo          install what is needed, build, train a GAN on two processes (minutes)"
	@echo "make test          install what is needed, build, run the tests"
	@echo "make test-all      the slow ones, too"
	@echo "make sanitize      build in build-asan with address and undefined behaviour checks, run the tests"
	@echo "make deps build format format-check clean"

deps:
	@tools/install-deps.sh

# The generator of a build folder cannot change, so only a new one is configured with it.
configure:
	@test -f $(BUILD)/CMakeCache.txt || cmake --preset release -G "$(GENERATOR)" $(LAUNCHER)

build: configure
	cmake --build $(BUILD) --parallel $(JOBS)

demo: deps
	@$(MAKE) --no-print-directory build
	@out=runs/demo; if [ -e $$out ]; then out=runs/demo-$$(date +%Y-%m-%d-%H%M%S); fi; \
	export OMP_NUM_THREADS=$(THREADS) OPENBLAS_NUM_THREADS=$(THREADS) OMPI_MCA_odls_base_sigkill_timeout=5; \
	mpiexec --oversubscribe --bind-to none -n $(DEMO_RANKS) $(BUILD)/bin/renga train dcgan --data fashion-mnist --ch 64 --batch 64 --real-and-made apart \
	  --steps $(DEMO_STEPS) --sample-every $(DEMO_SAMPLE_EVERY) --out $$out && \
	printf '\nImages that the generator made: %s\n' \
	  $$(ls $$out/samples/step-*.png | tail -n 1)

test: deps
	@$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) --label-exclude slow --output-on-failure --no-tests=error

test-all: deps
	@$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) --output-on-failure --no-tests=error

# Options of the checks, and what of MPI and LibTorch is let pass: the test preset in CMakePresets.json.
sanitize: deps
	@test -f build-asan/CMakeCache.txt || cmake --preset asan -G "$(GENERATOR)" $(LAUNCHER)
	cmake --build build-asan --parallel $(JOBS)
	ctest --preset asan

format:
	@tools/format

format-check:
	@tools/format --check

clean:
	rm -rf $(BUILD)
