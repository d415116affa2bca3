"""The tests' judge as a process of its own.

Usage: python measurements/judge.py [--latency 0.2] [--faulty]

It prints its address and serves until it is killed; ``GET`` of any path tells what it has seen.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from judge_server import JudgeServer, faulty, sound
from local_server import HANG_UP, Answer, Fault, Request


def main() -> None:
    parser = argparse.ArgumentParser(description="a local judge for measurements")
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--faulty", action="store_true", help="10 %% 429, 5 %% 500, 3 %% hang-ups")
    arguments = parser.parse_args()
    shares = ((0.10, Fault(429, headers={"Retry-After": "1"})), (0.05, Fault(500)), (0.03, HANG_UP))

    judge = faulty(shares, sound) if arguments.faulty else sound

    def later(request: Request) -> Answer:
        time.sleep(arguments.latency)
        return judge(request)

    class Counting(JudgeServer):
        def get(self, method: str, path: str) -> Fault:
            counts = {"requests": len(self.requests), "answered": len(self.answered), "most_at_once": self.most_at_once}
            return Fault(200, counts)

    with Counting(later) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
