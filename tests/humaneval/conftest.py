"""What tests of the judges' pages share."""

from browsers import browser, open_page

__all__ = ["browser", "open_page"]
