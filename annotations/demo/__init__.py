"""The two demo projects."""
