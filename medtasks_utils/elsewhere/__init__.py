"""Write requests for models that are unreachable from this machine, and score responses that were generated elsewhere.

:mod:`.batch`
    Write the requests of a run to a file, and convert the responses to a run.
:mod:`.other_runs`
    Read the runs that other harnesses saved.
:mod:`.matching`
    Find the document to which a response belongs.
:mod:`.record_contents`
    Compare an imported record with its row, and find the order of its choices.
:mod:`.saving`
    Score the responses of other harnesses, and save them as lm_eval saves a run.
"""
