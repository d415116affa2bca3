"""A benchmark whose module cannot be imported."""

raise ModuleNotFoundError("No module named 'a_package_that_nobody_has'")
