"""``medtasks report``: one self-contained page from one or more runs.

Data flows one way: runs (:mod:`medtasks_utils.results`) → units, which the page has columns and sections for
(:mod:`.units`) → tables and plots as data (:mod:`.summary`, :mod:`.sections`, :mod:`.comparison`) → the page
(:mod:`.page`). Samples go beside that, packed (:mod:`.samples`), and are unpacked in the browser (``assets/*.js``).
"""
