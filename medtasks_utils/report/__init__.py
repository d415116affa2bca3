"""Build one self-contained page from one or more runs: ``medtasks report``.

Data flows one way: runs (:mod:`medtasks_utils.results`) → topics, each with a column and a section of the page
(:mod:`.topics`) → figures and tables as data (:mod:`.leaderboard`, :mod:`.sections`, :mod:`.comparison`) → the page
(:mod:`.page`), whose scripts draw them. Samples are packed (:mod:`.packed_samples`), and unpacked in the browser
(``assets/*.js``).
"""
