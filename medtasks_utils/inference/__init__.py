"""Speak to models and their servers: send requests, read replies and errors, and keep replies in files.

:mod:`.client`
    The only HTTP client.
:mod:`.pace`
    How many requests are under way at once, and when one is sent again.
:mod:`.responses`
    What a response means: a completion, or a type of error for each failure that callers treat differently.
:mod:`.provider_words`
    What a server's error is about, by the words of some thirty providers.
:mod:`.replies`
    The replies in a completion: their texts, how they ended, their tokens and their reasoning.
:mod:`.reply_checks`
    Whether the replies of a task are what was requested.
:mod:`.reply_store`, :mod:`.reply_files`
    The replies of a run that are kept, and the files that they are kept in.
"""
