# make run    set up, then diagnose the sample incident
# make test   set up, then every check
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
PYTHON ?= python3
SAMPLE ?= fixtures/incidents/link-flap-hidden-behind-nccl-timeout
WORKERS ?= auto

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input
LOCKED := install --require-hashes --only-binary :all: --no-warn-script-location
# Building a source release whose backend is in no lock would break the promise that every file is known.
PROJECT := install --no-deps --no-build-isolation --editable .

# A stamp carries the checksum of what was installed, so a changed lock installs again and a mere checkout does not.
PINNED := requirements.lock requirements-build.lock requirements-dev.lock pyproject.toml
KEY := $(shell cat $(PINNED) | cksum | cut -d ' ' -f 1)
RUN_STAMP := $(VENV)/.faultwalk-run-$(KEY)
DEV_STAMP := $(VENV)/.faultwalk-dev-$(KEY)

.PHONY: help
help: ## show these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf 'make %-11s %s\n' "$$name" "$$text"; done

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "faultwalk needs Python 3.11 or newer, and '$(PYTHON)' is not that. Name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make a virtual environment: its venv or ensurepip module is missing. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)

$(RUN_STAMP): | $(BIN)/python
	@echo "Installing what requirements.lock names into $(VENV)"
	@$(PIP) $(LOCKED) -r requirements.lock -r requirements-build.lock
	@$(PIP) $(PROJECT)
	@rm -f $(VENV)/.faultwalk-*
	@touch $@

$(DEV_STAMP): | $(BIN)/python
	@echo "Installing what requirements-dev.lock names into $(VENV)"
	@$(PIP) $(LOCKED) -r requirements-dev.lock
	@$(PIP) $(PROJECT)
	@rm -f $(VENV)/.faultwalk-*
	@touch $@ $(RUN_STAMP)

.PHONY: install
install: $(RUN_STAMP) ## set up what running needs

.PHONY: dev
dev: $(DEV_STAMP) ## set up what the checks need too

.PHONY: run
run: $(RUN_STAMP) ## diagnose the sample incident
	@$(BIN)/faultwalk triage $(filter-out %/case.yaml,$(sort $(wildcard $(SAMPLE)/*)))
	@echo
	@echo "Your own log:      $(BIN)/faultwalk triage FILE...   or paste it:   $(BIN)/faultwalk triage -   (end with Ctrl-D)"
	@echo "As a service:      $(BIN)/faultwalk serve            then open http://127.0.0.1:8080/"

.PHONY: test
test: format-check lint types imports rules unit ## every check

.PHONY: format-check
format-check: $(DEV_STAMP)
	$(BIN)/ruff format --check --output-format concise .

.PHONY: lint
lint: $(DEV_STAMP)
	$(BIN)/ruff check --output-format concise .

.PHONY: types
types: $(DEV_STAMP)
	$(BIN)/mypy

.PHONY: imports
imports: $(DEV_STAMP)
	$(BIN)/lint-imports --no-cache --no-logo

.PHONY: rules
rules: $(DEV_STAMP)
	$(BIN)/faultwalk rules check

.PHONY: unit
unit: $(DEV_STAMP)
	$(BIN)/pytest -n $(WORKERS)

.PHONY: bench
bench: $(DEV_STAMP) ## measure speed
	$(BIN)/python tests/benchmarks/bench.py
	$(BIN)/python tests/benchmarks/bench_store.py

.PHONY: cost
cost: $(DEV_STAMP) ## list the patterns that cost the scan most
	$(BIN)/python tests/benchmarks/pattern_cost.py

FUZZ ?= all
MINUTES ?= 10

.PHONY: fuzz
fuzz: $(DEV_STAMP) ## look for inputs that parsers trip over; make fuzz FUZZ=nvrm MINUTES=10
	@$(PIP) $(LOCKED) -r requirements-fuzz.lock
	$(BIN)/python -m tests.fuzzing $(FUZZ) --minutes $(MINUTES)

.PHONY: format
format: $(DEV_STAMP) ## format, sort imports, mend what ruff can mend
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format --quiet .

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make lock' $(UPGRADE)

.PHONY: lock
lock: $(DEV_STAMP) ## compile the lock files again; make lock UPGRADE=--upgrade takes newer versions
	$(COMPILE) pyproject.toml --output-file requirements.lock
	$(COMPILE) --group build --constraint requirements.lock --output-file requirements-build.lock
	$(COMPILE) pyproject.toml --group dev --constraint requirements.lock --constraint requirements-build.lock --output-file requirements-dev.lock
	$(COMPILE) --group fuzz --output-file requirements-fuzz.lock

.PHONY: wheel
wheel: $(DEV_STAMP) ## build the wheel into dist/
	@rm -rf dist
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist .

.PHONY: clean
clean: ## remove the environment, caches and what was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
