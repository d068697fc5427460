/* Preloaded into a process: lets the n-th write to a file below a folder fail, as a disk that is full or broken does.

   FAULT_FOLDER   the folder
   FAULT_AT       which call fails, counted from 1
   FAULT_ERRNO    with which error
   FAULT_STAYS    "1": all calls after it fail too
   FAULT_COUNTED  a file to which each process adds how many calls it made */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long calls = 0;

static int is_below_folder(int descriptor) {
    const char* folder = getenv("FAULT_FOLDER");
    char link[64], path[4096];
    if (!folder) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(int descriptor) {
    int kept = errno, failing = 0;
    if (is_below_folder(descriptor)) {
        const char *at = getenv("FAULT_AT"), *stays = getenv("FAULT_STAYS"), *number = getenv("FAULT_ERRNO");
        pthread_mutex_lock(&turn);
        long call = ++calls;
        pthread_mutex_unlock(&turn);
        long first = at ? atol(at) : 0;
        failing = first && (call == first || (call > first && stays && *stays == '1'));
        if (failing) kept = number ? atoi(number) : EIO;
    }
    errno = kept;
    return failing;
}

#define FAULTY(kind, name, parameters, arguments)                                          \
    kind name parameters {                                                                  \
        static kind(*real) parameters;                                                      \
        if (!real) real = (kind(*) parameters)dlsym(RTLD_NEXT, #name);                      \
        return fails(descriptor) ? -1 : real arguments;                                     \
    }

FAULTY(ssize_t, write, (int descriptor, const void* data, size_t size), (descriptor, data, size))
FAULTY(ssize_t, pwrite, (int descriptor, const void* data, size_t size, off_t at), (descriptor, data, size, at))
FAULTY(ssize_t, pwrite64, (int descriptor, const void* data, size_t size, off64_t at), (descriptor, data, size, at))
FAULTY(ssize_t, writev, (int descriptor, const struct iovec* data, int count), (descriptor, data, count))
FAULTY(int, fsync, (int descriptor), (descriptor))
FAULTY(int, fdatasync, (int descriptor), (descriptor))
FAULTY(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
FAULTY(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size))

int posix_fallocate(int descriptor, off_t at, off_t size) {
    static int (*real)(int, off_t, off_t);
    if (!real) real = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
    return fails(descriptor) ? errno : real(descriptor, at, size); /* it returns the error */
}

__attribute__((destructor)) static void count_calls(void) {
    const char* path = getenv("FAULT_COUNTED");
    FILE* file = path && calls ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%ld\n", calls);
        fclose(file);
    }
}
