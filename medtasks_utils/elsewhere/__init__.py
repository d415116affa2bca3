"""Write requests for models that cannot be reached from here, and score responses that were generated elsewhere.

:mod:`.batch`
    Write the requests of a run to a file, and turn the responses into that run.
:mod:`.other_runs`
    Read the runs that other harnesses saved.
:mod:`.matching`
    Find the document to which a response belongs.
:mod:`.record_contents`
    Compare a record with the row that it is about, and find the order in which it shows the choices.
:mod:`.saving`
    Score the responses of other harnesses, and save them as lm_eval saves a run.
"""
