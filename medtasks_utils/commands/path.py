"""``medtasks path``: print the folder with the tasks."""

from medtasks_utils.benchmarks.yaml_tasks import tasks_path

from .flags import Command, CommandResult


class TasksPath(Command):
    about = 'Print the tasks folder, for lm_eval --include_path "$(medtasks path)".'

    def run(self) -> CommandResult:
        """Return the folder with the tasks."""
        return CommandResult([str(tasks_path())], {"tasks": str(tasks_path())})
