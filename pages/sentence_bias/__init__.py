"""Sentence_bias."""
