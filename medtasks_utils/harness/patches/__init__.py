"""Every reach into lm_eval's insides, each with what fails without it; all were seen in 0.4.13.

Nothing happens when this module is imported: :func:`prepare_harness` is called when the first task is made. All else in
the pack uses what lm_eval documents for task authors.

:mod:`.tasks`
    What tasks need of lm_eval's insides: standard errors, samples, prompts, the index of tasks.
:mod:`.models`
    What reaches the model behind a task: which it is, its cache, and single requests to API models.
:mod:`.commands`
    What ``medtasks eval`` needs of the command line's and the evaluator's insides.
"""
