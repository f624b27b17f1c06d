# Each target does its own set-up; all that is needed beforehand is Rust (and Python 3 for `bench`, npm for
# `accuracy`, `bench` and `reproduce`).

CARGO ?= cargo
PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench accuracy reproduce

help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Train on digits, shift them, and compare the estimated risk with the truth
	$(CARGO) run --release -p triview-cli -- demo

test: ## Run every test: unit, property, command line, documentation, and benches as tests
	$(CARGO) test --workspace --all-targets
	$(CARGO) test --workspace --doc

# Documentation of the libraries only: the binary has the core's name, and its pages would overwrite the core's.
lint: ## Check formatting, lints, documentation, and the tree itself
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --workspace --lib
	scripts/hygiene.sh

bench: .venv/ready ## Time kernels, estimate and adaptation beside faer, NumPy, pyarrow and scikit-learn
	scripts/mnist.sh
	$(CARGO) build --release -p triview-cli
	$(CARGO) bench --workspace --benches
	missed=0; for script in scripts/bench_*.py; do echo; echo "== $$script"; .venv/bin/python $$script || missed=1; done; exit $$missed

accuracy: ## Measure the accuracy on composite MNIST and simulated data (obtains MNIST)
	scripts/mnist.sh
	$(CARGO) run --release --example accuracy

reproduce: ## Redraw the paper's experiments on MNIST in reproduction/ (obtains MNIST)
	scripts/mnist.sh
	$(CARGO) run --release -p triview-cli -- reproduce --mnist data/mnist -o reproduction

.venv/ready: scripts/requirements-bench.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --requirement $<
	touch $@
