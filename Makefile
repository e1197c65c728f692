# Every target sets up what it needs in .venv; nothing but Python 3.11 (or newer), pip and make is assumed.
# pip prints errors only (-qq): older ones warn of an extra of lxml that they do not find and do not need.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# Tests run in one process per core, each with one thread: small tensors only lose by more.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install install-dev browser demo test test-slow check format lint types docs docs-serve dist bench torture
.PHONY: upgrade clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.venv/installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no python3 found; install Python 3.11 or newer" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than Python 3.11; run: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

install: .venv/installed ## set up .venv with what summarising needs

install-dev: .venv/installed-dev browser ## set up .venv with everything for developing

# Playwright drives the system's Chromium; as root it is installed, else the browser tests are skipped (in CI
# they fail then).
browser: ## Chromium for the tests of the page, from Debian's packages
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } || \
				echo "note: Chromium could not be installed, so the browser tests are skipped" >&2; \
		else \
			echo "note: no Chromium here, so the browser tests are skipped; as root: apt-get install chromium" >&2; \
		fi; }

demo: .venv/installed ## summarise an example cluster, with the source of each sentence
	@$(BIN)/hiersum summarize examples/car-free-centre --title "Car-free centre of Lowmoor"
	@echo 'To use hiersum in this terminal, type: . $(BIN)/activate' >&2

test: .venv/installed-dev browser ## the fast tests, on all rooms
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS)

test-slow: .venv/installed-dev ## the slow tests: a machine from nothing, big inputs, long fuzzing
	$(BIN)/python -m pytest -q -m slow

check: format lint types test ## format, lint, types, tests: what a change must pass

format: .venv/installed-dev ## is everything formatted? (ruff format writes it)
	$(BIN)/ruff format --check .

lint: .venv/installed-dev ## style and likely mistakes
	$(BIN)/ruff check .

types: .venv/installed-dev ## mypy, strict, on src
	$(BIN)/mypy

# Warnings are errors: a link that leads nowhere, a page that the navigation lacks, a docstring that cannot be read.
docs: export NO_MKDOCS_2_WARNING = 1
docs: .venv/installed-dev ## build the site into build/site
	$(BIN)/python -m mkdocs build --quiet --strict
	@echo 'Open build/site/index.html; with the search: make docs-serve'

docs-serve: export NO_MKDOCS_2_WARNING = 1
docs-serve: .venv/installed-dev ## show the site at http://127.0.0.1:8001, rebuilt when a file changes
	$(BIN)/python -m mkdocs serve --dev-addr 127.0.0.1:8001

# The wheel is tried where the repository cannot help: in an environment of its own, from a folder of its own.
dist: .venv/installed-dev ## build wheel and sdist into dist, and try the wheel in an empty environment
	rm -rf dist build/try && mkdir -p build/try
	$(BIN)/python -m hatchling build
	$(PYTHON) -m venv build/try/env
	build/try/env/bin/python -m pip install -qq --disable-pip-version-check -c constraints.txt dist/*.whl
	cp -r examples build/try/examples
	cd build/try && env/bin/hiersum summarize examples/car-free-centre --title "Car-free centre of Lowmoor"
	cd build/try && env/bin/python $(CURDIR)/.ci/smoke.py $(CURDIR)/dist
	rm -rf build/try

bench: .venv/installed-dev ## speed against other packages, written to benchmarks/results
	$(BIN)/python benchmarks/overlap.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/rouge.py
	$(BIN)/python benchmarks/extraction.py
	$(BIN)/python benchmarks/training_step.py
	$(BIN)/python benchmarks/encoding_cost.py
	OMP_WAIT_POLICY=passive $(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/int8_kernels.py
	$(BIN)/python benchmarks/building.py
	OMP_WAIT_POLICY=passive $(BIN)/python benchmarks/ranker.py
	$(BIN)/python benchmarks/preparing.py
	$(BIN)/python benchmarks/padding_cost.py
	$(BIN)/python benchmarks/attribution.py
	$(BIN)/python benchmarks/scale.py

torture: .venv/installed-dev ## kill -9, full disks and hostile input for an hour, counted in benchmarks/results
	$(BIN)/python benchmarks/torture.py

upgrade: ## the newest releases of everything but torch into .venv and constraints.txt; then test
	rm -rf .venv && $(PYTHON) -m venv .venv
	grep '^torch==' constraints.txt > .venv/torch.txt
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c .venv/torch.txt -e '.[dev]'
	$(BIN)/python -m pip freeze --exclude-editable > .venv/frozen.txt
	{ grep '^#' constraints.txt; sed 's/^\(torch==[^+]*\)+.*/\1/' .venv/frozen.txt; } > .venv/all.txt
	grep -q '^torch==' .venv/all.txt && mv .venv/all.txt constraints.txt
	@touch .venv/installed .venv/installed-dev

clean: ## remove .venv and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
