"""The commands `generate` and `sample`: let a model write, and draw a sample of it into a project."""
