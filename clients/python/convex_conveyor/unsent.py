"""The reports of one attempt that the deployment has not confirmed yet: latest progress, log entries, output.

Entries and parts of output keep their numbers and parts their text until they are confirmed: a call without an answer
may have recorded them, and is repeated. Text that was never sent may still grow. Nothing here knows of calls or time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from .limits import LOGS_MAX, OUTPUT_PART_MAX_BYTES
from .values import size_of, split


@dataclass
class ReportBatch:
    """Part of one call of `report`."""

    updates: list[dict[str, Any]] = field(default_factory=list)
    logs: list[dict[str, Any]] = field(default_factory=list)
    output: list[dict[str, Any]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.updates) + len(self.logs) + len(self.output)


@dataclass
class Budget:
    """How much a call may still carry."""

    items: int
    bytes: int

    def take(self, size: int) -> bool:
        if self.items <= 0 or self.bytes < size:
            return False
        self.items -= 1
        self.bytes -= size
        return True


class UnsentReports:
    def __init__(self, lease: dict[str, Any]) -> None:
        self._lease = lease
        self._progress: Optional[dict[str, Any]] = None
        self._revisions = 0
        self._logs: list[dict[str, Any]] = []
        self._entries = 0
        self._parts: list[dict[str, Any]] = []
        self._next_index = 0
        #: ReportBatch, and in no part yet.
        self.text = ""
        #: The deployment takes no more output of this job.
        self.is_full = False

    @property
    def is_ready(self) -> bool:
        """A report waits that gets no better by waiting."""
        return self._progress is not None or bool(self._logs) or bool(self._parts)

    @property
    def is_empty(self) -> bool:
        return not self.is_ready and self.text == ""

    def show(self, value: Any) -> None:
        self._revisions += 1
        self._progress = {"value": value, "revision": self._revisions}

    def forget_progress(self) -> None:
        """The progress of an ended attempt is not shown, and one that is refused is given up."""
        self._progress = None

    def log(self, entry: dict[str, Any]) -> bool:
        """False if a job may have no more: the deployment would take none of them."""
        if self._entries >= LOGS_MAX:
            return False
        self._logs.append({"entry": self._entries, **entry})
        self._entries += 1
        return True

    def write(self, text: str) -> None:
        """Whole parts are made at once: to lengthen a text of megabytes line by line would cost leases."""
        self.text += text
        if len(self.text) >= OUTPUT_PART_MAX_BYTES:
            *whole, self.text = split(self.text, OUTPUT_PART_MAX_BYTES)
            self._add_parts(whole)

    def take(self, room: Budget) -> ReportBatch:
        """The contents of the next call, as far as there is room, in the order of the reports."""
        reported = ReportBatch()
        if self._progress is not None and room.take(size_of(self._progress["value"])):
            reported.updates.append({**self._lease, **self._progress})
        for entry in self._logs:
            if not room.take(size_of(entry["message"]) + size_of(entry.get("data"))):
                break
            reported.logs.append({**self._lease, **entry})
        self._add_parts(split(self.text, OUTPUT_PART_MAX_BYTES))
        self.text = ""
        for part in self._parts:
            if not room.take(size_of(part["text"])):
                break
            reported.output.append({**self._lease, **part})
        return reported

    def confirm(self, reported: ReportBatch, answer: dict[str, Any]) -> tuple[int, int]:
        """The deployment has answered. Returns how many log entries and characters it did not take."""
        if self._progress is not None and any(one["revision"] == self._progress["revision"] for one in reported.updates):
            self._progress = None
        sent = {one["entry"] for one in reported.logs}
        self._logs = [one for one in self._logs if one["entry"] not in sent]
        dropped = answer.get("logsDropped", 0)
        if not reported.output:
            return dropped, 0
        wanted = answer.get("nextIndex", 0)
        self._parts = [one for one in self._parts if one["index"] >= wanted]
        # Parts that were sent and not taken: there is no room, or the parts before them have been deleted.
        if not answer.get("outputFull") and wanted > reported.output[-1]["index"]:
            return dropped, 0
        return dropped, self._refuse_output()

    def drop(self) -> tuple[int, int]:
        """Gives up the unsent log entries and output, since they would be refused."""
        logs, self._logs = len(self._logs), []
        waits = self.text != "" or bool(self._parts)
        return logs, self._refuse_output() if waits else 0

    def _add_parts(self, texts: list[str]) -> None:
        for text in texts:
            self._parts.append({"index": self._next_index, "text": text})
            self._next_index += 1

    def _refuse_output(self) -> int:
        lost = len(self.text) + sum(len(one["text"]) for one in self._parts)
        self.is_full, self._parts, self.text = True, [], ""
        return lost
