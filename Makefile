# `make demo` and `make test` work on a fresh clone: they build .venv, install what they need, run.
PYTHON ?= python3
BIN := .venv/bin
# What is installed: medianmap alone, which is all that the demo needs, or with its extras, tests and benchmarks.
CORE := .venv/.core
# EXTRAS=all,gpu adds torch, 5 GB, for the tests of what runs on a card; they need none, and are skipped without torch.
EXTRAS ?= all
INSTALLED := .venv/.installed.$(EXTRAS)
DOCUMENTED := .venv/.documented
ENVIRONMENT := if command -v uv >/dev/null 2>&1; \
  then uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" .venv; \
  else $(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'; fi
INSTALL := install() { if command -v uv >/dev/null 2>&1; \
  then uv pip install --quiet --python .venv "$$@"; else $(BIN)/python -m pip install --quiet "$$@"; fi; }; install

# Tests start many processes, and each would compile the library's Python anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo workflows test test-slow coverage mutants fuzz lint format test-oldest docs bench reproduce picture wheel dist clean help

help:  ## Say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "medianmap needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=..."; exit 2; }
	@echo "1 of 2: making the environment .venv with $$($(PYTHON) --version) ..."
	@$(ENVIRONMENT)
	@echo "2 of 2: installing medianmap into it, with NumPy, SciPy, scikit-learn and numba (500 MB on disk, once) ..."
	@$(INSTALL) -e .
	@touch $@

$(INSTALLED): $(CORE)
	@echo "Installing what tests and benchmarks need as well (1 GB more, once) ..."
	@$(INSTALL) -e '.[$(EXTRAS)]' --group dev --group bench
	@touch $@

$(DOCUMENTED): $(INSTALLED)
	@echo "Installing what the documentation site needs ..."
	@$(INSTALL) --group docs
	@touch $@

demo: $(CORE)  ## Map 630 globins by their alignments, print the map and write its page
	@echo "Mapping 630 globins by their alignments ..."
	@$(BIN)/medianmap demo --force

workflows: $(INSTALLED)  ## Install Snakemake, with which the tests run examples/workflows
	@$(INSTALL) --group workflows

test: $(INSTALLED)  ## Run all tests
	$(BIN)/python -m pytest -n auto

test-slow: $(INSTALLED)  ## Run all tests and print the twenty that take most processor time
	PYTHONPATH=tests $(BIN)/python -m pytest -n auto -p support.processor_time

# Compiled loops are run by Python in the second run, by the tests that are small enough for that. What fails there has
# failed in the first run too, or is about compiling.
coverage: $(INSTALLED)  ## Lines and branches that the tests run; ends with 1 below 95% of the lines of a measured folder
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n auto
	-NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -n auto tests/core tests/search tests/refine
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python benchmarks/covered.py

COUNT ?= 300
mutants: $(INSTALLED)  ## Break the code in COUNT=300 places, one at a time, and see whether the tests notice (hours)
	$(BIN)/python benchmarks/mutants.py --named
	$(BIN)/python benchmarks/mutants.py --count $(COUNT)

HOURS ?= 1
SEED ?= 1000000
fuzz: $(INSTALLED)  ## Random fits and damaged models for HOURS=1 from SEED on, each held against other ways to its answer
	$(BIN)/python benchmarks/damaged_models.py
	$(BIN)/python benchmarks/fuzz.py --minutes $$(( 60 * $(HOURS) )) --first $(SEED)

test-oldest:  ## Run the tests with the lowest versions that are allowed, in an environment of their own
	PYTHON=$(PYTHON) .ci/oldest

lint: $(INSTALLED)  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED)  ## Put the style right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A warning is an error. MEDIANMAP_GALLERY=0 leaves the examples unexecuted, for a quick look at the pages.
docs: $(DOCUMENTED)  ## Build the documentation site in build/site, gallery and tutorials executed
	rm -rf build/site
	$(BIN)/python -m sphinx -b html -W --keep-going -d build/doctrees docs build/site
	$(BIN)/python docs/check_site.py build/site
	$(BIN)/python docs/man_page.py build/medianmap.1

# DATA=chromosomes.csv adds the chapter's own data set; its matrix is kept in the folder CACHE.
CACHE ?= .
bench: $(INSTALLED)  ## Measure the figures of docs/benchmarks.md (half an hour, 4 GB of disk)
	$(BIN)/python benchmarks/first_contact.py
	$(BIN)/python benchmarks/iris.py
	$(BIN)/python benchmarks/baseline.py
	$(BIN)/python benchmarks/speed.py $(if $(DATA),--data $(DATA) --cache $(CACHE),--set simulated)
	$(BIN)/python benchmarks/speed.py --set structureless --maps SOM:100,NG:100 --every 33
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/alignment.py src/medianmap/datasets/globins.fasta
	$(BIN)/python benchmarks/allpairs_memory.py
	$(BIN)/python benchmarks/blocks.py
	$(BIN)/python benchmarks/supervision.py iris breast-cancer few-labels
	$(BIN)/python benchmarks/topology.py $(if $(DATA),--data $(dir $(DATA)) --cache $(CACHE))
	for what in linear strings breast-cancer kill model workers; do $(BIN)/python benchmarks/patches.py $$what || exit 1; done
	$(if $(DATA),$(BIN)/python benchmarks/edit.py $(DATA))

DATA_FOLDER ?=
reproduce: $(INSTALLED)  ## Run the chapter's experiments (DATA_FOLDER=... has your chromosomes.csv and proteins/)
	$(BIN)/python -m reproduction all $(if $(DATA_FOLDER),--data $(DATA_FOLDER)) -o reproduced

picture: $(INSTALLED)  ## Draw docs/demo.svg again
	$(BIN)/python docs/picture.py docs/demo.svg

wheel:  ## Build a wheel for this Python and kind of machine that brings its loops compiled
	MEDIANMAP_COMPILED=1 $(PYTHON) -m pip wheel --no-deps -w dist .

dist:  ## Build sdist and wheel, and test both in clean environments (TESTS=... for some of the tests only)
	PYTHON=$(PYTHON) TESTS="$(TESTS)" .ci/dist

clean:  ## Remove what was built
	rm -rf .venv .pytest_cache .hypothesis .mypy_cache .ruff_cache medianmap-demo build docs/built
