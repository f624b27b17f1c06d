# Each target does its own set-up; all that is needed beforehand is Rust and Python 3.11 (and npm for `accuracy`, `bench`
# and `reproduce`).

CARGO ?= cargo
PYTHON ?= python3
# What tests and lints of the Python package need, in environments of their own.
TOOLS := target/venv/tools
MINIMAL := target/venv/minimal
FULL := target/venv/full

.DEFAULT_GOAL := help
.PHONY: help demo install test test-rust test-fuzz test-python fuzz attack sbom deny lint lint-rust lint-python wheel bench accuracy ablation reproduce

help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Train on digits, shift them, and compare the estimated risk with the truth
	$(CARGO) run --release -p triview-cli --bin triview -- demo

PREFIX ?= $(HOME)/.local

install: ## Install the program, its manual pages and completions below PREFIX, ~/.local unless it is said
	$(CARGO) install --locked --path crates/triview-cli --root $(PREFIX)
	$(PREFIX)/bin/triview man -o $(PREFIX)/share/man/man1
	mkdir -p $(PREFIX)/share/bash-completion/completions $(PREFIX)/share/zsh/site-functions $(PREFIX)/share/fish/vendor_completions.d
	$(PREFIX)/bin/triview completions bash > $(PREFIX)/share/bash-completion/completions/triview
	$(PREFIX)/bin/triview completions zsh > $(PREFIX)/share/zsh/site-functions/_triview
	$(PREFIX)/bin/triview completions fish > $(PREFIX)/share/fish/vendor_completions.d/triview.fish

test: test-rust test-fuzz test-python ## Run every test: Rust, command line, documentation, fuzz targets, Python

test-rust: ## Unit, property, command line and documentation tests, and benches as tests
	$(CARGO) test --all-targets
	$(CARGO) test --doc

test-fuzz: ## Build every fuzz target, and run each for two seconds
	fuzz/run --smoke 2

# What is tested is the wheel itself: first without any optional package, then with all of them, and pages in Debian's Chromium.
test-python: wheel ## Build the wheel and run its tests, without and with the optional packages
	rm -rf $(MINIMAL)
	$(PYTHON) -m venv $(MINIMAL)
	$(MINIMAL)/bin/pip install --quiet --requirement python/requirements-minimal.txt target/wheels/*.whl
	$(MINIMAL)/bin/pytest
	scripts/chromium.sh
	test -e $(FULL)/bin/python || $(PYTHON) -m venv $(FULL)
	$(FULL)/bin/pip install --quiet --requirement python/requirements-test.txt
	$(FULL)/bin/pip install --quiet --no-deps --force-reinstall target/wheels/*.whl
	$(FULL)/bin/pytest

attack: ## Attack the program for three minutes, and write docs/reliability.md
	$(CARGO) build --release -p triview-cli
	$(PYTHON) scripts/attack.py --write

fuzz: ## Build every fuzz target, and run each for ten seconds
	fuzz/run --smoke 10

sbom: ## Write what the program is made of to target/sbom.json
	$(PYTHON) scripts/sbom.py target/sbom.json

deny: ## Check the licences and sources of all dependencies (needs cargo-deny)
	$(CARGO) deny check licenses sources bans

lint: lint-rust lint-python ## Check formatting, lints, types, documentation, and the tree itself
	scripts/hygiene.sh

# Documentation of the libraries only: the binary has the core's name, and its pages would overwrite the core's.
lint-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --lib

lint-python: $(TOOLS)/ready
	$(TOOLS)/bin/ruff check
	$(TOOLS)/bin/ruff format --check python examples
	$(TOOLS)/bin/mypy

wheel: $(TOOLS)/ready ## Build the Python package into target/wheels/
	rm -rf target/wheels
	$(TOOLS)/bin/maturin build --out target/wheels

bench: .venv/ready wheel ## Time kernels, estimate and adaptation beside faer, NumPy, pyarrow and scikit-learn
	scripts/mnist.sh
	.venv/bin/pip install --quiet --no-deps --force-reinstall target/wheels/*.whl
	$(CARGO) build --release -p triview-cli
	$(CARGO) bench --benches
	missed=0; for script in scripts/bench_*.py; do echo; echo "== $$script"; .venv/bin/python $$script || missed=1; done; exit $$missed

accuracy: ## Measure the accuracy on composite MNIST and simulated data (obtains MNIST)
	scripts/mnist.sh
	$(CARGO) run --release -p triview-cli --example accuracy

ablation: ## Measure what each setting is worth, for two hours, and write docs/settings.md (obtains MNIST)
	scripts/mnist.sh
	$(PYTHON) scripts/ablation.py --write

reproduce: ## Redraw the paper's experiments on MNIST in reproduction/ (obtains MNIST)
	scripts/mnist.sh
	$(CARGO) run --release -p triview-cli --bin triview -- reproduce --mnist data/mnist -o reproduction

.venv/ready: scripts/requirements-bench.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --requirement $<
	touch $@

$(TOOLS)/ready: python/requirements-tools.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --requirement $<
	touch $@
