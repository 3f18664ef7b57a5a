"""Sampling designs: which items people should label next, and what each label then stands for."""
