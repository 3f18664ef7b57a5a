"""The commands `weat`, `crows` and `stereoset`."""
