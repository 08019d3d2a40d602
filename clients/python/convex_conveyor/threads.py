"""Threads for handlers and calls. Daemons: a handler that goes on after its signal does not keep the process alive."""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable, Optional

Task = tuple[Callable[[], Any], "Future[Any]"]


class Threads:
    """Threads that are kept: a library that sets something up in a thread does so once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Task]] = []

    def submit(self, run: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # From here on no caller can cancel it.
        with self._lock:
            tasks = self._idle.pop() if self._idle else None
        if tasks is None:
            tasks = queue.SimpleQueue()
            threading.Thread(target=self._work, args=(tasks,), name=self._name, daemon=True).start()
        tasks.put((run, future))
        return future

    def _work(self, tasks: "queue.SimpleQueue[Task]") -> None:
        while True:
            run, future = tasks.get()
            try:
                result, error = run(), None
            except BaseException as caught:  # The thread goes on, also after SystemExit in a handler.
                result, error = None, caught
            # Before the end is known: the next task finds the thread idle.
            with self._lock:
                self._idle.append(tasks)
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
            del run, future, result, error


class HandlerLoop:
    """An event loop in a thread of its own for async handlers: one that blocks it costs no lease."""

    def __init__(self) -> None:
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._stopped = False

    def start(self, coroutine: Any) -> tuple["Future[Any]", Callable[[], None]]:
        """Begins the coroutine; returns its end, and the function that cancels it.

        The end is the task's own, also after a cancel: a handler may clean up, and may still return a result.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._run, args=(self._loop,), name="conveyor-async", daemon=True).start()
        loop = self._loop
        end: Future[Any] = Future()
        end.set_running_or_notify_cancel()
        tasks: list[asyncio.Task[Any]] = []

        def begin() -> None:
            task = loop.create_task(coroutine)
            tasks.append(task)
            task.add_done_callback(lambda task: settle(task, end))

        loop.call_soon_threadsafe(begin)
        return end, lambda: loop.call_soon_threadsafe(lambda: tasks[0].cancel()) and None

    def stop(self) -> None:
        self._stopped = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """A SystemExit of a task ends `run_forever`: the other handlers, and the end of that task, need it to go on."""
        while not self._stopped and not loop.is_closed():
            try:
                loop.run_forever()
            except BaseException:
                pass  # The task has the error, and its end tells.


def settle(task: "asyncio.Task[Any]", end: "Future[Any]") -> None:
    if task.cancelled():
        end.set_exception(asyncio.CancelledError())
    elif task.exception() is not None:
        end.set_exception(task.exception())
    else:
        end.set_result(task.result())
