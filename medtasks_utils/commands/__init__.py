"""Commands of the console script ``medtasks``, one module each, with a class derived from :class:`.flags.Command`.

A module imports heavy packages in ``run`` and not at the top, so that the script starts quickly.
"""
