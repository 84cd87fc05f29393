# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
STAMP := $(VENV)/.installed

.PHONY: demo test test-agents check unit bench format clean help

help:
	@echo "make demo         watch an agent work in a real Neovim"
	@echo "make test         everything: lint, types, unit and end-to-end tests"
	@echo "make test-agents  real agents (from npm) with a scripted model"
	@echo "make check        lint and types only"
	@echo "make bench        measure the hot paths"

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("acp-sidecar needs Python 3.11 or newer; set PYTHON=python3.x") if sys.version_info < (3, 11) else None'
	@echo "Installing into $(VENV), about half a minute ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	@$(BIN)/acp-sidecar demo

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A file of tests stays together: its tests share what is dear to set up.
test: check
	$(BIN)/python -m pytest --numprocesses=$(JOBS) --dist=loadfile

# RECORD=DIR keeps a recording of each run there.
test-agents: $(STAMP)
	$(BIN)/python -m tests.real_agents.install
	RECORD="$(RECORD)" $(BIN)/python -m pytest tests/real_agents

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .agents build dist .pytest_cache .mypy_cache .ruff_cache
