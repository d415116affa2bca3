"""Distribute the requests to one port among replicas of a server: ``python -m …balancer PORT REPLICA_PORT…``.

A connection goes to the replica with the fewest connections. A client with persistent connections thus spreads its
requests evenly, and a faster replica gets the next request sooner.
"""

import asyncio
import sys
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress

_CHUNK = 1 << 16  # bytes


async def balance(port: int, replicas: Sequence[int]) -> None:
    """Accept connections on a port, and forward them to replicas on this machine, until cancelled."""
    connections = Counter[int]()

    async def accept(reader: StreamReader, writer: StreamWriter) -> None:
        replica = min(replicas, key=connections.__getitem__)
        connections[replica] += 1
        with closing(writer), suppress(OSError):
            its_reader, its_writer = await asyncio.open_connection("127.0.0.1", replica)
            await asyncio.gather(_copy(reader, its_writer), _copy(its_reader, writer))
        connections[replica] -= 1

    server = await asyncio.start_server(accept, "127.0.0.1", port)
    await server.serve_forever()


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    with closing(target), suppress(OSError):
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()


if __name__ == "__main__":
    first, *others = map(int, sys.argv[1:])
    asyncio.run(balance(first, others))
