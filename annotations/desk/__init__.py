"""The server side of the desk; static/ holds its HTML, CSS and JavaScript.

routes: the HTTP requests. messages: JSON to values and back. session: who is at the desk, by a signed token. frontend:
the start data of a desk, and changes of the guideline. opinion: a model's scores of a labelled sentence. strings: every
text of the desk, for translation.
"""
