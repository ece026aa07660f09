"""Exceptions of the package."""


class Error(ValueError):
    """Something the user can fix: one line that names what was given and what was expected."""


class FormatError(Error):
    """A file is not what it should be. The message begins with its path."""
