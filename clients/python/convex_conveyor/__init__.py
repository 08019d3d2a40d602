"""A worker for Conveyor, durable job queues on Convex. Standard library only.

Example::

    import os
    from convex_conveyor import Job, Worker

    def render(job: Job) -> dict:
        for line in range(100):
            if job.is_canceled:
                return None
            job.progress({"line": line})
        return {"bytes": 1234}

    Worker(os.environ["CONVEX_URL"], os.environ["CONVEYOR_TOKEN"], ["tiles"], render, module="workers").run()
"""

from .errors import ConveyorError, NoRetry, RetryAfter
from .handlers import Handler
from .job import Job
from .values import Int64
from .worker import Worker

__all__ = ["ConveyorError", "Handler", "Int64", "Job", "NoRetry", "RetryAfter", "Worker"]
__version__ = "0.1.0"
