"""Tests of core/model_bias."""
