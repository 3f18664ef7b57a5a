"""The commands `plan` and `forecast`: how many labels each item gets, and the work that this takes."""
