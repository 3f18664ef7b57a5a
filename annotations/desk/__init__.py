"""HTTP routes, messages, session, tokens; static/ holds its HTML, CSS, JavaScript."""
