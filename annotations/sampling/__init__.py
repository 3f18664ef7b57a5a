"""Samples: which items people label next, the inclusion probability of each, and what their labels then weigh."""
