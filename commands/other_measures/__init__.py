"""The commands `weat`, `crows`, `stereoset`, `other-measures` and `classifier-gaps`."""
