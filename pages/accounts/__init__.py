"""The page Accounts."""
