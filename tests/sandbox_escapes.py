"""Attempts to read, write, connect, disturb or pass a limit from inside the sandbox, by what they are after.

In the code, ``CANARY`` is the path of a file that anyone may read, ``FOLDER`` a folder that anyone may write to, ``PORT``
a listening port of this machine, ``SECRET`` a variable of the run's environment, and ``RUN`` the run's process. Code that
gets hold of what it must not have, without a trace outside, says so: it prints ``GOT`` in capitals and backwards. More
attempts are in ``sandbox_escapes_kernel`` and ``sandbox_escapes_others``.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

SUCCESS: Final = "TOG"

READ: Final = {
    "open": "print(open(CANARY).read())",
    "io.open": "import io\nprint(io.open(CANARY).read())",
    "os.open": "import os\nprint(os.read(os.open(CANARY, 0), 999))",
    "pathlib": "from pathlib import Path\nprint(Path(CANARY).read_text())",
    "mmap": "import mmap, os\nprint(mmap.mmap(os.open(CANARY, 0), 0, prot=1)[:])",
    "runpy": "import runpy\nprint(runpy.run_path(CANARY))",
    "importlib loader": "import importlib.machinery as m\nprint(m.SourceFileLoader('x', CANARY).get_data(CANARY))",
    "spec of a module": "import math\nprint(math.__spec__.loader.load_module('os').popen('cat ' + CANARY).read())",
    "np.genfromtxt": "import numpy as np\nprint(np.genfromtxt(CANARY, dtype=str, delimiter='\\0'))",
    "scipy.io.loadmat": "import scipy.io\nprint(scipy.io.loadmat(CANARY))",
    "typing evaluates strings": 'import typing\ndef f(x: "open(CANARY).read()"): pass\nprint(typing.get_type_hints(f))',
    "ctypes libc": "import ctypes\nl = ctypes.CDLL(None)\nb = ctypes.create_string_buffer(99)\n"
    "l.read(l.open(CANARY.encode(), 0), b, 99)\nprint(b.value)",
    "subclass walk": "for c in ().__class__.__base__.__subclasses__():\n    if c.__name__ == 'FileLoader':\n"
    "        print(c('x', CANARY).get_data(CANARY))",
    "builtins of a function's globals": "def f(): pass\nb = f.__globals__['__builtins__']\n"
    "print((b['open'] if isinstance(b, dict) else b.open)(CANARY).read())",
    "frame of a generator": "g = (x for x in [1])\nprint(g.gi_frame.f_builtins['open'](CANARY).read())",
    "frame of a traceback": "try:\n    1/0\nexcept Exception as e:\n    f = e.__traceback__.tb_frame\n"
    "    while f.f_back: f = f.f_back\n    print(f.f_builtins['open'](CANARY).read())",
    "sys._getframe": "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nprint(f.f_builtins['open'](CANARY).read())",
    "gc": "import gc\nfor o in gc.get_objects():\n    if isinstance(o, dict) and 'open' in o and 'len' in o:\n"
    "        print(o['open'](CANARY).read())\n        break",
    "eval": "print(eval('open(CANARY).read()'))",
    "compile": "exec(compile('print(open(CANARY).read())', 'x', 'exec'))",
    "code object replaced": "def f(): return 1\nf.__code__ = (lambda: open(CANARY).read()).__code__\nprint(f())",
    "code module": "import code\ncode.InteractiveInterpreter().runsource('print(open(CANARY).read())')",
    "pickle": "import pickle\nprint(pickle.loads(b'cio\\nopen\\n(V' + CANARY.encode() + b'\\ntR.').read())",
    "reduce": "class E:\n    def __reduce__(self): return (open, (CANARY,))\nimport copy\nprint(copy.copy(E()).read())",
    "/proc root": "print(open('/proc/1/root' + CANARY).read())",
    "/proc descriptors": "print(open('/proc/self/cwd/../../../../../../..' + CANARY).read())",
    "relative path": "import os\nfor n in range(9):\n    try: print(open('../' * n + CANARY[1:]).read())\n"
    "    except Exception as e: pass",
    "chroot out": "import os\nfor n in range(9): os.chroot('..')\nprint(open(CANARY).read())",
    "sqlite": "import sqlite3\nprint(sqlite3.connect(CANARY).execute('select readfile(1)').fetchall(), open(CANARY).read())",
    "environment": "import os\nprint(os.environ[SECRET])",
    "environment of libc": "import ctypes\nl = ctypes.CDLL(None)\nl.getenv.restype = ctypes.c_char_p\nprint(l.getenv(SECRET.encode()))",
    "environment in /proc": "for p in range(1, 40000):\n    try: print(open(f'/proc/{p}/environ').read())\n    except Exception: pass",
    "environment of the parent": "import os\nprint(open(f'/proc/{os.getppid()}/environ').read())",
    "memory of the parent": "import os\nprint(open(f'/proc/{os.getppid()}/mem', 'rb').read(99), open(CANARY).read())",
}

WRITE: Final = {
    "open to write": "open(FOLDER + '/x', 'w').write('x')",
    "open to append": "open(CANARY, 'a').write('x')",
    "os.open to write": "import os\nos.write(os.open(FOLDER + '/x', os.O_CREAT | os.O_WRONLY), b'x')",
    "os.mkdir": "import os\nos.mkdir(FOLDER + '/x')",
    "os.remove": "import os\nos.remove(CANARY)",
    "os.rename": "import os\nos.rename(CANARY, FOLDER + '/x')",
    "os.symlink": "import os\nos.symlink(CANARY, FOLDER + '/x')",
    "os.link": "import os\nos.link(CANARY, FOLDER + '/x')",
    "os.chmod": "import os\nos.chmod(CANARY, 0)",
    "os.truncate": "import os\nos.truncate(CANARY, 0)",
    "os.mkfifo": "import os\nos.mkfifo(FOLDER + '/x')",
    "unix socket": "import socket\nsocket.socket(socket.AF_UNIX).bind(FOLDER + '/x')",
    "tempfile": "import tempfile\ntempfile.NamedTemporaryFile(dir=FOLDER, delete=False)",
    "ndarray.tofile": "import numpy as np\nnp.zeros(1).tofile(FOLDER + '/x')",
    "f2py": "import numpy.f2py as f\nf.compile('end', source_fn=FOLDER + '/x.f')",
    "subprocess": "import subprocess\nsubprocess.run(['/usr/bin/touch', FOLDER + '/x'])",
    "os.system": "import os\nos.system('touch ' + FOLDER + '/x')",
    "os.execv": "import os\nos.execv('/usr/bin/touch', ['touch', FOLDER + '/x'])",
    "os.posix_spawn": "import os, time\nos.posix_spawn('/usr/bin/touch', ['touch', FOLDER + '/x'], {})\ntime.sleep(.3)",
    "os.fork": "import os, time\nif os.fork() == 0:\n    open(FOLDER + '/x', 'w')\ntime.sleep(.2)",
    "pty": "import pty\npty.spawn(['/usr/bin/touch', FOLDER + '/x'])",
    "multiprocessing": "import multiprocessing, os\np = multiprocessing.Process(target=os.mkdir, args=(FOLDER + '/x',))\np.start()\np.join()",
    "ctypes system": "import ctypes\nctypes.CDLL(None).system(b'touch ' + FOLDER.encode() + b'/x')",
    "warnings module": "import warnings\nwarnings.sys.modules['os'].mkdir(FOLDER + '/x')",
    "threading module": "import threading, os\nt = threading.Thread(target=os.mkdir, args=(FOLDER + '/x',))\nt.start()\nt.join()",
    "logging": "import logging\nlogging.FileHandler(FOLDER + '/x')",
    "faulthandler": "import faulthandler\nfaulthandler.enable(open(FOLDER + '/x', 'w'))",
    "core dump": "import os, resource\nos.chdir(FOLDER)\nresource.setrlimit(resource.RLIMIT_CORE, (-1, -1))\nos.abort()",
}

CONNECT: Final = {
    "socket": "import socket\nsocket.create_connection(('127.0.0.1', PORT), 1)",
    "socket after closing a descriptor": "import os, socket\nos.close(0)\nsocket.create_connection(('127.0.0.1', PORT), 1)",
    "urllib": "import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{PORT}', timeout=1)",
    "asyncio": "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', PORT))",
    "ctypes socket": "import ctypes, struct\nl = ctypes.CDLL(None)\ns = l.socket(2, 1, 0)\n"
    "l.connect(s, struct.pack('<H', 2) + struct.pack('>H', PORT) + bytes([127, 0, 0, 1]) + bytes(8), 16)",
}

DISTURB: Final = {
    "exit": "exit(0)",
    "SystemExit": "raise SystemExit(3)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "os._exit": "import os\nos._exit(0)",
    "os.abort": "import os\nos.abort()",
    "kill oneself": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "kill the parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "stop the parent": "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)",
    "kill the group": "import os, signal\nos.killpg(0, signal.SIGKILL)",
    "kill all": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "kill the run": "import os, signal\nos.kill(RUN, signal.SIGKILL)",
    "ptrace": "import ctypes, os\nprint(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))",
    "write to every descriptor": "import os\nfor n in range(99):\n    try: os.write(n, b'x' * 99)\n    except OSError: pass",
    "forged answer": "import os\nos.write(3, b'\\0\\0\\0\\5\\0fake')",
    "two answers": "import os\nos.write(3, b'\\0\\0\\0\\5\\0fake' * 9)",
    "endless answer": "import os\nos.write(3, b'\\xff\\xff\\xff\\xff')\nwhile True: os.write(3, b'x' * 99999)",
    "closed descriptors": "import os\nos.closerange(0, 99)",
    "deep recursion": "def f(n): return f(n + 1)\nf(0)",
    "deep recursion in __repr__": "class A:\n    def __repr__(self): return repr(self)\nA()",
    "deep recursion in C": "import sys\nx = []\nfor _ in range(10**5): x = [x]\nprint(repr(x))",
    "deep recursion in comparison": "a, b = [], []\nfor _ in range(10**5): a, b = [a], [b]\nprint(a == b)",
    "deep nesting in code": "x = " + "(" * 150 + "1" + ")" * 150,
    "deep nesting of operators": "x = " + "-" * 20_000 + "1",
    "deep nesting of attributes": "x = a" + ".a" * 9_000,
    "stack overflow": "import ctypes\nctypes.string_at(0)",
    "exception whose text fails": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "exception whose text is endless": "class E(Exception):\n    def __str__(self): return 'x' * 10**7\nraise E",
    "result whose repr fails": "class A:\n    def __repr__(self): 1/0\nA()",
    "lone surrogates": "print('\\ud800' * 9)\n'\\udfff'",
    "surrogate in code": "print('\ud800')",
    "null in code": "print('a\0b')",
    "escape codes": "print('\\x1b[2J\\x00\\x07')",
    "giant output": "for i in range(10**5): print('x' * 100)",
    "giant repr": "list(range(10**6))",
    "giant output without end": "print('x' * 10**7, end='')",
    "giant error": "raise ValueError('x' * 10**7)",
    "too long code": "x = 1\n" * 60_000,
    "fork": "import os\nos.fork()",
    "fork bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: break",
    "thread bomb": "import threading, time\nfor _ in range(10**4): threading.Thread(target=time.sleep, args=(9,)).start()",
    "descriptor bomb": "import os\nwhile True: os.pipe()",
}

MEMORY: Final = {
    "string": "x = 'a' * (300 << 20)\nprint('GOT'[::-1])",
    "bytes": "x = bytearray(300 << 20)\nx[::4096] = b'x' * (300 << 8)\nprint('GOT'[::-1])",
    "list": "x = [0] * (50 << 20)\nprint('GOT'[::-1])",
    "array": "import numpy as np\nx = np.ones(300 << 17)\nprint('GOT'[::-1])",
    "doubling list": "x = [1]\nfor _ in range(26): x += x\nprint('GOT'[::-1])",
    "generator to list": "x = [str(i) for i in range(10**7)]\nprint('GOT'[::-1])",
    "outer product": "import numpy as np\nx = np.outer(np.ones(8000), np.ones(8000))\nprint('GOT'[::-1])",
    "giant integer": "x = 1 << (300 << 23)\nprint('GOT'[::-1])",
    "dict": "x = {i: [i] for i in range(5 * 10**6)}\nprint('GOT'[::-1])",
    "format width": "x = '{:>400000000}'.format(1)\nprint('GOT'[::-1])",
    "several arrays over calls": "import numpy as np\nx = [np.ones(40 << 17) for _ in range(9)]\nprint('GOT'[::-1])",
}
"""These go beyond the limit that the tests set by little, so that nothing breaks where the limit is off."""

TIME: Final = {
    "while": "while True: pass",
    "while that catches everything": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "sleep": "import time\ntime.sleep(999)",
    "count": "import itertools\nsum(1 for _ in itertools.count())",
    "C loop": "sum(range(10**12))",
    "power": "x = 10**10**8",
    "power tower": "x = 9**9**9",
    "factorial": "import math\nmath.factorial(10**7)",
    "catastrophic pattern": "import re\nre.match('(a+)+$', 'a' * 50 + 'b')",
    "deque": "import itertools, collections\ncollections.deque(itertools.repeat(1), maxlen=0)",
    "linear algebra": "import numpy as np\nwhile True: np.linalg.svd(np.ones((900, 900)))",
    "sorting": "sorted(range(10**9), key=lambda x: -x)",
    "finally": "def f():\n    try:\n        while True: pass\n    finally: f()\nf()",
    "endless repr": "class A:\n    def __repr__(self):\n        while True: pass\nA()",
    "endless error text": "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
    "endless generator": "def g():\n    while True: yield 1\nmax(g())",
    "endless output": "while True: print('x' * 999)",
    "ignored signals": "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\nwhile True: pass",
}
