"""The same as `worker.ts` in Python, for the end-to-end tests. Prints one JSON line for each event."""

import json
import os
import sys
import time
from typing import Any

from convex_conveyor import ConveyorError, Job, Worker


def say(line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def square(job: Job) -> dict[str, int]:
    n = job.payload["n"]
    say({"started": job.id, "n": n, "attempt": job.attempt})
    job.progress({"half": False})
    if job.attempt == 1:
        time.sleep(job.payload["workMs"] / 1_000)
    say({"finished": job.id, "n": n, "attempt": job.attempt})
    return {"square": n * n}


worker = Worker(
    os.environ["CONVEX_URL"],
    os.environ["CONVEYOR_TOKEN"],
    ["sums"],
    square,
    module="work",
    name=os.environ["WORKER_NAME"],
    concurrency=int(os.environ["WORKER_CONCURRENCY"]),
    on_event=lambda event: say({"event": event}),
)
try:
    worker.run()
    say({"stopped": True})
except ConveyorError as error:
    say({"error": error.message})
    sys.exit(1)
