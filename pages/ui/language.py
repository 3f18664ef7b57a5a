"""The language of the visitor under its former address: use `pages.ui.text`."""

from evenhand.pages.ui.text import _ as _
from evenhand.pages.ui.text import language as language
from evenhand.pages.ui.text import sentence as sentence
