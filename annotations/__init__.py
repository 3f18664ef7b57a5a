"""annotations turns labels into gold: it stores, assigns, compares and adjudicates them."""

import evenhand.core  # noqa: F401  says on which systems Evenhand runs, before a module here asks for more
