"""``medtasks report``: one self-contained page from one or more runs.

Data flows one way: runs (:mod:`medtasks_utils.results`) → topics, for which the page has columns and sections
(:mod:`.topics`) → tables and plots as data (:mod:`.summary`, :mod:`.sections`, :mod:`.comparison_section`) → the page
(:mod:`.page`). Samples are packed (:mod:`.packed_samples`) and unpacked in the browser (``assets/*.js``).
"""
