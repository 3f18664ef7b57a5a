"""Agreement."""

from pages._widgets import _, page_head

page_head(_("Agreement"))
