"""The checks by which a release proves its numbers: in the reader's browser (proof.html) and on the server."""
