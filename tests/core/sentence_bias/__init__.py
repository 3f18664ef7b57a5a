"""Tests of core/sentence_bias."""
