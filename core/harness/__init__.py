"""Exchange with the harnesses that run models: lm-evaluation-harness and Inspect."""
