"""What people said, matched to runs."""
