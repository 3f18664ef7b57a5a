"""Online studies: people without an account who agree, pass a short test, label at a desk, and get a code.

studies: the study, its address and test. people: the participants, from consent to code or withdrawal, and their pay.
texts: the default texts of a new study.
"""
