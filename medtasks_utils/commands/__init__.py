"""The commands of the console script ``medtasks``, one module each.

A command module says what it takes and does it::

    SUMMARY: str                                            one line for ``medtasks --help``
    add_arguments(parser: argparse.ArgumentParser) -> None
    run(arguments: argparse.Namespace) -> int               the exit code; :func:`.flags.show` prints what it tells

At its top it imports what the standard library has; everything heavier is imported in ``run``, so that the script
starts at once. Every command takes ``--json``, which is added for it. ``add_arguments`` is called only for the command
that is asked for, and may import what its flags need.
"""
