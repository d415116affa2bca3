"""Messages over sockets: four bytes of length, then that many bytes.

Between the run and the supervisor a message is JSON. From a confined process it is one byte and UTF-8 text, which takes
no parsing; see :func:`pack_reply`.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

_HEADER = struct.Struct("!I")


class Malformed(Exception):
    """Bytes that are no message, or one that is too long."""


def pack(body: bytes) -> bytes:
    """A message as bytes."""
    return _HEADER.pack(len(body)) + body


def pack_json(value: Any) -> bytes:
    """A message of JSON as bytes."""
    return pack(json.dumps(value).encode())


class Inbox:
    """Bytes in, messages out.

    Args:
        longest: bytes that a message may have.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Take what was received; returns the messages that are now whole.

        Raises:
            Malformed: if a message announces more than it may have.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= _HEADER.size:
            (length,) = _HEADER.unpack_from(self._buffer)
            if length > self.longest:
                raise Malformed(f"{length} bytes announced")
            end = _HEADER.size + length
            if len(self._buffer) < end:
                break
            messages.append(bytes(self._buffer[_HEADER.size : end]))
            del self._buffer[:end]
        return messages

    def __bool__(self) -> bool:
        return bool(self._buffer)


class Channel:
    """JSON messages over a blocking socket.

    Args:
        connection: the socket.
        longest: bytes that a message may have.
    """

    def __init__(self, connection: socket.socket, longest: int) -> None:
        self.connection = connection
        self._inbox = Inbox(longest)
        self._ready: list[bytes] = []

    def send(self, value: Any) -> None:
        """Send one message."""
        self.connection.sendall(pack_json(value))

    def receive(self) -> Any:
        """The next message.

        Raises:
            EOFError: if the other side is gone.
            TimeoutError: if nothing came within the socket's timeout.
        """
        while not self._ready:
            data = self.connection.recv(1 << 16)
            if not data:
                raise EOFError
            self._ready += self._inbox.feed(data)
        return json.loads(self._ready.pop(0))


def pack_reply(failed: bool, text: str) -> bytes:
    """The reply of a confined process as bytes; lone surrogates become U+FFFD."""
    printable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return pack((b"\1" if failed else b"\0") + printable.encode())


def read_reply(body: bytes) -> tuple[bool, str]:
    """Whether the call failed, and its text, whatever the bytes are."""
    return body[:1] != b"\0", body[1:].decode("utf-8", "replace")
