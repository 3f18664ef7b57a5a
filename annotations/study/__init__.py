"""Online studies: people without an account who agree, pass a short test, label at a desk, and get a code.

studies: the study and its texts. links: its signed address. people: where somebody is, from consent to code.
questions: the test. withdrawal: labels of somebody who withdraws. pay: time and implied hourly pay. texts: what a new
study begins with.
"""
