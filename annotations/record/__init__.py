"""An annotator's own record."""
