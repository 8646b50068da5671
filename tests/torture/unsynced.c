/* What a power failure may take from the files below a folder, preloaded into the processes of a lab under torture.
 *
 * Before a call changes a file or a folder, a record of what was there is appended to this process's journal, and each sync
 * appends a record too. So the journals say how to undo all that no sync has made durable; `power_failure.py` does it. A record
 * whose call never ran, because the process was killed between the two, restores what is there anyway. A journal outlives its
 * process. Nothing here allocates memory or opens a file, so a process without either still keeps its journal.
 *
 *     UNSYNCED_FOLDER     the folder, an absolute path without symbolic links
 *     UNSYNCED_JOURNALS   the folder of the journals, elsewhere
 *     UNSYNCED_KEPT       where replaced and deleted files are kept until a power failure, on the file system of the folder
 *     UNSYNCED_END_AT     the process kills itself in place of its call of this number, from 1; without it never
 *
 * Not seen: new folders, and what is written through a mapping. SQLite maps only its -shm files, which a power failure removes,
 * and which are left alone here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096, PIECE = 1 << 16 };

/* A record, which `power_failure.py` reads: this head, then `length` bytes of text or content.
 *     W   a write: `file`, at `at`, over `count` bytes; the content before, shorter than `count` at the end of the file
 *     X   the same for what a new length cuts off
 *     T   a new length: `file`
 *     S   `file` is synced
 *     C R U   a new name, `path`; a renamed file, `from to kept`; a deleted file, `path - kept`
 *     D   a synced folder, `path/-` */
struct head {
    uint8_t kind, unused[3];
    uint32_t length;
    uint64_t file, at, count, size;
};

static char folder[PATH], kept[PATH];
static size_t folder_length;
static int journal = -1;
static long calls, end_at, keeps;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char piece[PIECE];

#define REAL(result, name, ...)                    \
    static result (*real_##name)(__VA_ARGS__);     \
    if (!real_##name)                              \
        real_##name = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

static int is_below(const char *path)
{
    size_t length = strlen(path);
    return journal >= 0 && length > folder_length && !strncmp(path, folder, folder_length) && path[folder_length] == '/'
        && (length < 4 || strcmp(path + length - 4, "-shm"));
}

/* Return whether a path that a program gave is below the folder; the absolute path goes to `to`. */
static int is_named(const char *path, char *to)
{
    char here[PATH] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        return 0;
    return snprintf(to, PATH, "%s%s%s", here, *here ? "/" : "", path) < PATH && is_below(to);
}

/* Return whether a handle is of a file or folder below the folder; its path goes to `to`. */
static int is_held(int handle, char *to)
{
    char link[32];
    if (journal < 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, to, PATH - 1);
    if (length < 0)
        return 0;
    to[length] = 0;
    return is_below(to) || !strcmp(to, folder);
}

static void begin(void)
{
    pthread_mutex_lock(&turn);
    if (++calls == end_at)
        kill(getpid(), SIGKILL);
}

static int end(int result)
{
    pthread_mutex_unlock(&turn);
    return result;
}

static void record(struct head head, const void *content, size_t length)
{
    head.length = length;
    struct iovec parts[] = {{&head, sizeof head}, {(void *)content, length}};
    int before = errno;
    if (writev(journal, parts, 2) != (ssize_t)(sizeof head + length)) {
        static const char words[] = "unsynced.c: the journal cannot be written\n";
        if (write(2, words, sizeof words - 1)) {}
        abort();
    }
    errno = before;
}

/* Record the content of a part of a file that is written (W) or cut off (X). */
static void record_before(char kind, int handle, off_t at, size_t count)
{
    struct stat now;
    if (fstat(handle, &now))
        return;
    do {
        size_t part = count < PIECE ? count : PIECE;
        ssize_t found = at < now.st_size ? pread(handle, piece, part, at) : 0;
        if (found < 0) {
            static const char words[] = "unsynced.c: the content before a write cannot be read\n";
            if (write(2, words, sizeof words - 1)) {}
            abort();
        }
        record((struct head){kind, {0}, 0, now.st_ino, at, part, now.st_size}, piece, found);
        at += part;
        count -= part;
    } while (count);
}

static void record_length(int handle, off_t to)
{
    struct stat now;
    if (fstat(handle, &now))
        return;
    if (to < now.st_size)
        record_before('X', handle, to, now.st_size - to);
    record((struct head){'T', {0}, 0, now.st_ino, to, 0, now.st_size}, NULL, 0);
}

/* Record a change of names. `gone`: a file that loses this name, which is kept under another one. Return 0, or -1 with errno. */
static int record_names(char kind, const char *first, const char *second, const char *gone)
{
    static char text[3 * PATH + 2];
    char beside[PATH] = "";
    if (gone && !access(gone, F_OK)) {
        snprintf(beside, sizeof beside, "%.4000s/%d-%ld", kept, (int)getpid(), ++keeps);
        if (link(gone, beside))
            return -1;
    }
    int length = snprintf(text, sizeof text, "%s%c%s%c%s", first, 0, second, 0, beside);
    record((struct head){kind, {0}, 0, 0, 0, 0, 0}, text, length);
    return 0;
}

__attribute__((constructor)) static void set_up(void)
{
    const char *of = getenv("UNSYNCED_FOLDER"), *at = getenv("UNSYNCED_JOURNALS"), *to = getenv("UNSYNCED_KEPT");
    const char *last = getenv("UNSYNCED_END_AT");
    char name[PATH];
    struct timespec now;
    if (!of || !at || !to)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(folder, sizeof folder, "%s", of);
    snprintf(kept, sizeof kept, "%s", to);
    folder_length = strlen(folder);
    end_at = last ? atol(last) : 0;
    snprintf(name, sizeof name, "%s/%020lld-%d", at, now.tv_sec * 1000000000LL + now.tv_nsec, (int)getpid());
    REAL(int, open64, const char *, int, ...)
    journal = real_open64(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0)
        abort();
}

/* --- files */

static int opened(const char *path, int flags, mode_t mode)
{
    REAL(int, open64, const char *, int, ...)
    char whole_path[PATH];
    if (!is_named(path, whole_path) || !(flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)))
        return real_open64(path, flags, mode);
    begin();
    if ((flags & O_ACCMODE) == O_WRONLY)
        flags = (flags & ~O_ACCMODE) | O_RDWR; /* so that a write can read what was there */
    if (access(path, F_OK)) {
        if (flags & O_CREAT)
            record_names('C', whole_path, "", NULL);
    } else if ((flags & O_TRUNC) && !(flags & O_EXCL)) {
        int whole = real_open64(path, O_RDWR);
        if (whole < 0)
            return end(-1);
        record_length(whole, 0);
        close(whole);
    }
    return end(real_open64(path, flags, mode));
}

#define MODE(flags)                                \
    mode_t mode = 0;                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {         \
        va_list rest;                              \
        va_start(rest, flags);                     \
        mode = va_arg(rest, mode_t);               \
        va_end(rest);                              \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags)
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return opened(path, flags, mode);
}

ssize_t pwrite64(int handle, const void *from, size_t count, off64_t at)
{
    char path[PATH];
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
    if (!is_held(handle, path))
        return real_pwrite64(handle, from, count, at);
    begin();
    record_before('W', handle, at, count);
    ssize_t done = real_pwrite64(handle, from, count, at);
    end(0);
    return done;
}

ssize_t pwrite(int handle, const void *from, size_t count, off_t at)
{
    return pwrite64(handle, from, count, at);
}

ssize_t write(int handle, const void *from, size_t count)
{
    char path[PATH];
    struct stat now;
    REAL(ssize_t, write, int, const void *, size_t)
    if (!is_held(handle, path))
        return real_write(handle, from, count);
    begin();
    off_t at = lseek(handle, 0, SEEK_CUR);
    if ((fcntl(handle, F_GETFL) & O_APPEND) && !fstat(handle, &now))
        at = now.st_size;
    record_before('W', handle, at, count);
    ssize_t done = real_write(handle, from, count);
    end(0);
    return done;
}

int ftruncate64(int handle, off64_t to)
{
    char path[PATH];
    REAL(int, ftruncate64, int, off64_t)
    if (!is_held(handle, path))
        return real_ftruncate64(handle, to);
    begin();
    record_length(handle, to);
    return end(real_ftruncate64(handle, to));
}

int ftruncate(int handle, off_t to)
{
    return ftruncate64(handle, to);
}

static int synced(int handle, int (*sync)(int))
{
    char path[PATH + 2];
    struct stat now;
    if (!is_held(handle, path))
        return sync(handle);
    begin(); /* nobody writes meanwhile, so what is recorded before is durable */
    int failed = sync(handle);
    if (!failed && !fstat(handle, &now)) {
        if (S_ISDIR(now.st_mode))
            record_names('D', strcat(path, "/-"), "", NULL);
        else
            record((struct head){'S', {0}, 0, now.st_ino, 0, 0, 0}, NULL, 0);
    }
    return end(failed);
}

int fsync(int handle)
{
    REAL(int, fsync, int)
    return synced(handle, real_fsync);
}

int fdatasync(int handle)
{
    REAL(int, fdatasync, int)
    return synced(handle, real_fdatasync);
}

/* --- names */

int unlink(const char *path)
{
    char whole[PATH];
    REAL(int, unlink, const char *)
    if (!is_named(path, whole))
        return real_unlink(path);
    begin();
    if (!access(path, F_OK) && record_names('U', whole, "", whole))
        return end(-1);
    return end(real_unlink(path));
}

int rename(const char *from, const char *to)
{
    char whole_from[PATH], whole_to[PATH];
    REAL(int, rename, const char *, const char *)
    if (!is_named(from, whole_from) || !is_named(to, whole_to))
        return real_rename(from, to);
    begin();
    if (!access(from, F_OK) && record_names('R', whole_from, whole_to, whole_to))
        return end(-1);
    return end(real_rename(from, to));
}
