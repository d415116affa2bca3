"""Attempts by calls that computing has no use for, and what code that makes such calls begins with.

Here ``libc`` is the C library, ``call`` calls it by the number of a system call of this machine and prints the outcome.
"""

# ruff: noqa: E501

from typing import Final

PRELUDE: Final = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    return libc.syscall(ctypes.c_long(number), *[a if isinstance(a, bytes) else ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
def got(yes=True):
    if yes: print('GOT'[::-1], globals().get('name'))
def child(result):
    if result == 0: os._exit(0)
    got(result > 0)
"""

_NUMBERS: Final = """
ptrace 101 0 0 0 0
ptrace_attach_parent 101 16 PARENT 0 0
ptrace_seize_first 101 16902 1 0 0
process_vm_readv 310 PARENT BUFFER 1 BUFFER 1 0
process_vm_readv_first 310 1 BUFFER 1 BUFFER 1 0
process_vm_writev 311 PARENT BUFFER 1 BUFFER 1 0
kcmp 312 1 PARENT 0 0 0
io_uring_setup 425 8 BUFFER
io_uring_enter 426 1 1 0 0 0 0
io_uring_register 427 1 0 0 0
io_setup 206 8 BUFFER
bpf 321 0 BUFFER 72
perf_event_open 298 BUFFER 0 -1 -1 0
userfaultfd 323 0
userfaultfd_user_mode 323 1
add_key_user 248 KEY KEY BUFFER 3 -4
add_key_session 248 KEY KEY BUFFER 3 -3
add_key_process 248 KEY KEY BUFFER 3 -2
keyctl_get_user_ring 250 0 -4 1
keyctl_join_session 250 1 0
request_key 249 KEY KEY 0 -4
mount_tmpfs 165 KEY ROOT KEY 0 0
bind_mount 165 ROOT ROOT 0 4096 0
umount2 166 ROOT 2
pivot_root 155 ROOT ROOT
chroot 161 ROOT
unshare_user 272 0x10000000
unshare_mount 272 0x20000
unshare_network 272 0x40000000
unshare_files 272 0x400
setns 308 0 0
open_tree 428 -100 ROOT 1
fsopen 430 KEY 0
fsmount 432 0 0 0
fspick 433 -100 ROOT 0
move_mount 429 0 ROOT 0 ROOT 0
mount_setattr 442 -100 ROOT 0 BUFFER 32
name_to_handle_at 303 -100 ROOT BUFFER BUFFER 0
open_by_handle_at 304 -100 BUFFER 0
openat2_writing 437 -100 FILE HOW 24
creat 85 FILE 511
memfd_create 319 KEY 0
memfd_secret 447 0
shmget 29 0x4242 4096 950
shmat 30 0 0 0
semget 64 0x4242 1 950
msgget 68 0x4242 950
mq_open 240 KEY 66 511 0
eventfd2 290 0 0
signalfd4 289 -1 BUFFER 8 0
timerfd_create 283 0 0
timer_create 222 0 0 BUFFER
epoll_create1 291 0
inotify_init1 294 0
fanotify_init 300 0 0
socket_unix 41 1 1 0
socket_netlink 41 16 3 0
socket_packet 41 17 3 0
socket_vsock 41 40 1 0
socket_alg 41 38 5 0
socketpair 53 1 1 0 BUFFER
sendmsg_on_own_socket 46 3 BUFFER 0
recvmsg_on_own_socket 47 3 BUFFER 64
shutdown_own_socket 48 3 2
setsockopt_on_own_socket 54 3 1 7 BUFFER 4
getsockopt_credentials 55 3 1 17 BUFFER BUFFER
getpeername 52 3 BUFFER BUFFER
kill_itself 62 SELF 0
kill_parent 62 PARENT 9
kill_first 62 1 9
kill_group 62 0 0
kill_all 62 -1 19
tgkill_parent 234 PARENT PARENT 9
tkill_first 200 1 9
rt_sigqueueinfo_parent 129 PARENT 18 BUFFER
pidfd_open_parent 434 PARENT 0
pidfd_open_itself 434 SELF 0
pidfd_getfd 438 0 0 0
pidfd_send_signal 424 0 9 0 0
process_madvise 440 0 BUFFER 1 4 0
process_mrelease 448 0 0
setpriority 141 0 0 0
setpriority_of_a_user 141 2 0 19
getpriority_of_parent 140 0 PARENT
sched_setaffinity 203 0 8 BUFFER
sched_setscheduler 144 0 0 BUFFER
sched_setattr 314 0 BUFFER 0
ioprio_set 251 1 0 0
prctl_name 157 15 KEY 0 0 0
prctl_dumpable 157 4 1 0 0 0
prctl_death_signal 157 1 18 0 0 0
prctl_subreaper 157 36 1 0 0 0
prctl_ptracer 157 0x59616d61 -1 0 0 0
prctl_no_death_signal 157 1 0 0 0 0
seccomp_listener 317 1 8 BUFFER
landlock_create_ruleset 444 0 0 1
setuid 105 0
setresuid 117 0 0 0
setgid 106 0
setgroups 116 0 BUFFER
setsid 112
setpgid 109 0 0
capset 126 BUFFER BUFFER
capget 125 BUFFER BUFFER
personality 135 0x0040000
arch_prctl 158 0x1001 0
modify_ldt 154 0 BUFFER 8
iopl 172 3
ioperm 173 0 1 1
sethostname 170 KEY 3
setdomainname 171 KEY 3
uname 63 BUFFER
sysinfo 99 BUFFER
syslog 103 3 BUFFER 64
settimeofday 164 BUFFER 0
clock_settime 227 0 BUFFER
adjtimex 159 BUFFER
reboot 169 0 0 0 0
kexec_load 246 0 0 0 0
init_module 175 BUFFER 1 KEY
delete_module 176 KEY 0
swapon 167 ROOT 0
acct 163 0
quotactl 179 0 ROOT 0 BUFFER
vhangup 153
mlock 149 BUFFER 1
mlockall 151 1
mbind 237 BUFFER 1 0 0 0 0
move_pages 279 0 0 0 0 0 0
migrate_pages 256 0 0 0 0
mincore 27 0 1 BUFFER
madvise_mergeable 28 PAGE 4096 12
memfd_shared_by_vmsplice 278 1 BUFFER 1 0
splice 275 0 0 1 0 1 0
tee 276 0 1 1 0
sendfile 40 1 0 0 1
copy_file_range 326 0 0 1 0 1 0
fallocate 285 1 0 0 1
ftruncate 77 1 0
truncate 76 FILE 0
flock 73 1 2
fsync 74 1
sync 162
syncfs 306 1
umask 95 0
chdir 80 ROOT
fchdir 81 0
mkdir 83 FILE 511
mkdirat 258 -100 FILE 511
mknod 133 FILE 4534 0
mknodat 259 -100 FILE 4534 0
symlink 88 ROOT FILE
link 86 ROOT FILE
linkat 265 -100 ROOT -100 FILE 0
unlink 87 FILE
unlinkat 263 -100 FILE 0
rename 82 FILE FILE
renameat2 316 -100 FILE -100 FILE 0
chmod 90 FILE 511
fchmodat 268 -100 FILE 511
fchmod_of_output 91 1 511
chown 92 FILE 0 0
utimensat 280 -100 FILE 0 0
setxattr 188 FILE KEY BUFFER 1 0
listxattr 194 ROOT BUFFER 64
readlink 89 ROOT BUFFER 64
statfs 137 ROOT BUFFER
ustat 136 0 BUFFER
ioctl_push_character 16 1 0x5412 BUFFER
ioctl_console 16 0 0x541d 0
ioctl_waiting_bytes 16 3 0x541b BUFFER
fcntl_owner 72 3 8 SELF
fcntl_signal 72 3 10 18
fcntl_asynchronous 72 3 4 0x2000
fcntl_lock 72 1 6 BUFFER
fcntl_lease 72 1 1024 0
fcntl_notify 72 0 1026 1
fcntl_pipe_size 72 0 1031 1048576
fcntl_seals 72 1 1033 1
setrlimit 160 7 BUFFER
prlimit_of_parent 302 PARENT 7 0 BUFFER
prlimit_of_itself 302 0 0 BUFFER 0
open_writing 2 FILE 65 511
openat_writing 257 -100 FILE 65 511
openat_temporary 257 -100 ROOT 0x410002 511
openat_path 257 -100 ROOT 0x200000 0
preadv2_from_cache 327 0 BUFFER 1 0 0 8
get_robust_list_of_parent 274 PARENT BUFFER BUFFER
futex_waitv 449 BUFFER 1 0 0 0
restrict_self 446 0 0
map_shadow_stack 453 0 4096 1
listmount 458 BUFFER BUFFER 1 0
statmount 457 BUFFER BUFFER 64 0
lsm_list_modules 461 BUFFER BUFFER 0
madvise_mergeable_with_high_bits 28 PAGE 4096 0x10000000c
madvise_cold 28 PAGE 4096 20
madvise_pageout 28 PAGE 4096 21
madvise_hwpoison 28 PAGE 4096 100
madvise_offline 28 PAGE 4096 101
madvise_remove 28 PAGE 4096 9
madvise_collapse 28 PAGE 4096 25
futex_wake_shared 202 PAGE 1 1 0 0 0
futex_requeue_shared 202 PAGE 3 0 0 PAGE 0
futex_wake_shared_with_realtime 202 PAGE 257 1 0 0 0
futex_wake_new 454 PAGE -1 1 2
futex_requeue_new 456 BUFFER 0 0 0
clock_gettime_of_parent 228 CLOCK BUFFER
clock_getres_of_parent 229 CLOCK BUFFER
clock_nanosleep_of_parent 230 CLOCK 0 BUFFER 0
sched_getaffinity_of_parent 204 PARENT 128 BUFFER
prlimit_of_itself_with_high_bits 302 0x100000000 7 BUFFER 0
socket_unix_with_high_bits 0x100000029 1 1 0
fcntl_owner_with_high_bits 72 3 0x100000008 SELF
openat_writing_with_high_bits 257 -100 FILE 0x100000041 511
prctl_syscall_user_dispatch 157 59 0 0 0 0
prctl_get_auxv 157 0x41555856 BUFFER 64 0 0
prctl_mm 157 35 1 0 0 0
prctl_vma_name 157 0x53564d41 0 PAGE 4096 KEY
arch_prctl_shadow_stack 158 0x5001 1
set_tid_address 218 BUFFER
mseal 462 PAGE 4096 0
remap_file_pages 216 PAGE 4096 0 0 0
mlock2 325 PAGE 4096 0
cachestat 451 0 BUFFER BUFFER 0
fadvise_dontneed 221 3 0 0 4
readahead 187 0 0 0
file_getattr 468 -100 ROOT BUFFER 64 0
open_tree_attr 467 -100 ROOT 0 0 0
setxattrat 463 -100 FILE 0 KEY BUFFER 16
sched_getparam_of_parent 143 PARENT BUFFER
sched_rr_get_interval_of_parent 148 PARENT BUFFER
getpgid_of_parent 121 PARENT
getsid_of_parent 124 PARENT
wait4_any 61 -1 BUFFER 1 0
waitid_any 247 0 0 BUFFER 0x1000005 0
sigtimedwait 128 BUFFER 0 BUFFER 8
sigsuspend_queue 129 SELF 10 BUFFER
pwritev2 328 1 BUFFER 0 0 0 0
vmsplice 278 1 BUFFER 0 0
lookup_dcookie 212 0 BUFFER 64
rseq_of_no_abi 219 0
getcpu 309 BUFFER BUFFER 0
pkey_alloc 330 0 0
set_mempolicy 238 0 0 0
process_vm_readv_itself 310 SELF BUFFER 0 BUFFER 0 0
accept4 288 3 0 0 0
listen 50 3 1
bind_own_socket 49 3 BUFFER 16
connect_own_socket 42 3 BUFFER 16
sendto_own_socket 44 3 BUFFER 1 0 0 0
recvfrom_own_socket 45 3 BUFFER 1 64 0 0
ioctl_siocgstamp 16 3 0x8906 BUFFER
ioctl_socket_owner 16 3 0x8901 BUFFER
ioctl_fionbio 16 3 0x5421 BUFFER
pipe 22 BUFFER
pipe2 293 BUFFER 0
getdents_old 78 0 BUFFER 64
uselib 134 FILE
nfsservctl 180 0 0 0
"""

_SETUP: Final = """
b = ctypes.create_string_buffer(4096)
page = (ctypes.addressof(b) + 4095) // 4096 * 4096
names = {'BUFFER': b, 'PARENT': os.getppid() or 1, 'SELF': os.getpid(), 'KEY': b'user', 'ROOT': b'/', 'PAGE': page,
    'CLOCK': (~(os.getppid() or RUN) << 3) | 2, 'FILE': FOLDER.encode() + b'/x', 'HOW': bytes([65, 0, 0, 0, 0, 0, 0, 0, 255, 1] + [0] * 14)}
"""


def _attempt(line: str) -> str:
    name, number, *arguments = line.split()
    values = ", ".join(f"names[{each!r}]" if each.isalpha() else each for each in arguments)
    return f"name = {name!r}\ngot(call({number}, {values or '0'}) >= 0)"


_LINES: Final = _NUMBERS.strip().splitlines()
AT_ONCE, ENDED = 30, "tried all"
KERNEL: Final = {
    f"{AT_ONCE} calls from {start}": "\n".join(
        [_SETUP, *map(_attempt, _LINES[start : start + AT_ONCE]), f"print({ENDED!r})"]
    )
    for start in range(0, len(_LINES), AT_ONCE)
}
"""System calls by the numbers of x86-64, each of which must fail, and leave the next to be tried."""
