"""docs holds the documentation and what makes it: the command reference and the screenshots."""
