"""Commands that make the built-in models: `python -m training.known`, `python -m training.demo_zh`."""
