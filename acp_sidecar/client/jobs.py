"""The commands that run for agents, over all sessions: none outlives the sidecar."""

from __future__ import annotations

from acp_sidecar.agents.job import Job, end_at_once
from acp_sidecar.tasks import Spawn, Tasks


class Jobs:
    """Every command that runs, over all sessions, to its very end."""

    def __init__(self, spawn: Spawn) -> None:
        self._tasks = Tasks(spawn)
        self._jobs: set[Job] = set()
        self._hurried = False

    def add(self, job: Job) -> None:
        """This one has started."""
        self._jobs = {each for each in self._jobs if not each.gone} | {job}

    def end(self, job: Job) -> None:
        """End this one, in its own time."""
        if not self._hurried:
            self._tasks.start(job.end(), name=f"end of the command {job.pid}")

    def hurry(self) -> None:
        """:meth:`stop` will end all of them: do not begin to end one by one."""
        self._hurried = True

    async def stop(self) -> None:
        """End all of them, without patience."""
        await end_at_once(self._jobs)

    def kill(self) -> None:
        """The last resort, at once."""
        for job in self._jobs:
            if not job.gone:
                job.kill_now()
