"""Requests to models that this program does not reach, and responses that were generated elsewhere.

:mod:`.batch`
    The requests of a run as a file, and the responses to them as a run.
:mod:`.other_runs`
    Reading the runs that other harnesses saved.
:mod:`.matching`
    Finding the document that a response belongs to.
:mod:`.saving`
    Scoring such responses, and saving them as lm_eval saves a run.
"""
