# Make targets for working with agents; GNU make. Include it from your Makefile:
#
#     include agents/agents.mk
#
#     make agent-start       AGENT=backend TICKET=PAY-123
#     make agent-prompt      AGENT=backend TICKET=PAY-123
#     make agent-scope-check AGENT=backend TICKET=PAY-123
#     make agent-close       AGENT=backend TICKET=PAY-123
#     make agent-status
#
# What AGENT and TICKET hold is never read by make or by a shell: `$(value …)` takes it as it is, it reaches the recipe in
# the environment, and placet refuses what is no name.

PLACET ?= placet

ifneq ($(origin AGENT),undefined)
override AGENT := $(value AGENT)
endif
ifneq ($(origin TICKET),undefined)
override TICKET := $(value TICKET)
endif

placet_targets := agent-start agent-prompt agent-scope-check agent-close
$(placet_targets): export PLACET_MAKE_AGENT = $(value AGENT)
$(placet_targets): export PLACET_MAKE_TICKET = $(value TICKET)

.PHONY: $(placet_targets) agent-status

agent-start:
	@$(PLACET) start --agent="$$PLACET_MAKE_AGENT" --ticket="$$PLACET_MAKE_TICKET"

agent-prompt:
	@$(PLACET) prompt --agent="$$PLACET_MAKE_AGENT" --ticket="$$PLACET_MAKE_TICKET"

agent-scope-check:
	@$(PLACET) scope-check --agent="$$PLACET_MAKE_AGENT" --ticket="$$PLACET_MAKE_TICKET"

agent-close:
	@$(PLACET) close --agent="$$PLACET_MAKE_AGENT" --ticket="$$PLACET_MAKE_TICKET"

agent-status:
	@$(PLACET) status
