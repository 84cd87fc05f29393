# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests wait for a third of their time: half as many again as there are processors.
JOBS ?= $(shell expr \( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) \* 3 + 1 \) / 2)
STAMP := $(VENV)/.installed
EXTENSION := editor-clients/vscode
NODE_MODULES := $(EXTENSION)/node_modules/.package-lock.json
NPM := cd $(EXTENSION) && PATH="$(CURDIR)/$(BIN):$$PATH" npm --silent

.PHONY: demo test test-agents test-vscode vscode vscode-tools vscode-check vscode-parts check unit bench format clean help

help:
	@echo "make demo         watch an agent work in a real Neovim"
	@echo "make test         everything: lint, types, unit and end-to-end tests"
	@echo "make test-agents  real agents (from npm) with a scripted model"
	@echo "make vscode       the VS Code extension, packed: $(EXTENSION)/*.vsix"
	@echo "make test-vscode  the VS Code extension, also in a real VS Code in a browser"
	@echo "make check        lint and types only"
	@echo "make bench        measure the hot paths"

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("acp-sidecar needs Python 3.11 or newer; set PYTHON=python3.x") if sys.version_info < (3, 11) else None'
	@echo "Installing into $(VENV), about a minute ..."
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

$(NODE_MODULES): $(STAMP) $(EXTENSION)/package-lock.json
	$(NPM) ci
	touch $@

vscode: $(NODE_MODULES)
	$(NPM) run package

# Node comes from the virtual environment; code-server and Chromium are installed where missing.
vscode-tools: $(NODE_MODULES)
	$(NPM) run install-vscode

# What uses one processor goes beside what waits for pip; the browsers get both.
test-vscode: vscode vscode-tools
	$(MAKE) --jobs=2 vscode-check vscode-parts
	$(NPM) run test-webview
	$(NPM) run test-vscode

vscode-check: $(NODE_MODULES)
	$(NPM) run check

vscode-parts: $(NODE_MODULES)
	$(NPM) test
	$(NPM) run test-environment

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .agents build dist .pytest_cache .mypy_cache .ruff_cache
	cd $(EXTENSION) && rm -rf node_modules .vscode-test test-results dist bundled *.vsix
