"""Communicate with model servers: send requests, parse replies and errors, and store replies in files.

:mod:`.client`
    The only HTTP client.
:mod:`.pace`
    The number of concurrent requests, and the timing of retries.
:mod:`.responses`
    The meaning of a response: a completion, or a type of error for each failure that callers treat differently.
:mod:`.provider_words`
    The cause of a server's error, by the wording of some thirty providers.
:mod:`.replies`
    The replies in a completion: texts, finish reasons, token counts and reasoning.
:mod:`.reply_checks`
    Checks for replies that are not as requested.
:mod:`.reply_store`, :mod:`.reply_files`
    The stored replies of a run, and their files.
"""
