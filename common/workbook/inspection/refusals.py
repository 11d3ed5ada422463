"""The functions that no step needs, by what they do."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REMOVE_IT = "a step sorts keys with kernels and needs none of this: remove it"


@dataclass(frozen=True)
class Refusal:
    """What a function does, and what to write instead."""

    what: str
    remedy: str = _REMOVE_IT


def _words(text: str) -> str:
    return "|".join(text.split())


# Names of C, without the decoration that plain() removes. Each is a regular expression.
_PROCESS = _words(
    r"""
    fork vfork _?clone\d? exec\w+ fexecve posix_spawn\w* system popen pclose wait waitpid waitid wait3 wait4 kill
    killpg tkill tgkill quick_exit at_quick_exit on_exit cxa_at_quick_exit ptrace prctl arch_prctl
    setpgid setpgrp setsid setuid setgid setresuid setresgid setreuid setregid seteuid setegid setgroups setrlimit
    prlimit setpriority nice sched_\w+ unshare setns chroot pivot_root mount umount2? reboot daemon setenv putenv
    unsetenv clearenv environ getppid pidfd_\w+ process_madvise personality acct vhangup getcontext setcontext
    makecontext swapcontext
    """
)
_FILES = _words(
    r"""
    open open_2 openat openat_2 open_by_handle_at creat fopen freopen fdopen fmemopen tmpfile tmpnam tempnam
    mkstemps? mkostemps? mkdtemp read pread preadv\d? readv write pwrite pwritev\d? writev sendfile splice tee
    vmsplice copy_file_range close close_range closefrom closeall fclose fcloseall unlink unlinkat remove rename
    renameat\d? mkdir mkdirat rmdir opendir fdopendir readdir readdir_r scandir ftw nftw glob wordexp stat fstat
    lstat fstatat statx fxstat xstat lxstat access faccessat euidaccess eaccess chmod fchmod fchmodat chown fchown
    lchown chdir fchdir getcwd get_current_dir_name realpath readlink readlinkat link linkat symlink symlinkat dup
    dup2 dup3 pipe pipe2 fcntl ioctl flock lockf truncate ftruncate fallocate posix_fallocate fsync fdatasync sync
    syncfs mknod mknodat mkfifo mkfifoat utime utimes utimensat futimens statfs fstatfs statvfs fstatvfs inotify_\w+
    fanotify_\w+ aio_\w+ lio_listio memfd_create shm_open shm_unlink shmget shmat shmctl semget msgget mq_\w+ fileno
    IO_file_\w+ IO_new_file_\w+ open_memstream
    """
)
_NETWORK = _words(
    r"""
    socket socketpair connect bind listen accept4? send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg
    shutdown getsockopt setsockopt getsockname getpeername getaddrinfo freeaddrinfo getnameinfo gethostby\w+
    getservby\w+ inet_\w+ res_\w+ select pselect poll ppoll epoll_\w+ eventfd if_nametoindex getifaddrs rcmd rexec
    io_uring_\w+
    """
)
_LOADING = _words(
    r"""
    dlopen dlmopen dlsym dlvsym dladdr1? dlinfo dlclose dl_\w+ dlopen_mode r_debug getauxval
    tls_get_addr_slow libc_dlopen_mode libc_dlsym
    """
)
_SIGNALS = _words(
    r"""
    signal bsd_signal sysv_signal sigaction sigprocmask sigset sigignore sighold sigrelse sigpause sigsuspend
    sigpending sigwait sigwaitinfo sigtimedwait sigqueue sigaltstack siginterrupt sigreturn raise gsignal pause
    alarm ualarm setitimer getitimer signalfd sigsetjmp siglongjmp userfaultfd
    """
)
_THREADS = _words(
    r"""
    pthread_create pthread_join pthread_detach pthread_exit pthread_cancel pthread_kill pthread_sigmask
    pthread_sigqueue pthread_atfork register_atfork pthread_attr_\w+ pthread_getattr_np pthread_set\w+ thrd_\w+
    cxa_thread_atexit_impl GOMP_\w+ omp_\w+ kmpc_\w+ futex
    """
)
# To read a clock does no harm: the judge takes the time itself.
_CLOCKS = _words(
    r"""
    clock_settime clock_nanosleep clock_adjtime settimeofday nanosleep usleep sleep timer_\w+ timerfd_\w+ adjtime
    adjtimex ntp_\w+ stime
    """
)
_MEMORY = _words(
    r"""
    mprotect pkey_\w+ mremap remap_file_pages process_vm_\w+ mincore mlockall brk sbrk malloc_hook free_hook mallopt
    backtrace\w*
    """
)

_BY_NAME = [
    (re.compile(pattern), refusal)
    for pattern, refusal in (
        (_PROCESS, Refusal("controls processes or their environment")),
        (
            _FILES,
            Refusal("accesses files", "a step reads and writes device memory only; to print, use printf or std::cout"),
        ),
        (_NETWORK, Refusal("uses the network or a socket")),
        (_LOADING, Refusal("loads or searches code while the program runs")),
        (_SIGNALS, Refusal("sends or handles signals")),
        (_THREADS, Refusal("uses threads of the host", "leave the work to kernels")),
        (_CLOCKS, Refusal("sets a clock or waits for one", "a step does nothing but sort: remove it")),
        (_MEMORY, Refusal("changes or searches the memory of the process")),
        (r"syscall", Refusal("makes system calls")),
    )
]

# Names of C++, as c++filt shows them; searched anywhere.
_SHOWN = [
    (re.compile(pattern), refusal)
    for pattern, refusal in (
        (
            r"\bstd::(?:__cxx11::)?(?:basic_[io]?fstream|[io]?fstream|basic_filebuf|basic_file|__basic_file|filesystem|"
            r"experimental::filesystem)\b",
            Refusal("accesses files", "a step reads and writes device memory only; to print, use printf or std::cout"),
        ),
        (
            r"\bstd::(?:thread|jthread|condition_variable|this_thread|__future_base|__async|__basic_future|latch|barrier)\b",
            Refusal("uses threads of the host", "leave the work to kernels"),
        ),
        (
            r"\b(?:cub|thrust)::(?:[\w:]*::)?(?:Dispatch|Device)?\w*(?i:sort)\w*",
            Refusal("calls a library's sort", "write the sort yourself"),
        ),
    )
]


def plain(name: str) -> str:
    """A name of C without what marks its variants: __libc_open64, __read_chk and __isoc99_x are open, read and x."""
    name = re.sub(r"^_+(?:libc_|GI_|isoc\d\d_|internal_|new_|real_)?_*", "", name)
    return re.sub(r"(?:_chk|_nocancel|_time64|64)+$", "", name)


def refusal_of(name: str, shown: str) -> Refusal | None:
    """Why a submission must not use the function with this name; None if nothing is known against it.

    `shown`: the name as c++filt shows it.
    """
    if name.startswith("_Z"):
        return next((refusal for pattern, refusal in _SHOWN if pattern.search(shown)), None)
    names = {name, name.lstrip("_"), plain(name)}
    return next((refusal for pattern, refusal in _BY_NAME if any(pattern.fullmatch(n) for n in names)), None)
