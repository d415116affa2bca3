"""``medtasks selfcheck``: run the real harness against a local server whose answers, and so the scores, are known.

==========================  ========================================================================
:mod:`.known_answers`       what the server answers, and what every score must then be
:mod:`.answer_server`       the server
:mod:`.check`               runs the harness and compares the scores
:mod:`.selfcheck_result`    the result as text and as JSON
==========================  ========================================================================
"""
