"""annotations turns people's judgements into gold labels: it keeps, shares out, compares and settles them."""

import core  # noqa: F401  says on which systems Evenhand runs, before a module here asks for more
