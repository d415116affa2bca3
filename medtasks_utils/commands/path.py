"""``medtasks path``: where the tasks are."""

from medtasks_utils.benchmarks.yaml_tasks import tasks_path

from .flags import Command


class TasksPath(Command):
    """Print the tasks folder, for lm_eval --include_path "$(medtasks path)"."""

    def run(self) -> int:
        """Print it."""
        return self.tell({"tasks": str(tasks_path())}, str(tasks_path()))
