# Every target does its own set-up: a fresh machine needs Python 3.11 or newer, git and make, nothing else.
# Recipes use relative paths only, so the checkout may live in a folder with spaces in its name.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# The first of python3.11, python3.12, python3.13, python3 that starts and is new enough; `make PYTHON=/path/to/python` overrides.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
  "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
UV_VERSION := 0.13.7
AZURITE_VERSION := 3.35.0
FAKE_GCS_VERSION := 1.56.1
SERVERS := build/servers
SOURCES := src tests tools bench demo

# The long soundness run: how many cases, and where its random numbers start.
CASES ?= 200000
SEED ?= 0
HINTS ?= 1000000

.PHONY: help
help: ## Print this help
	@echo "lakeprune: which files a predicate must read, why, and what would make it fewer"
	@echo
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: $(STAMP) ## Make the virtual environment .venv with the package in it (.venv/bin/lakeprune)
	@echo "ready: $(BIN)/lakeprune"

.PHONY: demo
demo: $(STAMP) ## Write real Delta tables, explain predicates on them, pass a gate and fail one
	@$(BIN)/python -m demo.run

.PHONY: test
test: $(STAMP) servers clients browser ## Run every test and doctest (a few thousand soundness cases among them)
	@$(BIN)/python -m tools.run_tests

# moto, the S3 of the tests, is a Python package and comes with the others. Where there is no npm or no go, the tests that need
# their server are skipped and say so.
.PHONY: servers
servers: ## Install the object-store servers that the tests start (once; needs npm and go)
	@$(MAKE) $(SERVERS)/azurite-$(AZURITE_VERSION)/.installed 2> /dev/null || echo "no Azurite: the Azure tests will be skipped" >&2
	@$(MAKE) $(SERVERS)/fake-gcs-server-$(FAKE_GCS_VERSION)/.installed 2> /dev/null || echo "no fake-gcs-server: the GCS tests will be skipped" >&2

$(SERVERS)/azurite-$(AZURITE_VERSION)/.installed:
	@command -v npm > /dev/null
	@mkdir -p $(@D) && echo "installing Azurite (once, a minute)"
	@npm install --prefix $(@D) --silent --no-audit --no-fund --no-package-lock --ignore-scripts --fetch-retries=1 --fetch-timeout=30000 \
	  azurite@$(AZURITE_VERSION) > $(@D)/log.txt 2>&1 && touch $@

$(SERVERS)/fake-gcs-server-$(FAKE_GCS_VERSION)/.installed:
	@command -v go > /dev/null
	@mkdir -p $(@D) && echo "building fake-gcs-server (once, a few minutes)"
	@GOBIN="$$PWD/$(@D)" go install github.com/fsouza/fake-gcs-server@v$(FAKE_GCS_VERSION) > $(@D)/log.txt 2>&1 && touch $@

# One environment per version, from its own hashed requirements.
.PHONY: clients
clients: $(STAMP) ## Install the official Delta Sharing clients that the server is tested with (once; needs a package index)
	@$(BIN)/python -m tests.apps.sharing.server.clients || echo "not every sharing client could be installed: its tests will skip" >&2

# Debian's package, where this user may install it. Elsewhere the tests that need it skip and say so.
.PHONY: browser
browser: ## Install Chromium, in which the HTML report is tested, where apt-get can
	@if ! command -v chromium chromium-browser google-chrome > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  mkdir -p build && echo "installing chromium with apt-get (once)" && \
	  { timeout 600 apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq install -y --no-install-recommends chromium; } \
	    > build/browser.txt 2>&1 || echo "chromium could not be installed (build/browser.txt says why): its tests will skip"; fi

.PHONY: lint
lint: $(STAMP) ## Run ruff, mypy strict, the import rule, the file-size check and the docs check
	@echo "ruff check"    && $(BIN)/ruff check --quiet .
	@echo "ruff format"   && $(BIN)/ruff format --quiet --check .
	@echo "mypy --strict" && $(BIN)/mypy --no-error-summary
	@echo "import rule"   && mkdir -p build && $(BIN)/lint-imports --no-logo > build/import-rule.txt || { cat build/import-rule.txt; exit 1; }
	@$(BIN)/python -m tools.check_homes
	@$(BIN)/python -m tools.check_file_sizes
	@$(BIN)/python -m tools.check_docs

.PHONY: check
check: lint docs test ## Run lint, docs and test: what continuous integration runs

.PHONY: bench
bench: $(STAMP) ## Measure against delta-explain, deltalake and PyIceberg, print the ratios, rewrite docs/benchmarks.md
	@$(BIN)/python -m bench.run --write docs/benchmarks.md

.PHONY: soundness
soundness: $(STAMP) ## Run the long soundness property, and the fuzzer of hints (CASES=200000 SEED=0 HINTS=1000000)
	@$(BIN)/python -m tests.soundness.run --cases $(CASES) --seed $(SEED) --hints $(HINTS)

.PHONY: conformance
conformance: $(STAMP) servers clients browser ## Run whole what make test runs a share of: golden tables, random tables and predicates, Spark (hours)
	@LAKEPRUNE_CONFORMANCE=whole $(BIN)/python -m pytest -q tests

.PHONY: schema
schema: $(STAMP) ## Regenerate schemas/, docs/rules/ and the tables of flags from the code
	@$(BIN)/python -m tools.generate_schema
	@$(BIN)/python -m tools.generate_flags
	@$(BIN)/python -m tools.generate_rules

.PHONY: docs
docs: $(STAMP) ## Build the documentation site in build/site; a dead link fails
	@$(BIN)/mkdocs build --strict > build/docs.txt 2>&1 || { grep -E "WARNING|ERROR|Aborted" build/docs.txt >&2; exit 1; }
	@echo "wrote build/site/index.html"

.PHONY: lock
lock: ## Resolve requirements/dev.in again into the hashed lock requirements/dev.txt
	@"$(PYTHON)" -m venv build/lock
	@build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header requirements/dev.in -o requirements/dev.txt
	@echo "wrote requirements/dev.txt"

.PHONY: clean
clean: ## Remove the virtual environment, generated tables and caches
	@rm -rf $(VENV) build dist .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.locked: requirements/dev.txt
	@if [ -z "$(PYTHON)" ]; then \
	  echo "lakeprune needs Python 3.11 or newer, and none was found." >&2; \
	  echo "  fix: install it, or name one: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@echo "setting up $(VENV) with $$("$(PYTHON)" --version) from requirements/dev.txt (once, a minute or two)"
	@"$(PYTHON)" -m venv --clear $(VENV) || { \
	  echo "  fix: this Python cannot make virtual environments; on Debian and Ubuntu install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m compileall -q $(VENV)/lib
	@touch $@

# An editable install: the installed command always runs the sources beside it, and starts as fast as a copied one.
# Bytecode is compiled here, not at the first start, so that the first command is as fast as the hundredth.
$(STAMP): $(VENV)/.locked pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src
	@mkdir -p build
	@touch $@
