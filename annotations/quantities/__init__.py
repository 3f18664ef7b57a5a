"""The catalogue of quantities: what each number that the app states about a project is, and the function behind it."""
