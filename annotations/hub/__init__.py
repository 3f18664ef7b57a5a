"""The Hugging Face hub: releases go there, data sets and Argilla projects come from there."""
