# Two commands matter: `make run` and `make test`. Both work from a bare machine.
# PORT, GOODPUT_STATE and DEMO are read from the environment or the command line: make run PORT=8001 DEMO=0

VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

.PHONY: run test soak lint format requirements install help

run: $(INSTALLED)
	@exec $(PYTHON) manage.py up

test: $(INSTALLED)
	@.ci/test

soak: $(INSTALLED)
	@.ci/test soak

lint: $(INSTALLED)
	@.ci/test lint

format: $(INSTALLED)
	@$(PYTHON) -m ruff format .
	@$(PYTHON) -m ruff check --fix .

install: $(INSTALLED)

requirements: $(INSTALLED)
	@$(PYTHON) -m pip install --quiet uv
	@$(VENV)/bin/uv pip compile --universal --python-version 3.11 --upgrade --no-header requirements.in -o requirements.txt

$(INSTALLED): requirements.txt client/pyproject.toml
	@.ci/install $(VENV)
