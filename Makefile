# `make demo` and `make test` do all their own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs-installed
# The data sets and the paper's material, when they lie beside the checkout; `make test ZORRO_DATA=`
# does without them.
export ZORRO_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data),)
export ZORRO_PAPER ?= $(if $(wildcard ../shared/paper),$(abspath ../shared/paper),)
# Many tests start processes of their own: none need compile what another has.
test: export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test slow-test coverage lint docs release versions accuracy agreement same-hits honesty graph-size stored-graph bench bench-dense bench-graphs bench-links bench-hetero quality optimality edge-optimality many pages audit clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

# Train a model on a generated graph, explain its predictions for five nodes, right and wrong, and
# write the report.
demo: $(STAMP)
	rm -rf demo-out
	$(BIN)/zorro demo --out demo-out

# The pages are tested in a real browser; without one those tests say why they were left out. Many
# tests wait for a server, a browser or a cluster: three at a time keep two cores at work.
# TESTS="tests/search tests/noise" runs these alone.
test: $(STAMP)
	-@$(BIN)/python tests/browser/find_browser.py
	$(if $(TESTS),,$(BIN)/python -m pytest --quiet --doctest-modules src/zorro)
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(TESTS)

# What takes minutes each and is left out of `make test`.
slow-test: $(STAMP)
	$(BIN)/python -m pytest -m slow

# What share of the library's lines and branches the tests run; slower than the tests alone.
# TESTS="tests/search tests/noise" measures with a part of them and prints the table.
coverage: $(STAMP)
	$(BIN)/python benchmarks/covered.py $(if $(TESTS),--out /dev/stdout $(TESTS))

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint --deny-warnings src/zorro/show
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

# The documentation, from Markdown and docstrings: build/docs/index.html. Its links are checked.
docs: $(DOCS_STAMP)
	rm -rf build/docs docs/api/generated
	$(BIN)/python -m sphinx --builder html --conf-dir docs --fail-on-warning --keep-going --quiet . build/docs
	$(BIN)/python docs/check_links.py build/docs
	@echo "The documentation: file://$(abspath build/docs/index.html)"

# Wheel and sdist, tried in empty environments: without extras, and with each of the light ones.
release: $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt build
	rm -rf dist
	PIP_CONSTRAINT=$(abspath constraints.txt) $(BIN)/python -m build --outdir dist
	$(BIN)/python tests/release/try_wheel.py dist

# Which versions of Python, torch and PyG work: the rows of docs/support.md, or some of them, ROWS="oldest".
versions: $(STAMP)
	$(BIN)/python tests/release/try_versions.py --tests $(ROWS)

# Test accuracies of the paper's models and of our own training; an hour.
accuracy: $(STAMP)
	$(BIN)/python benchmarks/accuracy.py

# Is the class on the extracted graph that on the whole graph? All of the paper's query nodes.
agreement: $(STAMP)
	$(BIN)/python benchmarks/class_agreement.py

# Do both evaluators and a plain loop give the same hits, sample by sample?
same-hits: $(STAMP)
	$(BIN)/python benchmarks/same_hits.py
	$(BIN)/python benchmarks/same_hits_of_edges.py

# Are the claims true? Many kinds of models against a plain loop on the whole graph; half an hour.
honesty: $(STAMP)
	$(BIN)/python benchmarks/honesty.py

# The same query in graphs of 100 thousand to 10 million edges.
graph-size: $(STAMP)
	$(BIN)/python benchmarks/graph_size.py

# Memory and time of graphs of 20 and 100 million edges on disk; 2 GB of disk, 5 GB of memory.
stored-graph: $(STAMP)
	$(BIN)/python benchmarks/stored_graph.py

# How long explanations take; finished measurements are kept (`--fresh` forgets them).
bench: $(STAMP)
	$(BIN)/python benchmarks/speed.py

# Dense features and PyG's own models beside GNNExplainer: seconds, memory, answers; hours.
# `benchmarks/dense.py --against CHECKOUT` measures another version of the library in turn with this.
bench-dense: $(STAMP)
	$(BIN)/python benchmarks/dense.py

# Whole graphs beside GNNExplainer; trains six small models first, some minutes each.
bench-graphs: $(STAMP)
	$(BIN)/python benchmarks/graphs.py

# Seconds of links beside those of nodes: a link predictor and PyG's GAE on Cora.
bench-links: $(STAMP)
	$(BIN)/python benchmarks/links.py

# A graph of several types: authors of DBLP, beside GNNExplainer and a plain loop; an hour.
bench-hetero: $(STAMP)
	$(BIN)/python benchmarks/hetero.py

# Sizes, fidelity, certificates and seconds of all searches on all of the paper's queries; hours.
# Finished explanations are kept.
quality: $(STAMP)
	$(BIN)/python benchmarks/quality.py

# How far the searches are from the smallest sufficient set, on queries small enough to enumerate.
optimality: $(STAMP)
	$(BIN)/python benchmarks/optimality.py

# How far certified sets of edges are from the smallest ones, on graphs of at most 14 edges.
edge-optimality: $(STAMP)
	$(BIN)/python benchmarks/edge_optimality.py

# What explaining many nodes costs: processes, the driver, resuming, memory.
many: $(STAMP)
	$(BIN)/python benchmarks/many.py

# All of Cora audited, its page, losses of single elements, and comparisons that must flag a leak.
audit: $(STAMP)
	$(BIN)/python benchmarks/audit.py

# The report and the explorer in a browser: how soon they open, how soon a click is answered.
pages: $(STAMP)
	$(BIN)/python benchmarks/pages.py
	$(BIN)/python benchmarks/toggle.py

clean:
	rm -rf $(VENV) demo-out
