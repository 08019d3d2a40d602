"""The worker of the conformance script: its configuration comes from the environment, its tasks with each job."""

import os
import time
import urllib.request
from typing import Any

from convex_conveyor import Job, NoRetry, Worker


def handle(job: Job) -> Any:
    tell(job, "begun")
    try:
        return act(job)
    finally:
        tell(job, "ended")


def act(job: Job) -> Any:
    task = job.payload
    if task["do"] == "return":
        return task["value"]
    if task["do"] == "sleep":
        time.sleep(task["ms"] / 1_000)
        return "slept"
    if task["do"] == "wait":
        job.cancel_event.wait()
        return None
    if task["do"] == "say":
        job.progress({"percent": 50})
        job.log("said")
        job.write("text")
        return None
    raise NoRetry(task["message"]) if task["do"] == "failForGood" else RuntimeError(task["message"])


def tell(job: Job, what: str) -> None:
    url = f"{job.payload['url']}/{what}?job={job.id}&attempt={job.attempt}"
    urllib.request.urlopen(urllib.request.Request(url, method="POST")).close()


Worker(
    os.environ["CONVEX_URL"],
    os.environ["CONVEYOR_TOKEN"],
    [os.environ["CONVEYOR_QUEUE"]],
    handle,
    module=os.environ["CONVEYOR_MODULE"],
    concurrency=int(os.environ["CONVEYOR_CONCURRENCY"]),
).run()
