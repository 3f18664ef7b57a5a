"""The desk as the server sees it; static/ holds its HTML, CSS and JavaScript.

routes: the HTTP requests. messages: JSON to values and back. session: who is at the desk, from a token. tokens: signed
and expiring. frontend: what a desk starts with. announcements: news of the guideline. opinion: what a model says of a
sentence that was labelled. strings: every text of the desk, for translation.
"""
