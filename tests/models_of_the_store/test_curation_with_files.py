"""A curation with exports and imports in between.

A longer search than the suite has time for:
`python -m tests.models_of_the_store.test_curation_with_files SEED EXAMPLES STEPS`.
"""

import sys
from typing import Any

from hypothesis import Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.models_of_the_store.leaving import Leaving


def limits(examples: int, steps: int) -> settings:
    """Return settings that report a failing example as drawn, without minutes of shrinking."""
    return settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None, print_blob=True,
        phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip


TestLeaving: Any = Leaving.TestCase
TestLeaving.settings = limits(8, 25)


if __name__ == "__main__":
    number, examples, steps = map(int, sys.argv[1:4])
    machine: type[RuleBasedStateMachine] = seed(number)(Leaving)
    run_state_machine_as_test(machine, settings=limits(examples, steps))
    print(f"{examples} curations of {steps} steps each: nothing broke")
