"""Cache replies on disk, in a file that several processes can share and that a killed process does not damage.

The cache is an SQLite database in write-ahead mode; each reply is a transaction of its own. Write-ahead mode needs a
local disk: on a network file system, use a separate file on each machine.
"""

import json
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from .judge_settings import JudgeError

_BUSY_SECONDS = 30.0
_SET_UP = """
    PRAGMA synchronous = NORMAL;  -- survives a killed process, not a power cut
    CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT NOT NULL, written REAL NOT NULL);
    BEGIN IMMEDIATE;  -- fails if the file is read-only
    ROLLBACK;
"""


class Cache:
    """A persistent store of replies by key.

    Args:
        path: the database file; it and its folder are created if missing.

    Raises:
        JudgeError: if the file cannot be opened for writing.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            with suppress(sqlite3.OperationalError):  # "locked": another process is switching the mode
                self._database.execute("PRAGMA journal_mode = WAL")
            self._database.executescript(_SET_UP)
        except (OSError, sqlite3.Error) as error:
            raise JudgeError(
                f"cannot write the judge's cache {path} ({error}): name another file with judge_cache or --cache"
            ) from None

    def get(self, key: str) -> str | None:
        """Return the reply stored under a key; None if there is none or it is damaged."""
        with suppress(ValueError, TypeError, KeyError, sqlite3.DatabaseError):
            (value,) = self._database.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
            return str(json.loads(value)["text"])
        return None

    def put(self, key: str, text: str) -> None:
        """Store a reply and commit the transaction."""
        value = json.dumps({"text": text})
        self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, value, time.time()))

    def close(self) -> None:
        """Close the database."""
        self._database.close()
