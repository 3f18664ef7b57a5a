"""The version of the app; pyproject.toml and CHANGELOG.md say the same (a test)."""

VERSION = "0.4.0"
