"""Tests of models_of_the_store."""
