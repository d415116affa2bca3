"""Run a model's server as a program: ``python served_model.py PORT REQUESTS SECONDS``.

It answers each request after SECONDS, and appends a hash of its prompt to the file REQUESTS.
"""

import hashlib
import os
import sys
import threading
import time

from local_server import LocalServer, Request
from scripts import prompt_of


def answer(request: Request) -> str:
    with open(sys.argv[2], "a", encoding="utf-8") as requests:
        requests.write(f"{request['model']} {hashlib.sha256(prompt_of(request).encode()).hexdigest()}\n")
    time.sleep(float(sys.argv[3]))
    return "\\boxed{1}"


print("GPUs", os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
with LocalServer(answer, port=int(sys.argv[1])):
    threading.Event().wait()
