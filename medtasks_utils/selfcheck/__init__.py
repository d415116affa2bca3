"""``medtasks selfcheck``: the real harness against a local server whose answers, and so whose scores, are known.

:mod:`.answers` says what is served and expected, :mod:`.server` serves, :mod:`.check` runs and compares, :mod:`.output`
tells.
"""
