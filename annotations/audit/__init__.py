"""Audit samples as blind projects."""
