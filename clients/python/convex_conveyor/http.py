"""Calls of a deployment's functions over plain HTTP. Nothing of the protocol's rules is here.

A call takes a connection that is free, or opens one; calls of several threads never share one at a time. Every call
of a worker may be made twice, so a kept connection that the server has closed costs nothing but a new one.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from base64 import b64encode
from typing import Any, Optional
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from .errors import ConveyorError, Rejected, Unanswered
from .values import decode

#: Servers close kept connections after 5 s and more.
KEPT_S = 4.0
KEPT_MAX = 4
#: The status of an answer that reports a function's own error.
FUNCTION_FAILED = 560
#: The platform's code for a transaction that lost its conflicts: it is known not to have happened.
CONFLICT = "OptimisticConcurrencyControlFailure"


class Http:
    """The functions of one deployment. Thread-safe."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._is_tls = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._is_tls else 80)
        self._base = parts.path.rstrip("/")
        self._proxy = proxy_of(parts.scheme, self._host)
        self._tls = ssl.create_default_context() if self._is_tls else None
        self._lock = threading.Lock()
        self._free: list[tuple[float, http.client.HTTPConnection]] = []

    def call(self, kind: str, path: str, args: dict[str, Any], timeout_s: float) -> Any:
        """Calls a ``query`` or ``mutation`` with encoded arguments; returns its decoded value.

        Raises Unanswered where it is unknown whether the call took effect, and ConveyorError or Rejected where it
        certainly did not.
        """
        body = json.dumps({"path": path, "args": args, "format": "convex_encoded_json"}).encode("utf-8")
        try:
            status, text = self._post(f"{self._base}/api/{kind}", body, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered(f"{type(error).__name__}: {error}") from error
        return read_answer(status, text)

    def close(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for _, connection in free:
            connection.close()

    def _post(self, path: str, body: bytes, timeout_s: float) -> tuple[int, str]:
        kept = self._kept()
        if kept is not None:
            try:
                return self._send(kept, path, body, timeout_s)
            except TimeoutError:
                raise
            except (OSError, http.client.HTTPException):
                pass  # The server has closed it meanwhile.
        return self._send(self._new(timeout_s), path, body, timeout_s)

    def _send(self, connection: http.client.HTTPConnection, path: str, body: bytes, timeout_s: float) -> tuple[int, str]:
        try:
            connection.timeout = timeout_s
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            headers = {"Content-Type": "application/json", "Convex-Client": "conveyor-python-0.1.0"}
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._keep(connection)
        return response.status, text

    def _new(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        if self._proxy is None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout_s, context=self._tls)
        host, port, headers = self._proxy
        connection = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=self._tls)
        connection.set_tunnel(self._host, self._port, headers)
        return connection

    def _kept(self) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            while self._free:
                since, connection = self._free.pop()
                if time.monotonic() - since < KEPT_S:
                    return connection
                connection.close()
        return None

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._free) < KEPT_MAX:
                self._free.append((time.monotonic(), connection))
                return
        connection.close()


def proxy_of(scheme: str, host: str) -> Optional[tuple[str, int, dict[str, str]]]:
    """The proxy for TLS that the environment names, as in ``HTTPS_PROXY``, and the headers with its user and password."""
    given = getproxies().get(scheme) if scheme == "https" else None
    if not given or proxy_bypass(host):
        return None
    parts = urlsplit(given if "//" in given else f"//{given}")
    if parts.hostname is None:
        return None
    headers = {}
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + b64encode(user.encode("utf-8")).decode("ascii")
    return parts.hostname, parts.port or 8080, headers


def read_answer(status: int, text: str) -> Any:
    """The value of an answer, or the error that it is."""
    is_unsure = status in (408, 429) or (status >= 500 and status != FUNCTION_FAILED)
    if is_unsure and CONFLICT not in text:
        raise Unanswered(f"HTTP {status}: {text[:200]}")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    kind = answer.get("status") if isinstance(answer, dict) else None
    if kind == "success":
        return decode(answer.get("value"))
    if kind == "error":
        raise error_of(answer)
    if status < 400:
        raise Unanswered(f"An answer that is not Convex's: {text[:200]}")
    raise Rejected(f"HTTP {status}: {text[:500]}")


def error_of(answer: dict[str, Any]) -> Exception:
    data = decode(answer.get("errorData"))
    if isinstance(data, dict) and isinstance(data.get("code"), str) and isinstance(data.get("message"), str):
        return ConveyorError(data["code"], data["message"], data)
    return Rejected(str(answer.get("errorMessage", "The function failed.")))
