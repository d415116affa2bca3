"""Answered calls on disk: safe under several processes, and under a kill at any moment.

SQLite in write-ahead mode. Every answer is a transaction of its own, there the moment it is written. Write-ahead mode
needs a local disk: on a network file system give every machine a file of its own.
"""

import json
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from .settings import JudgeError

_BUSY_SECONDS = 30.0
_SET_UP = """
    PRAGMA synchronous = NORMAL;  -- outlives a killed process, not a power cut
    CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT NOT NULL, written REAL NOT NULL);
    BEGIN IMMEDIATE;  -- fails on a file that can only be read
    ROLLBACK;
"""


class Cache:
    """JSON objects by key.

    Args:
        path: the file; made, with its folder, if it is not there.

    Raises:
        JudgeError: if it cannot be opened and written.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            with suppress(sqlite3.OperationalError):  # "locked": another process is just switching the same file
                self._database.execute("PRAGMA journal_mode = WAL")
            self._database.executescript(_SET_UP)
        except (OSError, sqlite3.Error) as error:
            raise JudgeError(
                f"the judge's cache {path} cannot be written ({error}): name another file as judge_cache"
            ) from None

    def get(self, key: str) -> dict[str, Any] | None:
        """The object, or None."""
        row = self._database.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
        value: dict[str, Any] | None = row and json.loads(row[0])
        return value

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Write at once."""
        self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, json.dumps(value), time.time()))

    def close(self) -> None:
        """Close the file."""
        self._database.close()
