"""Run the harness against a local server whose answers are known, and check every score: ``medtasks selfcheck``.

==========================  ========================================================================
:mod:`.known_answers`       the answers of the server, and the expected scores
:mod:`.answer_server`       the server
:mod:`.check`               runs the harness and compares the scores
:mod:`.selfcheck_result`    the result as text and as JSON
:mod:`.published`           scores published responses, and compares verdicts, with ``--published``
==========================  ========================================================================
"""
