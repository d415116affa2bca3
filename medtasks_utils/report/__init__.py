"""Build one page from one or more runs: ``medtasks report``.

Data flows one way: runs (:mod:`medtasks_utils.results`) → topics, which are tasks or groups of tasks with all their
values (:mod:`.topics`) → scores by run and benchmark (:mod:`.board`), differences (:mod:`.pair`) and parts
(:mod:`.where`) → sentences on them (:mod:`.lead`, :mod:`.cautions`) → everything shown under a filter (:mod:`.view`) →
the page (:mod:`.page`), drawn by templates (:mod:`.rendering`, ``assets/*.html``) as HTML and SVG without scripts.
Samples are packed (:mod:`.packed_samples`), and unpacked in the browser (``assets/*.js``).

The effect of the order of choices is in :mod:`.orders` and ``assets/order.html``. The table at the end of ``medtasks
eval`` is in :mod:`.score_table`, and the files of ``medtasks publish`` are in :mod:`.eval_results` and
:mod:`.every_eval_ever`.
"""
