"""The commands `plan` and `forecast`: how many labels each item gets, and what that will take."""
