"""Model_bias."""
