/* Outputs on file systems without unnamed files, such as NFS: two processes write one file. */
#include "base/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...) {
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    return __real_open(path, flags, mode);
}

static int in_new_folder(void **state) {
    char folder[] = "temp-XXXXXX";
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static void expect(const char *script, const char *expected) {
    char said[256];
    FILE *shell = popen(script, "r"); /* NOLINT(cert-env33-c): the scripts are constants */
    assert_non_null(shell);
    said[fread(said, 1, sizeof said - 1, shell)] = '\0';
    (void)pclose(shell);
    assert_string_equal(said, expected);
}

static void begin(tm_temp_file *temp, const char *text) {
    assert_true(tm_temp_file_create(temp, "out"));
    assert_int_equal(tm_temp_file_open(temp), 0);
    assert_true(temp->named);
    assert_int_equal(write(temp->fd, text, strlen(text)), strlen(text));
}

static int publish(tm_temp_file *temp) {
    int failed = tm_temp_file_publish(temp);
    tm_temp_file_discard(temp);
    return failed;
}

/* Another process, which has begun to write and continues on command. */
typedef struct other {
    pid_t pid;
    int go;
} other;

static other begin_other(void) {
    int go[2], begun[2];
    char byte = 0;
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(begun), 0);
    pid_t pid = fork();
    if (pid == 0) {
        tm_temp_file temp;
        close(go[1]); /* the other process ends with the test */
        begin(&temp, "thei");
        if (write(begun[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1 ||
            write(temp.fd, "rs", 2) != 2)
            _exit(1);
        _exit(publish(&temp));
    }
    assert_int_equal(read(begun[0], &byte, 1), 1);
    return (other){pid, go[1]};
}

static int end_other(const other *o) {
    int status;
    char byte = 0;
    assert_int_equal(write(o->go, &byte, 1), 1);
    assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
    return status;
}

TEST(two_that_write_one_file_publish_their_own) {
    tm_temp_file mine;
    other before = begin_other();
    begin(&mine, "mine");
    other after = begin_other();
    expect("ls -A | grep -c tmerge-tmp", "3\n");
    assert_int_equal(publish(&mine), 0);
    expect("cat out", "mine");
    assert_int_equal(end_other(&before), 0);
    expect("cat out", "theirs");
    begin(&mine, "mine again");
    assert_int_equal(end_other(&after), 0);
    expect("cat out", "theirs");
    assert_int_equal(publish(&mine), 0);
    expect("cat out; ls -A", "mine againout\n");
}

TEST(a_temp_that_is_no_longer_ones_own_is_not_published) {
    static const char *const happens[] = {"rm .out.*", "echo other > x; mv x .out.*"};
    for (size_t i = 0; i < 2; i++) {
        tm_temp_file mine;
        begin(&mine, "mine");
        expect(happens[i], "");
        assert_int_equal(publish(&mine), ENOENT);
        expect("ls -A | grep -v tmerge-tmp", "");
    }
}

/* Clears temporary files of this machine's dead processes, and of other machines if older than a
 * day. Leaves temporary files of other outputs, and files with similar names. */
TEST(what_a_killed_process_left_is_cleared) {
    tm_temp_file mine;
    other killed = begin_other();
    assert_int_equal(kill(killed.pid, SIGKILL), 0);
    assert_int_equal(waitpid(killed.pid, NULL, 0), killed.pid);
    expect("ls -A | grep -c tmerge-tmp", "1\n");
    expect("touch -d '25 hours ago' .out.00000000-5.tmerge-tmp\n"
           "touch -d '23 hours ago' .out.00000000-6.tmerge-tmp\n"
           "touch -d '25 hours ago' .out.h5.00000000-5.tmerge-tmp\n"
           "touch -d '25 hours ago' .out.00000000-5.tmerge-tmp.x .out.tmerge-tmp",
           "");
    begin(&mine, "mine");
    assert_int_equal(publish(&mine), 0);
    expect("ls -A", ".out.00000000-5.tmerge-tmp.x\n.out.00000000-6.tmerge-tmp\n"
                    ".out.h5.00000000-5.tmerge-tmp\n.out.tmerge-tmp\nout\n");
}

TEST(a_link_in_its_place_is_not_followed) {
    tm_temp_file mine;
    char temporary[128];
    assert_true(tm_temp_file_temporary_path("out", temporary, sizeof temporary));
    expect("echo precious > target", "");
    assert_int_equal(symlink("target", temporary), 0);
    begin(&mine, "mine");
    assert_int_equal(publish(&mine), 0);
    expect("cat out target; ls -A", "mineprecious\nout\ntarget\n");
}

static int leave_folder(void **state) {
    expect("rm -r \"$PWD\"", "");
    return chdir("..");
}

RUN_TESTS_WITH(in_new_folder, leave_folder)
