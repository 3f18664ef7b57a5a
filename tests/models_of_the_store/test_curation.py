"""All that a lead may do to a project while desks are at work, in any order: nothing is lost, nothing is stuck."""

from hypothesis import Phase, settings

from tests.models_of_the_store.curation import Curation

TestCuration = Curation.TestCase
# What fails is shown as it was found, without minutes of search for a shorter one.
TestCuration.settings = settings(
    max_examples=8,
    stateful_step_count=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
