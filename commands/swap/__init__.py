"""The command `swap`: counterfactual texts."""
