"""Attempts on other examples, on the run and on what it tells of the machine, and attempts to outlive a call.

A victim has run before, whose code and output hold the secret; ``FORM`` is what it looks like. In a pair of ``CHANNELS``
one example plants ``PLANTED`` for another to find: two examples may have nothing in common, even if both wish it.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_SEARCH: Final = "import re\ndef look(data):\n    for found in re.findall(FORM, data): print(found)\n"

_MEMORY: Final = {
    "np.empty of bytes": "for n in range(8, 25):\n    look(np.empty(1 << n, 'u1').tobytes())",
    "np.empty of floats": "for n in range(1, 4000): look(np.empty(n).tobytes())",
    "np.empty of many small": "look(b''.join(np.empty(n % 64 + 1, 'u1').tobytes() for n in range(50_000)))",
    "np.empty_like": "look(np.empty_like(np.zeros(1 << 22, 'u1'), subok=False).tobytes())",
    "np.ndarray": "look(np.ndarray(1 << 22, 'u1').tobytes())",
    "np.resize": "a = np.empty(9, 'u1')\na.resize(1 << 22, refcheck=False)\nlook(a.tobytes())",
    "np.frombuffer beyond": "look(np.lib.stride_tricks.as_strided(np.zeros(1, 'u1'), (1 << 16,), (1,)).tobytes())",
    "memory around an object": "import ctypes\nx = object()\nfor n in range(0, 1 << 20, 4096):\n    look(ctypes.string_at(id(x) + n, 4096))",
    "memory of all objects": "import gc\nlook(repr([o for o in gc.get_objects() if isinstance(o, (str, bytes, dict, list))][:20000]).encode())",
    "garbage": "import gc\ngc.unfreeze()\nlook(b''.join(o.encode('utf8', 'replace') for d in gc.get_objects() if isinstance(d, dict) for o in d.values() if isinstance(o, str)))",
    "strings interned": "import sys\nfor m in list(sys.modules.values()): look(repr(vars(m)).encode()[:10**6]) if 'sandbox' in m.__name__ else None",
    "frames above": "import sys\nf = sys._getframe()\nwhile f:\n    look(repr(f.f_locals).encode())\n    look(repr({k: v for k, v in f.f_globals.items() if k != 'np'}).encode()[:10**6])\n    f = f.f_back",
    "malloc": "import ctypes\nl = ctypes.CDLL(None)\nl.malloc.restype = ctypes.c_void_p\nfor n in range(16, 9000, 16): look(ctypes.string_at(l.malloc(n), n))",
    "heap": "import ctypes\nl = ctypes.CDLL(None)\nl.sbrk.restype = ctypes.c_void_p\ntop = l.sbrk(0)\nlook(ctypes.string_at(top - (1 << 20), 1 << 20))",
    "bytearray": "look(bytes(bytearray(1 << 24)))",
    "stack": "import ctypes\nb = ctypes.create_string_buffer(8)\nlook(ctypes.string_at(ctypes.addressof(b), 1 << 16))",
    "maps": "look(open('/proc/self/maps', 'rb').read())\nlook(open('/proc/self/mem', 'rb').read(99))",
    "linecache": "import linecache\nlook(repr(linecache.cache).encode())",
    "warnings registry": "import warnings\nlook(repr(vars(warnings)).encode())",
    "last value": "import builtins\nlook(repr(builtins._).encode())",
    "history of modules": "import sys\nlook(repr(vars(sys.modules['__main__'])).encode())",
    "thread locals": "import threading\nlook(repr(vars(threading.current_thread())).encode())",
    "caches of re": "look(repr(re._cache).encode())",
    "random state": "import random\nlook(repr(random.getstate()).encode() + np.random.get_state()[1].tobytes())",
}

_DESCRIPTORS: Final = {
    "every descriptor read": "import os\nfor n in range(3000):\n    if n != 3:\n        try: look(os.read(n, 9999))\n        except OSError: pass",
    "every descriptor rewound": "import os\nfor n in range(3000):\n    try:\n        os.lseek(n, 0, 0)\n        look(os.read(n, 9999))\n    except OSError: pass",
    "every descriptor at an offset": "import os\nfor n in range(3000):\n    try: look(os.pread(n, 9999, 0))\n    except OSError: pass",
    "every descriptor peeked": "import socket\nfor n in range(99):\n    try:\n        s = socket.socket(fileno=n)\n        s.setblocking(False)\n        look(s.recv(9999, socket.MSG_PEEK))\n        s.detach()\n    except OSError: pass",
    "/proc of all": "import os\nfor p in range(1, 40000):\n    for n in ('cmdline', 'environ', 'maps', 'stat', 'fd/1', 'fd/3', 'mem'):\n        try: look(open(f'/proc/{p}/{n}', 'rb').read(9999))\n        except OSError: pass",
    "/dev/shm": "import os\nfor n in os.listdir('/dev/shm'): look(open('/dev/shm/' + n, 'rb').read())",
    "/tmp": "import os\nfor d, _, f in os.walk('/tmp'):\n    for n in f: look(open(os.path.join(d, n), 'rb').read())",
    "memory of the neighbours": "import ctypes, os\nl = ctypes.CDLL(None)\nclass V(ctypes.Structure): _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\nb = ctypes.create_string_buffer(1 << 16)\nx = object()\n"
    "for p in range(1, 3000):\n    if l.process_vm_readv(p, ctypes.byref(V(ctypes.addressof(b), 1 << 16)), 1, ctypes.byref(V(id(x) & ~4095, 1 << 16)), 1, 0) > 0 and p != os.getpid():\n        print('GOT'[::-1])",
    "neighbours traced": "import ctypes, os\nl = ctypes.CDLL(None)\nfor p in range(1, 3000):\n    if l.ptrace(16, p, 0, 0) == 0: print('GOT'[::-1])",
    "neighbours counted by signal 0": "import os\nfor p in range(1, 40000):\n    if p not in (os.getpid(), 1):\n        try:\n            os.kill(p, 0)\n            print('GOT'[::-1])\n        except (ProcessLookupError, PermissionError): pass",
    "neighbours stopped": "import os\nfor p in range(1, 40000):\n    if p != os.getpid():\n        try:\n            os.kill(p, 19)\n            print('GOT'[::-1])\n        except OSError: pass",
    "neighbours' descriptors": "import os, ctypes\nl = ctypes.CDLL(None)\nfor p in range(1, 3000):\n    f = l.syscall(434, p, 0)\n    if f >= 0 and p != os.getpid() and l.syscall(438, f, 3, 0) >= 0: print('GOT'[::-1])",
    "neighbours' limits": "import resource, os\nfor p in range(1, 3000):\n    if p != os.getpid():\n        try:\n            resource.prlimit(p, resource.RLIMIT_CPU, (1, 1))\n            print('GOT'[::-1])\n        except OSError: pass",
}


def looking(attempts: dict[str, str]) -> dict[str, str]:
    """Attempts with the function that they look with."""
    return {name: _SEARCH + code for name, code in attempts.items()}


OTHERS: Final = looking({**_MEMORY, **_DESCRIPTORS})

_LIBC: Final = "import ctypes, os\nl = ctypes.CDLL(None, use_errno=True)\nl.shmat.restype = ctypes.c_void_p\n"

CHANNELS: Final = {
    "module": ("import math\nmath.left = PLANTED", "import math\nprint(math.left)"),
    "builtin": ("import builtins\nbuiltins.left = PLANTED", "print(left)"),
    "environment": ("import os\nos.environ['LEFT'] = PLANTED", "import os\nprint(os.environ['LEFT'])"),
    "temporary file": ("open('/tmp/medtasks-left', 'w').write(PLANTED)", "print(open('/tmp/medtasks-left').read())"),
    "file in the working folder": ("open('left', 'w').write(PLANTED)", "print(open('left').read())"),
    "shared memory file": (
        "open('/dev/shm/medtasks-left', 'w').write(PLANTED)",
        "print(open('/dev/shm/medtasks-left').read())",
    ),
    "byte code": (
        "import sys, os\nopen(os.path.dirname(os.__file__) + '/__pycache__/left.py', 'w').write(PLANTED)",
        "import os\nprint(open(os.path.dirname(os.__file__) + '/__pycache__/left.py').read())",
    ),
    "multiprocessing.shared_memory": (
        "from multiprocessing.shared_memory import SharedMemory\nSharedMemory('medtasks_left', True, 99).buf[:len(PLANTED)] = PLANTED.encode()",
        "from multiprocessing.shared_memory import SharedMemory\nprint(bytes(SharedMemory('medtasks_left').buf).decode())",
    ),
    "System V memory": (
        _LIBC
        + "n = l.shmget(0x4d54, 4096, 0o1666)\nctypes.memmove(l.shmat(n, None, 0), PLANTED.encode(), len(PLANTED))",
        _LIBC
        + "n = l.shmget(0x4d54, 0, 0)\nprint(ctypes.string_at(l.shmat(n, None, 0), 99).decode()) if n >= 0 else None",
    ),
    "System V message": (
        _LIBC + "q = l.msgget(0x4d54, 0o1666)\nl.msgsnd(q, b'\\1' + bytes(7) + PLANTED.encode(), len(PLANTED), 2048)",
        _LIBC
        + "q = l.msgget(0x4d54, 0)\nb = ctypes.create_string_buffer(999)\nl.msgrcv(q, b, 900, 0, 2048)\nprint(b.raw)",
    ),
    "System V semaphore": (
        _LIBC + "assert l.semget(0x4d54, 1, 0o1666) >= 0",
        _LIBC + "if l.semget(0x4d54, 1, 0) >= 0: print('GOT'[::-1])",
    ),
    "message queue": (
        _LIBC + "q = l.syscall(240, b'left', 66, 0o666, 0)\nl.syscall(242, q, PLANTED.encode(), len(PLANTED), 0, 0)",
        _LIBC
        + "q = l.syscall(240, b'left', 0, 0, 0)\nb = ctypes.create_string_buffer(9000)\nl.syscall(243, q, b, 8192, 0, 0)\nprint(b.value)",
    ),
    "abstract socket": (
        "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.bind('\\0left')",
        "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.connect('\\0left')\nprint('GOT'[::-1])",
    ),
    "abstract name taken": (
        "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\ns.bind('\\0left2')\ns.listen()",
        "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\ns.connect('\\0left2')\nprint('GOT'[::-1])",
    ),
    "loopback": (
        "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 45678))\ns.listen()",
        "import socket\nsocket.create_connection(('127.0.0.1', 45678), 1)\nprint('GOT'[::-1])",
    ),
    "netlink": (
        "import socket\ns = socket.socket(16, 3, 2)\ns.bind((4242, 0))",
        "import socket\ns = socket.socket(16, 3, 2)\ntry: s.bind((4242, 0))\nexcept OSError as e:\n    if e.errno == 98: print('GOT'[::-1])",
    ),
    "key of the session": (
        _LIBC + "l.syscall(248, b'user', b'left', PLANTED.encode(), len(PLANTED), -3)",
        _LIBC
        + "k = l.syscall(249, b'user', b'left', 0, -3)\nb = ctypes.create_string_buffer(99)\nl.syscall(250, 11, k, b, 99)\nprint(b.value)",
    ),
    "key of the user": (
        _LIBC + "l.syscall(248, b'user', b'left', PLANTED.encode(), len(PLANTED), -4)",
        _LIBC
        + "k = l.syscall(250, 10, -4, b'user', b'left', 0)\nb = ctypes.create_string_buffer(99)\nl.syscall(250, 11, k, b, 99)\nprint(b.value)",
    ),
    "process name": (
        _LIBC + "l.prctl(15, PLANTED.encode()[:15], 0, 0, 0)",
        "import os\nfor p in range(1, 3000):\n    try: print(open(f'/proc/{p}/comm').read())\n    except OSError: pass",
    ),
    "host name": (
        _LIBC + "assert l.sethostname(PLANTED.encode(), len(PLANTED)) == 0",
        "import os\nprint(os.uname().nodename)",
    ),
    "offset of standard error": (
        "import os\nos.lseek(2, 77, 0)",
        "import os\nif os.lseek(2, 0, 1) == 77: print('GOT'[::-1])",
    ),
    "flags of standard input": (
        "import os\nos.set_blocking(0, False)",
        "import os\nif not os.get_blocking(0): print('GOT'[::-1])",
    ),
    "input": (
        "import os\nfor n in range(99):\n    try: os.write(n, PLANTED.encode()) if n not in (1, 2, 3) else 0\n    except OSError: pass",
        "import sys\nprint(sys.stdin.read())",
    ),
    "locale": (
        "import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')",
        "import locale\nif locale.localeconv()['decimal_point'] == ',': print('GOT'[::-1])",
    ),
    "time zone": (
        "import os, time\nos.environ['TZ'] = 'Asia/Tokyo'\ntime.tzset()",
        "import time\nif time.tzname[0] == 'JST': print('GOT'[::-1])",
    ),
    "recursion limit": (
        "import sys\nsys.setrecursionlimit(4242)",
        "import sys\nif sys.getrecursionlimit() == 4242: print('GOT'[::-1])",
    ),
    "numpy's settings": (
        "np.set_printoptions(precision=2)\nnp.seterr(all='raise')",
        "if np.get_printoptions()['precision'] == 2: print('GOT'[::-1])",
    ),
    "numpy's function": ("np.mean = lambda x: PLANTED", "print(np.mean([1]))"),
    "decimal's context": (
        "import decimal\ndecimal.DefaultContext.prec = 7\ndecimal.setcontext(decimal.Context(7))",
        "import decimal\nif decimal.getcontext().prec == 7: print('GOT'[::-1])",
    ),
    "import hook": ("import sys\nsys.meta_path.insert(0, PLANTED)", "import sys\nprint(sys.meta_path)"),
    "signal handler": (
        "import signal\nsignal.signal(10, signal.SIG_IGN)",
        "import signal\nif signal.getsignal(10) == signal.SIG_IGN: print('GOT'[::-1])",
    ),
    "address of a timer": (
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 999)",
        "import signal\nif signal.getitimer(signal.ITIMER_REAL)[0] > 99: print('GOT'[::-1])",
    ),
}

MACHINE: Final = {
    "file of a module": "print(np.__file__)",
    "file of the standard library": "import os\nprint(os.__file__)",
    "all files": "import sys\nprint([getattr(m, '__file__', '') for m in sys.modules.values()])",
    "all paths": "import sys\nprint([getattr(m, '__path__', '') for m in sys.modules.values()])",
    "all specs": "import sys\nprint([getattr(m, '__spec__', '') for m in sys.modules.values()])",
    "all loaders": "import sys\nprint([getattr(getattr(m, '__loader__', ''), 'path', '') for m in sys.modules.values()])",
    "sys.path": "import sys\nprint(sys.path, sys.path_importer_cache)",
    "prefixes": "import sys\nprint(sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable, sys._base_executable)",
    "arguments": "import sys\nprint(sys.argv, sys.orig_argv, sys.flags)",
    "sysconfig": "import sysconfig\nprint(sysconfig.get_config_vars(), sysconfig.get_paths())",
    "site": "import site\nprint(site.getsitepackages(), site.getuserbase(), site.ENABLE_USER_SITE)",
    "working folder": "import os\nprint(os.getcwd())",
    "home": "import os\nprint(os.path.expanduser('~'), os.environ.get('HOME'))",
    "user": "import getpass\nprint(getpass.getuser())",
    "users": "import pwd\nprint(pwd.getpwall())",
    "environment": "import os\nprint(dict(os.environ), os.environb)",
    "environment of libc": "import ctypes\nprint([ctypes.c_char_p.in_dll(ctypes.CDLL(None), 'environ')])",
    "host name": "import socket\nprint(socket.gethostname())",
    "fully qualified name": "import socket\nprint(socket.getfqdn())",
    "platform": "import platform\nprint(platform.node(), platform.uname(), platform.platform())",
    "traceback": "np.linalg.inv(np.zeros((2, 2)))",
    "traceback of the standard library": "import json\njson.loads('{')",
    "traceback with locals": "import traceback\ntry: np.linalg.inv(np.zeros((2, 2)))\nexcept Exception as e: print(traceback.TracebackException.from_exception(e, capture_locals=True).stack)",
    "stack": "import traceback\ntraceback.print_stack()",
    "frames": "import sys\nf = sys._getframe()\nwhile f:\n    print(f.f_code.co_filename)\n    f = f.f_back",
    "warning": "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n    np.float64(1) / 0\n    print(w[0].filename)",
    "inspect": "import inspect, statistics\nprint(inspect.getsourcefile(statistics), inspect.getfile(np.mean), inspect.stack())",
    "help": "import math\nhelp(np.version)",
    "numpy's configuration": "np.show_runtime()",
    "maps": "print(open('/proc/self/maps').read())",
    "mounts": "print(open('/proc/mounts').read())",
    "link of the program": "import os\nprint(os.readlink('/proc/self/exe'))",
    "real path": "import os\nprint(os.path.realpath(np.__file__), os.path.realpath(os.__file__))",
    "loaded libraries": "import ctypes\nclass I(ctypes.Structure): _fields_ = [('a', ctypes.c_char_p), ('b', ctypes.c_void_p), ('c', ctypes.c_char_p), ('d', ctypes.c_void_p)]\n"
    "l = ctypes.CDLL(None)\nl.dladdr.argtypes = [ctypes.c_void_p, ctypes.c_void_p]\nfor o in (ctypes.pythonapi.Py_IncRef, l.malloc):\n    i = I()\n    l.dladdr(ctypes.cast(o, ctypes.c_void_p), ctypes.byref(i))\n    print(i.a)",
    "reversed": "import sys, os\nprint([x[::-1] for m in sys.modules.values() for x in [getattr(m, '__file__', None) or '']][:900])",
    "time zone": "import os\nprint(os.path.realpath('/etc/localtime'), open('/etc/timezone').read())",
    "network interfaces": "import socket\nif len(socket.if_nameindex()) > 1: print('GOT'[::-1])",
    "hardware address": "import uuid\nprint(uuid._ip_getnode() or '')",
    "terminal": "import os\nprint(os.ttyname(1), os.ctermid())",
    "log": "print(open('/var/log/syslog').read())",
}

OUTLIVE: Final = {
    "forged end and on": "import os, sys, time\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\nos.write(3, f.f_locals['mark'] + b'0')\nt = time.time()\nwhile time.time() - t < 2: pass\nos.write(3, b'late')",
    "forged end and endless": "import os, sys\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\nos.write(3, f.f_locals['mark'] + b'0')\nwhile True: pass",
    "forged end and sleep": "import os, sys, time\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\nos.write(3, f.f_locals['mark'] + b'0')\ntime.sleep(99)",
    "timer": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: [0 for _ in iter(int, 1)])\nsignal.setitimer(signal.ITIMER_REAL, .05, .05)",
    "processor timer": "import signal\nsignal.signal(signal.SIGPROF, lambda *a: [0 for _ in iter(int, 1)])\nsignal.setitimer(signal.ITIMER_PROF, .01, .01)",
    "worker's loop replaced": "import sys, os\nw = sys.modules[[n for n in sys.modules if n.endswith('worker')][0]]\ndef f(d):\n    os.write(3, d)\n    while True: pass\nw._write = f",
    "finaliser": "class A:\n    def __del__(self):\n        while True: pass\nx = A()\ndel x",
    "output that is slow to close": "import sys\nclass A:\n    def flush(self):\n        while True: pass\n    def write(self, x): pass\nsys.stdout = A()",
    "exit handler": "import atexit\n@atexit.register\ndef f():\n    while True: pass",
    "thread": "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f, daemon=True).start()",
    "fork": "import os\nif os.fork() == 0:\n    while True: pass",
    "double fork": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: pass",
    "ignored death": "import ctypes\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\nimport signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass",
    "trace of the interpreter": "import sys\ndef f(*a):\n    while True: pass\nsys.setprofile(f)",
    "collector's callback": "import gc\ndef f(*a):\n    while True: pass\ngc.callbacks.append(f)\ngc.set_threshold(1)",
    "audit hook": "import sys\ndef f(*a):\n    while True: pass\nsys.addaudithook(f)",
    "pending call": "import ctypes\nf = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda x: 0)\nctypes.pythonapi.Py_AddPendingCall(f, None)",
}
"""After each of these its process must use no processor time, or be gone."""
