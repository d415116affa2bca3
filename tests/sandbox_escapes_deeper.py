"""More attempts, by way of libraries and of what a process of Python keeps; the names are those of ``sandbox_escapes``.

The two of a pair in ``AT_ONCE`` run side by side: one of them must not notice the other.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import Final

_LIBC: Final = "import ctypes, os, mmap, sys, struct\nl = ctypes.CDLL(None, use_errno=True)\nl.syscall.restype = ctypes.c_long\nL = ctypes.c_long\n"
_MAP: Final = (
    _LIBC
    + "l.mmap.restype = ctypes.c_void_p\ndef page(path, prot=1, flags=1):\n    return l.mmap(None, ctypes.c_size_t(4096), prot, flags, os.open(path, 0), L(0))\n"
)
"""``page`` maps the start of a file; at a page of a library two processes meet."""

READ: Final = {
    "dlopen of a text": "import ctypes\nprint(ctypes.CDLL(CANARY))",
    "dlopen error text": "import ctypes\ntry: ctypes.CDLL(CANARY)\nexcept OSError as e: print(e, open(CANARY).read())",
    "np.ctypeslib.load_library": "print(np.ctypeslib.load_library(CANARY, '/'))",
    "importlib extension loader": "import importlib.machinery as m, importlib.util as u\ns = u.spec_from_file_location('x', CANARY, loader=m.ExtensionFileLoader('x', CANARY))\nprint(u.module_from_spec(s))",
    "source loader": "import importlib.util as u, importlib.machinery as m\ns = u.spec_from_file_location('x', CANARY, loader=m.SourceFileLoader('x', CANARY))\nx = u.module_from_spec(s)\ns.loader.exec_module(x)",
    "path hook": "import sys, os, zipimport\nprint(zipimport.zipimporter(CANARY))",
    "pkgutil.get_data": "import pkgutil, sys, os\nprint(pkgutil.get_data('numpy', '../../../../../../../../..' + CANARY))",
    "importlib.resources": "import importlib.resources as r\nprint((r.files('numpy') / ('../' * 12 + CANARY[1:])).read_text())",
    "pd.read_csv": "import pandas as pd\nprint(pd.read_csv(CANARY))",
    "pd.read_csv by C": "import pandas as pd\nprint(pd.read_csv('file://' + CANARY, engine='c', memory_map=True))",
    "DataFrame.query": "import pandas as pd\nd = pd.DataFrame({'a': [1]})\nprint(d.query('@open(@CANARY).read() == a'))",
    "sqlite attach": "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('attach ? as x', (CANARY,))\nprint(c.execute('select * from x.sqlite_master').fetchall())",
    "sqlite readonly uri": "import sqlite3\nc = sqlite3.connect(f'file:{CANARY}?mode=ro&immutable=1', uri=True)\nprint(c.execute('pragma database_list').fetchall(), c.execute('select * from sqlite_master').fetchall())",
    "sqlite extension": "import sqlite3\nc = sqlite3.connect(':memory:')\nc.enable_load_extension(True)\nc.load_extension(CANARY)",
    "dbm": "import dbm.dumb\nprint(dbm.dumb.open(CANARY[:-4]), open(CANARY).read())",
    "bz2": "import bz2\nprint(bz2.open(CANARY).read())",
    "tarfile": "import tarfile\nprint(tarfile.open(CANARY).getnames())",
    "configparser": "import configparser\nc = configparser.ConfigParser(allow_no_value=True)\nc.read(CANARY)\nprint(c.sections(), open(CANARY).read())",
    "gettext": "import gettext\nprint(gettext.GNUTranslations(open(CANARY, 'rb')))",
    "netrc": "import netrc\nprint(netrc.netrc(CANARY).hosts)",
    "plistlib": "import plistlib\nprint(plistlib.load(open(CANARY, 'rb')))",
    "tomllib": "import tomllib\nprint(tomllib.load(open(CANARY, 'rb')))",
    "xml with an entity": "import xml.sax, xml.sax.handler, io\nclass H(xml.sax.handler.ContentHandler):\n    def characters(self, t): print(t)\np = xml.sax.make_parser()\np.setFeature(xml.sax.handler.feature_external_ges, True)\np.setContentHandler(H())\np.parse(io.StringIO(f'<!DOCTYPE a [<!ENTITY x SYSTEM \"file://{CANARY}\">]><a>&x;</a>'))",
    "mimetypes": "import mimetypes\nprint(mimetypes.read_mime_types(CANARY))",
    "ssl certificates": "import ssl\nc = ssl.create_default_context()\nc.load_verify_locations(CANARY)",
    "hashlib.file_digest": "import hashlib\nprint(hashlib.file_digest(open(CANARY, 'rb'), 'md5').hexdigest(), open(CANARY).read())",
    "filecmp": "import filecmp\nprint(filecmp.cmp(CANARY, CANARY, shallow=False), open(CANARY).read())",
    "zoneinfo by a path": "from zoneinfo import ZoneInfo\nimport zoneinfo, os\nzoneinfo.reset_tzpath(to=[os.path.dirname(CANARY)])\nprint(ZoneInfo('canary'))",
    "dateutil tzfile": "from dateutil import tz\nprint(tz.tzfile(CANARY), open(CANARY).read())",
    "locale file": "import locale, os\nos.environ['LOCPATH'] = FOLDER\nlocale.setlocale(locale.LC_ALL, 'canary')",
    "TZ as a file": "import os, time\nos.environ['TZ'] = ':' + CANARY\ntime.tzset()\nprint(time.tzname, open(CANARY).read())",
    "raw open by number": _LIBC
    + "b = ctypes.create_string_buffer(999)\nf = l.syscall(L(2), CANARY.encode(), 0, 0)\nl.read(f, b, 999)\nprint(f, b.value)",
    "raw openat with extra bits": _LIBC
    + "b = ctypes.create_string_buffer(999)\nfor x in (0o100000, 0o2000000, 0o400000, 1 << 40, 0o10000):\n    f = l.syscall(L(257), L(-100), CANARY.encode(), L(x), L(0))\n    l.read(f, b, 999)\n    print(f, b.value)",
    "openat under a library's folder": _LIBC
    + "d = os.open(os.path.dirname(os.__file__), os.O_DIRECTORY)\nprint(os.read(os.open('../' * 15 + CANARY[1:], 0, dir_fd=d), 99))",
    "openat2": _LIBC
    + "b = ctypes.create_string_buffer(999)\nf = l.syscall(L(437), L(-100), CANARY.encode(), struct.pack('QQQ', 0, 0, 0), L(24))\nl.read(f, b, 999)\nprint(f, b.value)",
    "x32 open": _LIBC
    + "b = ctypes.create_string_buffer(999)\nf = l.syscall(L(0x40000002), CANARY.encode(), 0, 0)\nl.read(f, b, 999)\nprint(b.value)",
    "io_uring openat": _LIBC
    + "p = ctypes.create_string_buffer(120)\nf = l.syscall(L(425), L(4), p)\nprint(f)\nif f >= 0: print('GOT'[::-1])",
    "i386 call by bytes in a library": _LIBC
    + "import re\nbase = ctypes.cast(l.malloc, ctypes.c_void_p).value & ~4095\nat = ctypes.string_at(base, 1 << 18).find(b'\\xcd\\x80')\nif at >= 0: ctypes.CFUNCTYPE(ctypes.c_long)(base + at)()",
    "glob": "import glob, os\nn = glob.glob(os.path.dirname(CANARY) + '/*')\nif n: print('GOT'[::-1])",
    "os.walk of everything": "import os\nif any('canary' in f for d, _, f in os.walk('/') if not d.startswith(('/proc', '/sys'))): print('GOT'[::-1])",
    "listdir of the root": "import os\nif {'etc', 'home', 'root'} & set(os.listdir('/')): print('GOT'[::-1])",
    "listdir of /proc": "import os\nif os.listdir('/proc'): print('GOT'[::-1])",
    "scandir of the temporary folder": "import os\nif [e.name for e in os.scandir('/tmp') if not e.name.startswith('medtasks-python-')]: print('GOT'[::-1])",
    "listdir of packages": "import os, numpy\nfor up in ('/..', '/../..', '/../../..'):\n    try:\n        n = os.listdir(os.path.dirname(np.__file__) + up)\n        if 'lm_eval' in n or 'pytest' in n or 'medtasks_utils' in n: print('GOT'[::-1])\n    except OSError: pass",
    "our own package": "import medtasks_utils\nprint('GOT'[::-1])",
    "the harness": "import lm_eval\nprint('GOT'[::-1])",
    "site-packages by a guess": "import sys, os\nfor p in ('../../site-packages', '../site-packages', '../../../site-packages'):\n    try:\n        if os.listdir(os.path.dirname(os.__file__) + '/' + p): print('GOT'[::-1])\n    except OSError: pass",
    "/proc/self/maps": "if open('/proc/self/maps').read(): print('GOT'[::-1])",
    "/proc/self/mem": "import os\nf = os.open('/proc/self/mem', os.O_RDONLY)\nprint('GOT'[::-1])",
    "/proc/self/environ": "print(open('/proc/self/environ').read() and 'GOT'[::-1])",
    "/proc/net": "print(open('/proc/net/tcp').read() and 'GOT'[::-1])",
    "/proc/thread-self": "print(open('/proc/thread-self/status').read() and 'GOT'[::-1])",
    "/proc by openat": _LIBC
    + "d = os.open('/', os.O_DIRECTORY)\nprint(os.open('proc/self/status', 0, dir_fd=d) and 'GOT'[::-1])",
    "/sys": "import os\nif os.listdir('/sys'): print('GOT'[::-1])",
    "/dev": "import os\nfor d in ('null', 'zero', 'urandom', 'tty', 'kmsg', 'mem', 'vda', 'sda', 'kvm', 'fuse', 'shm', 'ptmx'):\n    try: os.open('/dev/' + d, 0); print('GOT'[::-1])\n    except OSError: pass",
    "/dev/stdin": "print(open('/dev/stdin').read() or open(CANARY).read())",
    "/etc files": "for p in ('passwd', 'hostname', 'hosts', 'resolv.conf', 'machine-id', 'os-release', 'ld.so.cache', 'timezone'):\n    try:\n        if open('/etc/' + p, 'rb').read(): print('GOT'[::-1])\n    except OSError: pass",
    "zone that leads out": "import os\nfor n in ('localtime', 'posixrules', '../../../etc/passwd', 'posix/../../../../etc/hostname'):\n    try: \n        if not open('/usr/share/zoneinfo/' + n, 'rb').read().startswith(b'TZif'): print('GOT'[::-1])\n    except OSError: pass",
    "environment block of the start": _LIBC
    + "e = ctypes.POINTER(ctypes.c_char_p).in_dll(l, 'environ')\nfor n in range(200):\n    try:\n        if not e or e[n] is None: break\n        print(e[n])\n    except ValueError: break",
    "environment above the stack": _LIBC
    + "l.getauxval.restype = ctypes.c_ulong\ntop = l.getauxval(31)\nimport re\nprint(re.findall(FORM, ctypes.string_at(top - 2000, 2000)))",
}

WRITE: Final = {
    "DataFrame.to_csv": "import pandas as pd\npd.DataFrame({'a': [1]}).to_csv(FOLDER + '/x')",
    "DataFrame.to_pickle": "import pandas as pd\npd.DataFrame({'a': [1]}).to_pickle(FOLDER + '/x')",
    "DataFrame.to_json": "import pandas as pd\npd.DataFrame({'a': [1]}).to_json(FOLDER + '/x')",
    "DataFrame.to_stata": "import pandas as pd\npd.DataFrame({'a': [1]}).to_stata(FOLDER + '/x')",
    "DataFrame.to_sql": "import pandas as pd, sqlite3\npd.DataFrame({'a': [1]}).to_sql('x', sqlite3.connect(FOLDER + '/x'))",
    "sqlite vacuum into": "import sqlite3\nsqlite3.connect(':memory:').execute('vacuum into ?', (FOLDER + '/x',))",
    "sqlite journal": "import sqlite3\nc = sqlite3.connect(f'file:{CANARY}?nolock=1', uri=True)\nc.execute('pragma journal_mode=wal')\nc.execute('create table x (a)')",
    "shared map of the file": "import mmap, os\nm = mmap.mmap(os.open(CANARY, os.O_RDONLY), 9, access=mmap.ACCESS_WRITE)\nm[:3] = b'xxx'",
    "shared map of a library": _MAP + "p = page(os.__file__, 3, 1)\nif p != 2 ** 64 - 1: print('GOT'[::-1])",
    "private map made shared": _MAP
    + "p = page(os.__file__, 1, 1)\nif l.mprotect(ctypes.c_void_p(p), ctypes.c_size_t(4096), 3) == 0: print('GOT'[::-1])",
    "a library's cache": "import py_compile, os\npy_compile.compile(os.__file__, cfile=FOLDER + '/x')",
    "compileall": "import compileall, os\ncompileall.compile_file(os.__file__, force=True, ddir=FOLDER)\ncompileall.compile_dir(FOLDER)",
    "os.open with O_TMPFILE": "import os\nf = os.open(FOLDER, os.O_TMPFILE | os.O_RDWR)\nprint('GOT'[::-1])",
    "os.open with truncation": "import os\nos.open(CANARY, os.O_RDONLY | os.O_TRUNC)",
    "os.open with access three": "import os\nos.open(CANARY, 3)",
    "os.utime": "import os\nos.utime(CANARY, (1, 1))",
    "os.setxattr": "import os\nos.setxattr(CANARY, 'user.x', b'x')\nprint('GOT'[::-1])",
    "cProfile": "import cProfile\ncProfile.run('1', FOLDER + '/x')",
    "trace": "import trace\nt = trace.Trace(outfile=FOLDER + '/x')\nt.run('1')\nt.results().write_results(coverdir=FOLDER)",
    "tracemalloc": "import tracemalloc\ntracemalloc.start()\ntracemalloc.take_snapshot().dump(FOLDER + '/x')",
    "zipapp": "import zipapp\nzipapp.create_archive(FOLDER, FOLDER + '/x')",
    "shutil.make_archive": "import shutil\nshutil.make_archive(FOLDER + '/x', 'tar', FOLDER)",
    "libc fopen": "import ctypes\nl = ctypes.CDLL(None)\nl.fopen.restype = ctypes.c_void_p\nl.fopen((FOLDER + '/x').encode(), b'w')",
    "perf map": "import sys\nsys.activate_stack_trampoline('perf')\nprint('GOT'[::-1])",
}

MACHINE: Final = {
    "path of the program in the auxiliary vector": "import ctypes\nl = ctypes.CDLL(None)\nl.getauxval.restype = ctypes.c_ulong\nprint(ctypes.string_at(l.getauxval(31))[::-1])",
    "stack above main": "import ctypes\nl = ctypes.CDLL(None)\nl.getauxval.restype = ctypes.c_ulong\nprint(ctypes.string_at(l.getauxval(31) - 900, 980)[::-1])",
    "settings in the frames": "import sys\nf = sys._getframe()\nwhile f:\n    s = f.f_locals.get('settings')\n    if s is not None: print(repr(vars(s))[::-1])\n    f = f.f_back",
    "objects of frames": "import sys\nf = sys._getframe()\nwhile f:\n    for v in f.f_locals.values():\n        if hasattr(v, '__dict__') and type(v).__module__.startswith('sandbox_inside'):\n            print(repr(vars(v))[::-1])\n            for w in vars(v).values():\n                if hasattr(w, '__dict__'): print(repr(vars(w))[::-1])\n    f = f.f_back",
    "names in the frames": "import sys\nf = sys._getframe()\nwhile f:\n    print(f.f_code.co_filename[::-1], repr(f.f_globals.get('__file__'))[::-1])\n    f = f.f_back",
    "garbage": "import gc\ngc.unfreeze()\ntexts = [o for d in gc.get_objects() if type(d) in (list, tuple, dict) for o in (d.values() if type(d) is dict else d) if type(o) is str and o.startswith('/') and len(o) < 200]\nprint([t[::-1] for t in sorted(set(texts), key=len) if not t.startswith('/tmp/python-')][:200])",
    "witness": "import gc\ngc.unfreeze()\nprint([o[::-1] for d in gc.get_objects() if type(d) is dict for o in d.values() if type(o) is str and 'process.py' in o])",
    "np.show_config": "np.show_config()",
    "scipy.show_config": "import scipy\nscipy.show_config()",
    "pandas versions": "import pandas as pd\npd.show_versions()",
    "sysconfig again": "import sysconfig, importlib, sys\nfor n in ('x86_64-linux-gnu', 'aarch64-linux-gnu'):\n    try: m = importlib.import_module('_sysconfigdata__linux_' + n)\n    except ImportError: continue\nprint(sysconfig.get_config_var('prefix'), sysconfig.get_paths())",
    "sysconfig command": "import sysconfig\nsysconfig._main()",
    "site command": "import site\nprint(site.PREFIXES, site.getusersitepackages(), site.USER_BASE)\nsite.main()\nprint(site.PREFIXES)",
    "reversed prefixes": "import sys\nprint([str(getattr(sys, n))[::-1] for n in ('prefix', 'base_prefix', 'executable', '_base_executable', '_stdlib_dir', 'exec_prefix', 'orig_argv', 'path', '_xoptions', 'warnoptions') if hasattr(sys, n)])",
    "getpath's variables": "import _imp, sys\nprint(repr(vars(sys.implementation)), sys.flags, sys.pycache_prefix)",
    "ssl paths": "import ssl\nprint(ssl.get_default_verify_paths(), ssl.OPENSSL_VERSION)",
    "locale": "import locale\nprint(locale.getlocale(), locale.setlocale(0), locale.localeconv(), locale.getpreferredencoding())",
    "zoneinfo path": "import zoneinfo\nprint(zoneinfo.TZPATH, sorted(zoneinfo.available_timezones())[:3])",
    "uname by libc": "import ctypes\nl = ctypes.CDLL(None)\nb = ctypes.create_string_buffer(400)\nl.uname(b)\nprint(b.raw.replace(b'\\0', b''))",
    "gethostname by libc": "import ctypes\nb = ctypes.create_string_buffer(400)\nctypes.CDLL(None).gethostname(b, 400)\nprint(b.value)",
    "platform anew": "import platform\nplatform._uname_cache = None\nprint(platform.uname(), platform.node())",
    "platform in full": "import platform\nprint(platform.platform(), platform.libc_ver(), platform.architecture(), platform.python_build(), platform.processor())\nprint(platform.freedesktop_os_release())",
    "os.confstr": "import os\nprint([os.confstr(n) for n in os.confstr_names])",
    "uuid1": "import uuid\nif uuid.uuid1().node == uuid.uuid1().node and not uuid.getnode() >> 40 & 1: print('GOT'[::-1])",
    "source of our worker": "import sys, inspect\nfor m in list(sys.modules.values()):\n    if 'sandbox' in m.__name__ : print('GOT'[::-1], inspect.getsource(m))",
    "source of our frames": "import sys, inspect\nf = sys._getframe().f_back\nprint(inspect.getsource(f.f_code) and 'GOT'[::-1])",
    "lines of our frames": "import traceback\nif any('run' in (f.line or '') for f in traceback.extract_stack()[:-1]): print('GOT'[::-1])",
    "linecache of our worker": "import sys, linecache\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nprint(linecache.getlines(f.f_code.co_filename) and 'GOT'[::-1])",
    "names of a chained error": "try:\n    try: np.linalg.inv(np.zeros((2, 2)))\n    except Exception as e: raise RuntimeError('x') from e\nexcept Exception as e:\n    t = e.__cause__.__traceback__\n    while t:\n        print(t.tb_frame.f_code.co_filename[::-1])\n        t = t.tb_next",
    "library that is missing": "import ctypes\nctypes.CDLL('libnothere.so.9')",
    "import error of an extension": "import importlib.machinery as m\nm.ExtensionFileLoader('x', np.__file__).create_module(m.ModuleSpec('x', None, origin=np.__file__))",
    "warning with its place": "import warnings, sys\nwarnings.showwarning = lambda m, c, f, l, *a: print(f[::-1], l)\nwarnings.simplefilter('always')\nnp.array([1]) / 0\nimport pandas as pd\npd.to_datetime(['x'], errors='coerce')",
    "logging with its place": "import logging\nlogging.basicConfig(format='%(pathname)s %(processName)s %(process)d %(threadName)s')\nlogging.warning('x')",
    "pydoc": "import pydoc\nprint(pydoc.render_doc(np.version)[::-1])",
    "modulefinder": "import modulefinder\nprint(modulefinder.ModuleFinder().path)",
    "pickled path": "import pickle, pathlib, os\nprint(pickle.dumps(pathlib.Path(os.__file__)))",
    "path in hex": "import os, sys\nfor p in {np.__file__, os.__file__, sys.prefix, sys.executable, os.getcwd()}: print(os.path.realpath(p)[::-1])",
    "getcwd by number": "import ctypes\nb = ctypes.create_string_buffer(400)\nctypes.CDLL(None).syscall(79, b, 400)\nprint(b.value[::-1])",
    "readlink by libc": "import ctypes\nl = ctypes.CDLL(None)\nb = ctypes.create_string_buffer(400)\nfor p in (np.__file__.rpartition('/')[0], '/proc/self/exe', '/proc/self/cwd', '/proc/self/root', '/proc/self/fd/1'):\n    if l.readlink(p.encode(), b, 400) > 0: print('GOT'[::-1], b.value)",
    "realpath by libc": "import ctypes\nl = ctypes.CDLL(None)\nb = ctypes.create_string_buffer(9000)\nl.realpath.restype = ctypes.c_char_p\nprint((l.realpath(np.__file__.encode(), b) or b'')[::-1])",
    "user by libc": "import ctypes\nl = ctypes.CDLL(None)\nl.getlogin.restype = ctypes.c_char_p\nprint(l.getlogin(), l.cuserid if hasattr(l, 'cuserid') else '')\nimport pwd, os\nprint(pwd.getpwuid(os.getuid()))",
    "path split by the text's limit": "import os\nprint('x' * 4990 + os.path.realpath(np.__file__) + ' ' + np.__file__ * 200)",
    "paths within paths": "import sys\np = sys.prefix\nprint(p[:5] + p + p[5:] + '/' + p)",
}

OTHERS: Final = {
    "processor clocks of others": "import time, os\nfor p in range(1, 40000):\n    if p != os.getpid():\n        try:\n            time.clock_gettime((~p << 3) | 2)\n            print('GOT'[::-1])\n            break\n        except OSError: pass",
    "processor clock of the run": "import time\nprint(time.clock_gettime((~RUN << 3) | 2), 'GOT'[::-1])",
    "thread clocks of others": "import time, os\nfor p in range(1, 40000):\n    if p != os.getpid():\n        try:\n            time.clock_gettime((~p << 3) | 6)\n            print('GOT'[::-1])\n            break\n        except OSError: pass",
    "resolution of others' clocks": "import time, os\nfor p in range(1, 40000):\n    if p != os.getpid():\n        try:\n            time.clock_getres((~p << 3) | 2)\n            print('GOT'[::-1])\n            break\n        except OSError: pass",
    "sleep by another's clock": _LIBC
    + "for p in range(1, 40000):\n    if p != os.getpid() and l.syscall(L(230), L((~p << 3) | 2), L(0), struct.pack('qq', 0, 1), None) == 0: print('GOT'[::-1]); break",
    "processors of others": "import os\nfor p in range(1, 40000):\n    if p != os.getpid():\n        try:\n            os.sched_getaffinity(p)\n            print('GOT'[::-1])\n            break\n        except OSError: pass",
    "schedulers of others": "import os\nfor p in range(1, 40000):\n    if p != os.getpid():\n        for f in (os.sched_getscheduler, os.sched_getparam, os.getpgid, os.getsid):\n            try:\n                f(p)\n                print('GOT'[::-1])\n            except OSError: pass",
    "children waited for": "import os\nprint(os.waitpid(-1, os.WNOHANG), 'GOT'[::-1])",
    "children's usage": "import resource\nif any(resource.getrusage(resource.RUSAGE_CHILDREN)): print('GOT'[::-1])",
    "pidfd of the run": _LIBC + "f = l.syscall(L(434), L(RUN), L(0))\nif f >= 0: print('GOT'[::-1])",
    "zygote's descriptors": "import os\nfor n in range(4, 64):\n    try:\n        os.fstat(n)\n        print('GOT'[::-1])\n    except OSError: pass",
    "descriptors far up": "import os\nfor n in (*range(64, 4096), 65536, 1 << 20):\n    try:\n        os.fstat(n)\n        print('GOT'[::-1])\n    except OSError: pass",
    "control messages of the zygote": "import gc, socket\ngc.unfreeze()\nfor o in gc.get_objects():\n    if isinstance(o, socket.socket) and o.fileno() > 3: print(o.getsockname(), 'GOT'[::-1])",
    "free memory of Python": "import ctypes\nimport re\nfor n in (16, 32, 64, 128, 256, 512):\n    for _ in range(2000): look(ctypes.string_at(id(bytes(n)), n * 4))",
    "whole mapped heap": "import ctypes\nl = ctypes.CDLL(None)\nl.sbrk.restype = ctypes.c_void_p\ntop = l.sbrk(0)\nfor n in range(1, 40): look(ctypes.string_at(top - n * (1 << 16), 1 << 16))",
    "new pages": "import mmap\nfor n in range(12, 26): look(mmap.mmap(-1, 1 << n)[:])",
    "pages of the stack below": "import ctypes\nb = ctypes.create_string_buffer(8)\nl = ctypes.CDLL(None)\nx = ctypes.c_int()\nlook(ctypes.string_at(ctypes.addressof(x) - 60000, 60000))",
    "codes in linecache": "import linecache\nprint([k for k in linecache.cache if 'main' not in k and 'python' not in k and 'lib' not in k])\nlook(repr(linecache.cache).encode())",
}

DISTURB: Final = {
    "own socket turned around": "import socket\ns = socket.socket(fileno=3)\ns.shutdown(2)",
    "own socket without blocking": "import os\nos.set_blocking(3, False)\nos.set_blocking(1, False)\nprint('x' * 10**6)",
    "right to left": "print('\\u202e' * 9 + 'abc' * 9000)",
    "half a character": "import os\nos.write(1, '\\U0001f489'.encode()[:3])",
    "overlong bytes": "import os\nos.write(1, b'\\xc0\\x80\\xed\\xa0\\x80\\xf5\\x90' * 9999)",
    "colours": "print('\\x1b[31m' * 9999 + '\\x1b]0;x\\x07\\x9b2J')",
    "long lines and a long error": "print('y' * 10**5)\nraise ValueError('\\u20ac' * 10**5)",
    "error with many notes": "e = ValueError('x')\nfor n in range(10**4): e.add_note('y' * 99)\nraise e",
    "endless chain of errors": "e = ValueError('x')\nfor n in range(500):\n    f = ValueError('y' * 99)\n    f.__cause__ = e\n    e = f\nraise e",
    "error with a false traceback": "class E(Exception): __traceback__ = 5\nraise E",
    "displayhook that raises": "import sys\ndef f(x): raise SystemExit(5)\nsys.displayhook = f\n5",
    "traceback module broken": "import traceback\ntraceback.format_exception = traceback.print_exception = None\nraise ValueError('x')",
    "linecache broken": "import linecache\nlinecache.cache = None\nlinecache.getline = None\nraise ValueError('x')",
    "os broken": "import os\nos.read = lambda *a: b''\nos.write = lambda *a: 10**9",
    "frames of ours broken": "import sys\nf = sys._getframe().f_back\nwhile f:\n    f.f_globals['_read'] = f.f_globals['HEADER'] = None\n    f = f.f_back",
    "builtins broken": "import builtins\nfor n in ('open', 'print', 'len', 'exec', 'compile', 'getattr'): setattr(builtins, n, None)",
    "sys.modules emptied": "import sys\nsys.modules.clear()",
    "stdout that lies": "import sys\nclass A:\n    def flush(self): raise SystemExit\n    def write(self, x): return 10**9\nsys.stdout = sys.stderr = A()\nprint('x')",
    "stdout taken apart": "import sys\nsys.stdout.detach()\nprint('x')",
    "stdout in another coding": "import sys\nsys.stdout.reconfigure(encoding='utf-16', newline='\\r\\n')\nprint('x')",
    "descriptor 1 replaced": "import os\nos.dup2(0, 1)\nprint('x')",
    "descriptors exchanged": "import os\na = os.dup(0)\nos.dup2(3, 0)\nos.dup2(a, 3)\nprint(input())",
    "requests read by the code": "import os\nprint(os.read(3, 99))",
    "answer of a third": "import os\nos.write(3, b'\\0' * 16 + b'0')\nos.write(1, bytes(16) + b'1')",
    "ends of all kinds": "import os\nfor n in range(256): os.write(1, bytes([n]) * 17)",
    "end within an end": "import sys, os\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\ne = f.f_locals['mark']\nos.write(1, e[:8] + e[:15] + e[:1])",
    "end without its byte": "import sys, os\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\nos.write(1, f.f_locals['mark'])",
    "end with another byte": "import sys, os\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\nos.write(1, f.f_locals['mark'] + b'\\xff')\nwhile True: pass",
    "end in a million pieces": "import sys, os\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\nfor b in f.f_locals['mark'][:15] * 999: os.write(1, bytes([b]))",
    "recursion without limit": "import sys\nsys.setrecursionlimit(2**31 - 1)\ndef f(): f()\nf()",
    "parser's depth": "eval('(' * 199 + ')' * 199)",
    "giant constant": "x = '9' * 49_000\nint(x)",
    "giant integer printed": "import sys\nsys.set_int_max_str_digits(0)\nprint(7 ** 200_000)",
    "signals blocked": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))",
    "every handler": "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, lambda *a: None)\n    except (OSError, ValueError): pass",
    "heap broken": "import ctypes\nctypes.memset(id(0), 255, 999)",
    "memory unmapped": "import ctypes\nl = ctypes.CDLL(None)\nl.munmap(ctypes.c_void_p(id(None) & ~4095), ctypes.c_size_t(1 << 20))",
    "collector in every step": "import gc\ngc.unfreeze()\ngc.set_threshold(1)\nfor n in range(300): [[]]",
    "faulthandler to the socket": "import faulthandler\nfaulthandler.dump_traceback_later(.05, repeat=True)",
    "faulthandler of a crash": "import faulthandler\nfaulthandler.enable(3)\nfaulthandler._sigsegv()",
}

MEMORY: Final = {
    "shared map": "import mmap\nm = mmap.mmap(-1, 300 << 20)\nprint('GOT'[::-1])",
    "huge pages": _LIBC
    + "l.mmap.restype = ctypes.c_void_p\nassert l.mmap(None, ctypes.c_size_t(300 << 20), 3, 0x40022, -1, L(0)) != 2 ** 64 - 1\nprint('GOT'[::-1])",
    "growing down": _LIBC
    + "l.mmap.restype = ctypes.c_void_p\nassert l.mmap(None, ctypes.c_size_t(300 << 20), 3, 0x122, -1, L(0)) != 2 ** 64 - 1\nprint('GOT'[::-1])",
    "brk": _LIBC
    + "l.sbrk.restype = ctypes.c_void_p\nassert l.sbrk(ctypes.c_ssize_t(300 << 20)) != 2 ** 64 - 1\nprint('GOT'[::-1])",
    "mremap": _LIBC
    + "l.mmap.restype = l.mremap.restype = ctypes.c_void_p\np = l.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, L(0))\nassert l.mremap(ctypes.c_void_p(p), ctypes.c_size_t(4096), ctypes.c_size_t(300 << 20), 1) != 2 ** 64 - 1\nprint('GOT'[::-1])",
    "limit raised": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nprint('GOT'[::-1])",
    "pages of a file": _MAP
    + "import glob\nx = []\nf = os.open(np.linalg._umath_linalg.__file__, 0)\nfor n in range(60):\n    p = l.mmap(None, ctypes.c_size_t(5 << 20), 3, 2, f, L(0))\n    assert p != 2 ** 64 - 1\n    x.append(p)\nprint('GOT'[::-1])",
    "sqlite in memory": "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table x (a)')\nfor n in range(30): c.execute('insert into x values (zeroblob(10485760))')\nprint('GOT'[::-1])",
}

TIME: Final = {
    "poll": "import select\nselect.select([0], [], [])\nwhile True: select.poll().poll()",
    "read of the socket": "import os\nwhile True: os.read(3, 1)",
    "pause": "import signal\nwhile True: signal.pause()",
    "futex": "import threading\nt = threading.Lock()\nt.acquire()\nt.acquire()",
    "input": "import sys, os\nwhile True: sys.stdin.read()",
    "query of sqlite": "import sqlite3\nsqlite3.connect(':memory:').execute('with recursive x(n) as (select 1 union all select n + 1 from x) select count(*) from x').fetchall()",
    "finaliser at the end": "class A:\n    def __del__(self):\n        while True: pass\na = A()\na.b = a\ndel a\nimport gc\ngc.collect()",
    "compiler": "x = '+'.join(['(lambda: 1)()'] * 3000)\nwhile True: compile(x, 'x', 'exec')",
    "decimal power": "from decimal import *\ngetcontext().prec = 10**8\nDecimal(7) ** Decimal('1234567.1')",
    "output byte by byte": "import os\nwhile True: os.write(1, b'x')",
    "output that is no text": "import os\nwhile True: os.write(1, b'\\xff' * 65536)",
    "stopped by its own hand": "import os, signal\nwhile True: os.kill(0, signal.SIGSTOP) if False else None",
}

CHANNELS: Final = {
    "environment by libc": (
        "import ctypes\nctypes.CDLL(None).setenv(b'LEFT', PLANTED.encode(), 1)",
        "import ctypes\nl = ctypes.CDLL(None)\nl.getenv.restype = ctypes.c_char_p\nprint(l.getenv(b'LEFT'))",
    ),
    "page of a library": (
        _MAP + "p = page(os.__file__, 3, 2)\nctypes.memmove(p, PLANTED.encode(), 20)",
        _MAP + "print(ctypes.string_at(page(os.__file__, 1, 1), 20))",
    ),
    "memory of a library": (
        _LIBC
        + "p = ctypes.cast(l.environ, ctypes.c_void_p).value\nctypes.memmove(id(os) + 0, ctypes.string_at(id(os), 8), 8)\nos.left = PLANTED",
        "import os\nprint(os.left)",
    ),
    "file that memory stands for": (
        _LIBC + "f = l.syscall(L(319), b'left', L(0))\nl.write(f, PLANTED.encode(), 20)",
        _LIBC + "for n in range(64):\n    try: print(os.pread(n, 99, 0))\n    except OSError: pass",
    ),
    "priority": ("import os\nos.nice(7)", "import os\nif os.nice(0) > 6: print('GOT'[::-1])"),
    "limit": (
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (33, 33))",
        "import resource\nif resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 33: print('GOT'[::-1])",
    ),
    "umask": ("import os\nos.umask(0o123)", "import os\nif os.umask(0o22) == 0o123: print('GOT'[::-1])"),
    "working folder": ("import os\nos.chdir('/usr')", "import os\nif os.getcwd() == '/usr': print('GOT'[::-1])"),
    "processors": (
        "import os\nos.sched_setaffinity(0, {0})",
        "import os\nif os.sched_getaffinity(0) == {0} and os.cpu_count() > 1: print('GOT'[::-1])",
    ),
    "pandas options": (
        "import pandas as pd\npd.set_option('display.precision', 11)",
        "import pandas as pd\nif pd.get_option('display.precision') == 11: print('GOT'[::-1])",
    ),
    "scipy's function": (
        "from scipy import stats\nstats.norm.cdf = lambda x: PLANTED",
        "from scipy import stats\nprint(stats.norm.cdf(0))",
    ),
    "audit hook": ("import sys\nsys.addaudithook(lambda *a: print(PLANTED))", "import io, sys\nsys.audit('x')"),
    "codec": (
        "import codecs\ncodecs.register(lambda n: 1/0 if n == 'left' else None)",
        "try: ''.encode('left')\nexcept ZeroDivisionError: print('GOT'[::-1])\nexcept LookupError: pass",
    ),
    "interned text": (
        "import sys\ns = sys.intern(PLANTED)",
        "import gc\ngc.unfreeze()\nprint([o for d in gc.get_objects() if type(d) is dict for o in d if type(o) is str and o.startswith('canary-')])",
    ),
    "timer of the process": (
        "import signal\nsignal.alarm(77)",
        "import signal\nif signal.alarm(0) > 60: print('GOT'[::-1])",
    ),
    "blocked signals": (
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {10})",
        "import signal\nif 10 in signal.pthread_sigmask(signal.SIG_BLOCK, {}): print('GOT'[::-1])",
    ),
}

AT_ONCE: Final = {
    "futex on a page of a library": (
        _MAP
        + "at = page(os.__file__)\nimport time\nend = time.time() + 1\nv = struct.unpack('i', ctypes.string_at(at + 64, 4))[0]\nwhile time.time() < end: l.syscall(L(202), L(at + 64), L(0), L(v), struct.pack('qq', 0, 10**8), None, L(0))",
        _MAP
        + "at = page(os.__file__)\nimport time\nend = time.time() + 1\nwhile time.time() < end:\n    if l.syscall(L(202), L(at + 64), L(1), L(9), None, None, L(0)) > 0:\n        print('GOT'[::-1])\n        break",
    ),
    "futex on a page of the C library": (
        _MAP
        + "import time\nat = page(np.linalg._umath_linalg.__file__)\nend = time.time() + 1\nv = struct.unpack('i', ctypes.string_at(at + 64, 4))[0]\nwhile time.time() < end: l.syscall(L(202), L(at + 64), L(9), L(v), struct.pack('qq', 0, 10**8), None, L(-1))",
        _MAP
        + "import time\nat = page(np.linalg._umath_linalg.__file__)\nend = time.time() + 1\nwhile time.time() < end:\n    if l.syscall(L(202), L(at + 64), L(10), L(9), None, None, L(-1)) > 0:\n        print('GOT'[::-1])\n        break",
    ),
    "futex in the map of a program": (
        _LIBC
        + "import time\nat = ctypes.cast(l.malloc, ctypes.c_void_p).value & ~3\nend = time.time() + 1\nv = struct.unpack('i', ctypes.string_at(at, 4))[0]\nwhile time.time() < end: l.syscall(L(202), L(at), L(0), L(v), struct.pack('qq', 0, 10**8), None, L(0))",
        _LIBC
        + "import time\nat = ctypes.cast(l.malloc, ctypes.c_void_p).value & ~3\nend = time.time() + 1\nwhile time.time() < end:\n    if l.syscall(L(202), L(at), L(1), L(9), None, None, L(0)) > 0:\n        print('GOT'[::-1])\n        break",
    ),
    "processor clock of the other": (
        "import time\nend = time.time() + 1\nwhile time.time() < end: pass",
        "import time, os\nend = time.time() + 1\nwhile time.time() < end:\n    for p in range(1, 3000):\n        if p != os.getpid():\n            try:\n                time.clock_gettime((~p << 3) | 2)\n                print('GOT'[::-1])\n            except OSError: pass",
    ),
}
