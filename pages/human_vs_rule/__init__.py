"""Human_vs_rule."""
