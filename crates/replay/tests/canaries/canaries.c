/* What a test may not do. Every function tries one thing and returns 0 if it could, or else why not.
 * ACTS: succeeds without confinement. HOSTILE: is not tried without. NEEDED: must go on to work inside.
 * Before: FOLDER is where the canaries are, with a file and a folder NAME.d for every function; VICTIM, TCP_PORT, UDP_PORT
 * and ABSTRACT are a process and listeners of the caller. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ACTS(name) int name(int a)
#define HOSTILE(name) int name(int a)
#define NEEDED(name) int name(int a)
/* Paths of the function's own canary. */
#define FILE_ (place(__func__, ""))
#define INSIDE (place(__func__, ".d/inside"))
#define NEW (place(__func__, ".new"))

static const char *place(const char *name, const char *end) {
    static char paths[4][4096];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s%s", FOLDER, name, end);
    return path;
}

static int why(int succeeded) { return succeeded ? 0 : errno ? errno : 255; }

static int written(int file) {
    if (file < 0) return errno;
    return why(write(file, "overwritten", 11) == 11);
}

static int child_succeeds(pid_t child) {
    int status = 0;
    if (child < 0) return errno;
    waitpid(child, &status, 0);
    return why(status == 0);
}

/* ---- files ---- */

ACTS(remove_it) { return why(remove(FILE_) == 0); }
ACTS(unlink_it) { return why(unlink(FILE_) == 0); }
ACTS(unlinkat_it) { return why(unlinkat(AT_FDCWD, FILE_, 0) == 0); }
ACTS(remove_folder) { return why(unlink(INSIDE) == 0 && rmdir(place(__func__, ".d")) == 0); }
ACTS(rename_it) { return why(rename(FILE_, NEW) == 0); }
ACTS(rename_into_the_folder) { return why(rename(FILE_, "taken") == 0 || errno == EXDEV); }
ACTS(exchange) { return why(syscall(SYS_renameat2, AT_FDCWD, FILE_, AT_FDCWD, INSIDE, 2) == 0); }
ACTS(rename_over) {
    close(open("mine", O_CREAT | O_WRONLY, 0600));
    const char *other = place(__func__, ".d/moved");
    return why(symlink("mine", other) == 0 && rename(other, FILE_) == 0);
}
ACTS(fopen_w) { return why(fopen(FILE_, "w") != NULL); }
ACTS(fopen_a) { return why(fopen(FILE_, "a") != NULL); }
ACTS(open_write) { return written(open(FILE_, O_WRONLY)); }
ACTS(open_trunc) { return why(open(FILE_, O_WRONLY | O_TRUNC) >= 0); }
ACTS(open_trunc_reading) { return why(open(FILE_, O_RDONLY | O_TRUNC) >= 0); }
ACTS(open_trunc_neither) { return why(open(FILE_, 3 | O_TRUNC) >= 0); }
ACTS(creat_it) { return why(creat(FILE_, 0600) >= 0); }
ACTS(create_new) { return why(open(NEW, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0); }
ACTS(truncate_it) { return why(truncate(FILE_, 0) == 0); }
ACTS(truncate_to_its_length) {
    struct stat status;
    return why(stat(FILE_, &status) == 0 && truncate(FILE_, status.st_size) == 0);
}
ACTS(make_folder) { return why(mkdir(NEW, 0700) == 0); }
ACTS(link_out) {
    close(open("mine", O_CREAT | O_WRONLY, 0600));
    return why(link("mine", NEW) == 0 || errno == EXDEV);
}
ACTS(link_in_and_write) {
    if (link(FILE_, "linked") != 0 && errno != EXDEV) return errno;
    return written(open(FILE_, O_WRONLY));
}
ACTS(symlink_out) { return why(symlink("anything", NEW) == 0); }
ACTS(write_through_symlink) { return symlink(FILE_, "arrow") ? errno : written(open("arrow", O_WRONLY)); }
ACTS(make_fifo) { return why(mkfifo(NEW, 0600) == 0); }
ACTS(chmod_it) { return why(chmod(FILE_, 0644) == 0); }
ACTS(fchmodat_it) { return why(fchmodat(AT_FDCWD, FILE_, 0640, 0) == 0); }
ACTS(chown_it) { return why(chown(FILE_, getuid(), getgid()) == 0); }
ACTS(lchown_it) { return why(lchown(FILE_, getuid(), getgid()) == 0); }
ACTS(change_times) {
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    return why(utimensat(AT_FDCWD, FILE_, times, 0) == 0);
}
ACTS(read_secret) {
    char byte;
    int file = open(FILE_, O_RDONLY);
    return file < 0 ? errno : why(read(file, &byte, 1) == 1);
}
ACTS(list_folder) { return why(open(FOLDER, O_RDONLY | O_DIRECTORY) >= 0); }
ACTS(map_secret) {
    int file = open(FILE_, O_RDONLY);
    return file < 0 ? errno : why(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED);
}
ACTS(read_accounts) { return why(open("/etc/passwd", O_RDONLY) >= 0); }
ACTS(read_other_process) { return why(open("/proc/1/cmdline", O_RDONLY) >= 0); }
ACTS(climb_out) {
    if (chdir("..") != 0 || chdir(FOLDER) != 0) return errno;
    return written(open(__func__, O_WRONLY));
}
ACTS(forge_results) { return written(open("../results/forged", O_CREAT | O_WRONLY, 0600)); }
HOSTILE(forge_tests) { return written(open("../batch", O_WRONLY)); }
ACTS(raw_unlink) { return why(syscall(SYS_unlink, FILE_) == 0); }
ACTS(openat2_it) {
    struct { uint64_t flags, mode, resolve; } how = {O_WRONLY | O_TRUNC, 0, 0};
    return why(syscall(SYS_openat2, AT_FDCWD, FILE_, &how, sizeof how) >= 0);
}
#ifdef __x86_64__
ACTS(assembly_unlink) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_unlink), "D"(FILE_) : "rcx", "r11", "memory");
    return result == 0 ? 0 : (int)-result;
}
/* The numbers of 32-bit programs. */
HOSTILE(assembly_unlink_32) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(10L), "b"(FILE_) : "memory");
    return result == 0 ? 0 : (int)-result;
}
/* Those of x32. */
HOSTILE(assembly_unlink_x32) { return why(syscall(0x40000000L | SYS_unlink, FILE_) == 0); }
#endif

/* ---- other programs and processes ---- */

ACTS(system_it) { return why(system("exit 0") == 0); }
ACTS(popen_it) { return why(popen("exit 0", "r") != NULL); }
ACTS(spawn_it) {
    pid_t child;
    char *arguments[] = {"true", NULL}, *environment[] = {NULL};
    int error = posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment);
    return error ? error : child_succeeds(child);
}
HOSTILE(execute) {
    execl("/bin/rm", "rm", FILE_, (char *)NULL);
    return errno;
}
HOSTILE(execute_loader) {
    execl("/lib64/ld-linux-x86-64.so.2", "ld", "/bin/rm", FILE_, (char *)NULL);
    return errno;
}
HOSTILE(execute_memory) {
    int file = (int)syscall(SYS_memfd_create, "program", 0);
    if (file < 0) return errno;
    char *arguments[] = {"program", NULL}, *environment[] = {NULL};
    fexecve(file, arguments, environment);
    return errno;
}
ACTS(fork_it) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child_succeeds(child);
}
ACTS(vfork_it) {
    pid_t child = vfork();
    if (child == 0) _exit(0);
    return child_succeeds(child);
}
ACTS(clone_it) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child_succeeds(child);
}
ACTS(daemon_it) {
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            prctl(PR_SET_NAME, DAEMON);
            for (int i = 0; i < 60; i++) sleep(1);
        }
        _exit(0);
    }
    return child_succeeds(child);
}
HOSTILE(fork_bomb) {
    int made = 0;
    for (int i = 0; i < 100000; i++) made |= fork() >= 0;
    return made ? 0 : errno;
}
ACTS(new_group) { return why(setsid() > 0 || setpgid(0, 0) == 0); }
ACTS(signal_victim) { return why(kill(VICTIM, 0) == 0); }
HOSTILE(kill_victim) { return why(kill(VICTIM, SIGKILL) == 0); }
HOSTILE(kill_victims_thread) { return why(syscall(SYS_tgkill, VICTIM, VICTIM, SIGKILL) == 0); }
HOSTILE(kill_by_thread) { return why(syscall(SYS_tkill, VICTIM, SIGKILL) == 0); }
HOSTILE(queue_signal) {
    union sigval value = {0};
    return why(sigqueue(VICTIM, SIGKILL, value) == 0);
}
HOSTILE(kill_parent) { return why(kill(getppid(), SIGKILL) == 0); }
HOSTILE(kill_group) { return why(kill(0, SIGKILL) == 0); }
HOSTILE(stop_parent) { return why(kill(getppid(), SIGSTOP) == 0); }
HOSTILE(kill_parents_group) { return why(kill(-getpgid(getppid()), SIGKILL) == 0); }
HOSTILE(kill_all) { return why(kill(-1, SIGKILL) == 0); }
HOSTILE(kill_by_file) {
    int process = (int)syscall(SYS_pidfd_open, VICTIM, 0);
    return process < 0 ? errno : why(syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) == 0);
}
HOSTILE(kill_by_owner) {
    int ends[2];
    if (pipe(ends) != 0) return errno;
    if (fcntl(ends[0], F_SETSIG, SIGKILL) != 0 || fcntl(ends[0], F_SETOWN, VICTIM) != 0) return errno;
    fcntl(ends[0], F_SETFL, O_ASYNC);
    return why(write(ends[1], "", 1) == 1);
}
HOSTILE(limit_victim) {
    const struct rlimit none = {0, 0};
    return why(prlimit(VICTIM, RLIMIT_CPU, &none, NULL) == 0);
}
HOSTILE(limit_parent) {
    const struct rlimit none = {0, 0};
    return why(prlimit(getppid(), RLIMIT_CPU, &none, NULL) == 0);
}
ACTS(delay_victim) { return why(setpriority(PRIO_PROCESS, VICTIM, 19) == 0); }
ACTS(bind_victim) {
    cpu_set_t one;
    sched_getaffinity(VICTIM, sizeof one, &one);
    return why(sched_setaffinity(VICTIM, sizeof one, &one) == 0);
}
HOSTILE(trace_victim) { return why(ptrace(PTRACE_SEIZE, VICTIM, 0, 0) == 0); }
HOSTILE(trace_parent) { return why(ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0); }
HOSTILE(read_victim) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    return why(process_vm_readv(VICTIM, &here, 1, &there, 1, 0) == 1);
}

/* ---- the network, and what processes share ---- */

static int connected(int type, const void *address, socklen_t size) {
    int file = socket(((const struct sockaddr *)address)->sa_family, type, 0);
    if (file < 0) return errno;
    if (connect(file, address, size) != 0) return errno;
    return why(write(file, "canary", 6) == 6);
}

static int internet(int type, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connected(type, &address, sizeof address);
}

static int local(const char *name, int abstract) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path + abstract, name);
    return connected(SOCK_STREAM, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + (size_t)abstract));
}

ACTS(connect_tcp) { return internet(SOCK_STREAM, TCP_PORT); }
ACTS(send_udp) { return internet(SOCK_DGRAM, UDP_PORT); }
ACTS(connect_unix) { return local(FOLDER "/socket", 0); }
ACTS(connect_abstract) { return local(ABSTRACT, 1); }
ACTS(listen_somewhere) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    return file < 0 ? errno : why(listen(file, 1) == 0);
}
ACTS(socket_pair) {
    int ends[2];
    return why(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
}
ACTS(netlink) { return why(socket(AF_NETLINK, SOCK_RAW, 0) >= 0); }
ACTS(share_memory) {
    int id = shmget(IPC_PRIVATE, 4096, 0600);
    return id < 0 ? errno : why(shmctl(id, IPC_RMID, NULL) == 0);
}
ACTS(share_semaphores) {
    int id = semget(IPC_PRIVATE, 1, 0600);
    return id < 0 ? errno : why(semctl(id, 0, IPC_RMID) == 0);
}
ACTS(share_by_name) {
    int file = shm_open(DAEMON, O_CREAT | O_RDWR, 0600);
    return file < 0 ? errno : why(shm_unlink(DAEMON) == 0);
}
HOSTILE(ring) {
    struct io_uring_params parameters = {0};
    return why(syscall(SYS_io_uring_setup, 4, &parameters) >= 0);
}

/* ---- the machine, and ways out ---- */

HOSTILE(new_namespace) { return why(unshare(CLONE_NEWUSER) == 0); }
HOSTILE(mount_something) { return why(mount("none", ".", "tmpfs", 0, NULL) == 0); }
HOSTILE(change_root) { return why(chroot(".") == 0); }
HOSTILE(rename_machine) { return why(sethostname("canary", 6) == 0); }
HOSTILE(set_clock) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return why(clock_settime(CLOCK_REALTIME, &now) == 0);
}
HOSTILE(open_by_handle) { return why(syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0) >= 0); }
HOSTILE(make_device) { return why(mknod("device", S_IFCHR | 0600, 0x103) == 0); }
HOSTILE(raise_limit) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_max += 1;
    return why(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}
HOSTILE(push_input) { return why(ioctl(0, TIOCSTI, "x") == 0); }
HOSTILE(hold_up_openers) { return why(fcntl(open("/lib64/ld-linux-x86-64.so.2", O_RDONLY), F_SETLEASE, F_RDLCK) == 0); }

/* ---- handlers that run at the end ---- */

static void remove_late(void) { unlink(FOLDER "/exit_handler"); }
HOSTILE(exit_handler) {
    atexit(remove_late);
    exit(7);
}
static int done;
__attribute__((destructor)) static void remove_at_the_end(void) {
    if (done) unlink(FOLDER "/destructor");
}
HOSTILE(destructor) {
    done = 1;
    exit(7);
}

/* ---- constructors run before all of this ---- */

__attribute__((constructor)) static void begin(void) {
    unlink(FOLDER "/constructor");
    int file = open(FOLDER "/constructor_writes", O_WRONLY | O_TRUNC);
    if (file >= 0) written(file);
    symlink(FOLDER "/constructor_writes", "../results/batch1-0");
    open("left-by-constructor", O_CREAT | O_WRONLY, 0600);
    if (SIGNALS_ARE_SCOPED) kill(VICTIM, SIGKILL);
    if (fork() == 0) {
        prctl(PR_SET_NAME, DAEMON);
        setsid();
        if (fork() != 0) _exit(0);
        for (int i = 0; i < 60; i++) sleep(1);
    }
}

/* ---- what tests go on to need ---- */

NEEDED(own_files) {
    char text[8] = "";
    FILE *file = fopen("own", "w");
    if (!file || fputs("own\n", file) < 0 || fclose(file) != 0) return errno;
    if (mkdir("folder", 0700) != 0 || rename("own", "folder/moved") != 0) return errno;
    if (truncate("folder/moved", 2) != 0 && errno != EPERM) return errno;
    file = fopen("folder/moved", "r+");
    if (!file || !fgets(text, sizeof text, file) || text[0] != 'o') return 255;
    fclose(file);
    file = fopen("folder/moved", "w");
    return why(file && fclose(file) == 0 && unlink("folder/moved") == 0 && rmdir("folder") == 0);
}
NEEDED(own_links) { return why(symlink("a", "b") == 0 && mkfifo("c", 0600) == 0 && unlink("b") == 0); }
NEEDED(empty_folder) { return why(access("own", F_OK) != 0); }
NEEDED(temporary_file) {
    char name[] = "temporary-XXXXXX";
    return why(mkstemp(name) >= 0);
}
static void *count(void *number) { return ++*(int *)number, NULL; }
NEEDED(threads) {
    pthread_t thread;
    int number = 41;
    int error = pthread_create(&thread, NULL, count, &number);
    return error ? error : pthread_join(thread, NULL) ? 255 : why(number == 42);
}
static volatile sig_atomic_t seen;
static void see(int signal) { seen = signal; }
NEEDED(own_signals) {
    signal(SIGUSR1, see);
    return why(raise(SIGUSR1) == 0 && kill(getpid(), SIGUSR1) == 0 && seen == SIGUSR1);
}
NEEDED(timers) {
    signal(SIGALRM, see);
    alarm(1);
    const struct itimerval soon = {{0, 0}, {0, 1000}};
    if (setitimer(ITIMER_REAL, &soon, NULL) != 0) return errno;
    while (seen != SIGALRM) usleep(100);
    return 0;
}
NEEDED(pipes) {
    int ends[2];
    char byte = 0;
    return why(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'x');
}
NEEDED(random_numbers) {
    int byte = 0;
    return why(getentropy(&byte, 1) == 0 && read(open("/dev/urandom", O_RDONLY), &byte, 1) == 1);
}
NEEDED(no_terminal) { return isatty(1) == 0 && errno == ENOTTY ? 0 : 255; }
NEEDED(memory) {
    char *room = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return why(room != MAP_FAILED && (room[4096] = 1) && mprotect(room, 4096, PROT_NONE) == 0);
}
NEEDED(who_am_i) { return why(getuid() == USER && getpid() > 0 && getppid() > 0); }
NEEDED(lower_limit) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
    limit.rlim_cur = 64;
    return why(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}
