# Thin on purpose: every rule is a subcommand of `cargo xtask`.
.PHONY: demo test check servers bench wheel docs

# The tests start Python a thousand times: its modules are compiled once, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

XTASK := cargo run -q -p xtask --

demo: ; @$(XTASK) demo

test: ; @$(XTASK) test

check: ; @$(XTASK) check

servers: ; @$(XTASK) servers

bench: ; @$(XTASK) bench $(NAME) $(ARGS)

wheel: ; @$(XTASK) wheel

docs: ; @$(XTASK) docs
