"""The commands of the console script ``medtasks``, one module each, with a class derived from :class:`.flags.Command`.

At its top a module imports little; everything heavier is imported in ``run``, so that the script starts at once.
"""
