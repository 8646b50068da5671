# pflab needs Python 3.11 or newer and make; everything else goes into .venv.
# Each target installs first if it must, so a fresh clone can start with `make demo`.

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed

# Settings on the command line: make demo HEADLESS=1; make test ARGS="tests/node/tracking -k cnset" JOBS=0; make simulate SEEDS=1..50
HEADLESS ?=
SEEDS    ?= 1..500
JOBS     ?= 2
ARGS     ?=
ENGINE   ?=

.DEFAULT_GOAL := help
.PHONY: help install demo test test-long test-compose check rules bench bench-analytics cluster simulate campaign mutants torture clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## pflab and its tools into .venv
	@echo "pflab is in $(BIN): next, make demo shows a lab, and . $(BIN)/activate lets you call pflab by name"

# The interpreter is looked for only when the environment has to be made; PYTHON=... chooses another.
$(BIN)/python:
	@python=; for name in $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3 python; do \
	  if $$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then echo "pflab needs Python 3.11 or newer with its venv module: install it, or name it: make install PYTHON=..." >&2; exit 1; fi; \
	echo "Making $(VENV) with $$($$python --version)"; $$python -m venv $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing pflab, Spark and the tools into $(VENV): 1 GB, two to six minutes without another word"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,analytics]'
	@$(BIN)/python -m analytics.class_archive
	@touch $@

demo: $(STAMP)  ## a lab and a guided lesson in the terminal (HEADLESS=1: no questions)
	@$(BIN)/pflab demo $(if $(filter-out 0 no false,$(HEADLESS)),--headless)

test: $(STAMP)  ## all tests (JOBS=0: in one process; ARGS: passed to pytest)
	@$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS) --dist loadgroup) $(or $(ARGS),tests)

test-long: $(STAMP)  ## what takes long: planted defects from their traces, a verdict that is kept current, the benchmarks
	@$(BIN)/pytest -m long $(or $(ARGS),tests/analytics tests/project/test_benchmarks.py)

test-compose: $(STAMP)  ## the lab in containers (ENGINE: a tool that installs an engine where there is none)
	@PFLAB_DOCKER_ENGINE='$(ENGINE)' $(BIN)/pytest -m compose $(or $(ARGS),tests/compose)

check: $(STAMP)  ## lint, format, types, floors, and the page of rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy docs/rules_page.py bench
	$(BIN)/lint-imports
	$(BIN)/python docs/rules_page.py --check

rules: $(STAMP)  ## write docs/rules.md anew from the catalogue and the tree
	@$(BIN)/python docs/rules_page.py

bench: $(STAMP)  ## the benchmarks (ARGS: --json, or names)
	@$(BIN)/python -m bench $(ARGS)

bench-analytics: $(STAMP)  ## Spark over generated traces of 1 and 10 million events, beside DuckDB (ARGS: numbers of events)
	@$(BIN)/python -m bench.analytics_scale $(ARGS)

cluster: $(STAMP)  ## pflab check on a Spark standalone cluster: a master and two workers on this machine
	@$(BIN)/pytest tests/analytics/cluster.py $(ARGS)

simulate: $(STAMP)  ## a long campaign of simulated labs with faults (SEEDS=1..500)
	@$(BIN)/pflab simulate --seeds $(SEEDS)

campaign: $(STAMP)  ## 2,000 simulated labs with all faults: zero violations, every branch seen
	@$(BIN)/pflab simulate --seeds 1..2000

mutants: $(STAMP)  ## plant each defect of tests/mutants/ and hunt it with up to 50 seeds (ARGS: names)
	@$(BIN)/python tests/mutants/run.py $(ARGS)

torture: $(STAMP)  ## the hard test: three stores as processes take 5,000 posts and are killed 50 times (ARGS: --posts, --kills, --drops, --seed)
	@$(BIN)/python -m tests.torture.torture $(ARGS)

clean:  ## remove caches and build leftovers; .venv and runs/ stay
	@rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
