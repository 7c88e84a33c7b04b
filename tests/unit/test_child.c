/* Runs another program, a shell with known results, to its end. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int run_shell(const char *script, const tm_child_watch *watch, tm_child_end *out) {
    const char *const arguments[] = {"sh", "-c", script, "name", "it's \"$HOME\"\n*", NULL};
    return tm_child_run("/bin/sh", arguments, watch, out);
}

TEST(it_ends_with_a_status_or_a_signal_and_its_last_words) {
    static const struct {
        const char *script;
        int status, signal;
        const char *said;
    } cases[] = {
        {"exit 0", 0, 0, ""},
        {"exit 42", 42, 0, ""},
        {"kill -9 $$", -1, SIGKILL, ""},
        {"echo a; echo b >&2; exit 1", 1, 0, "a | b"},
        {"printf '\\n\\n  a\\tb\\033[1m \\r\\n\\n'", 0, 0, "a b [1m "},
        {"printf 'no end of line'", 0, 0, "no end of line"},
        {"cat", 0, 0, ""}, /* stdin is empty */
        {"printf '%s' \"$1\"", 0, 0, "it's \"$HOME\" | *"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_child_end end;
        assert_int_equal(run_shell(cases[i].script, &(tm_child_watch){0}, &end), 0);
        assert_int_equal(end.status, cases[i].status);
        assert_int_equal(end.signal, cases[i].signal);
        assert_string_equal(end.said, cases[i].said);
    }
}

/* 20,000 lines of 10 bytes are more than a pipe holds. */
TEST(much_that_is_said_keeps_its_end) {
    tm_child_end end;
    const char *script = "i=0; while [ $i -lt 20000 ]; do echo 123456789; i=$((i+1)); done; "
                         "printf 'the end'";
    assert_int_equal(run_shell(script, &(tm_child_watch){0}, &end), 0);
    assert_int_equal(strlen(end.said), TM_CHILD_SAID_MAX - 1);
    const char *last = "456789 | 123456789 | the end";
    assert_string_equal(end.said + strlen(end.said) - strlen(last), last);
}

/* The output is 80 letters of two bytes. 159 of the 160 bytes fit, so 79 letters are kept. */
TEST(what_is_said_begins_with_a_whole_letter) {
    tm_child_end end;
    const char *script = "i=0; while [ $i -lt 80 ]; do printf '\\303\\274'; i=$((i+1)); done";
    assert_int_equal(run_shell(script, &(tm_child_watch){0}, &end), 0);
    assert_int_equal(strlen(end.said), 158);
    assert_memory_equal(end.said, "\303\274", 2);
}

TEST(what_cannot_be_run_has_a_reason) {
    const char *const arguments[] = {"x", NULL};
    tm_child_end end;
    assert_int_equal(tm_child_run("/nowhere/x", arguments, &(tm_child_watch){0}, &end), ENOENT);
    assert_int_equal(tm_child_run("/", arguments, &(tm_child_watch){0}, &end), EACCES);
}

enum { TICKS = 3 };
static int n_ticks;

/* After the last tick, creates the file for which the child waits. */
static void count_tick(void *context) {
    assert_ptr_equal(context, &n_ticks);
    if (++n_ticks == TICKS)
        assert_int_equal(close(creat("ticked", 0600)), 0);
}

/* The second child closes its output, so there is nothing to poll. Ticks still come. */
TEST(whoever_waits_hears_of_it) {
    static const char *const scripts[] = {"until rm ticked; do sleep 0.01; done 2>/dev/null",
                                          "exec >&- 2>&-; until rm ticked; do sleep 0.01; done"};
    const tm_child_watch watch = {.tick = count_tick, .context = &n_ticks};
    for (size_t i = 0; i < COUNT(scripts); i++) {
        struct timespec begin, now;
        tm_child_end end;
        n_ticks = 0;
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        assert_int_equal(run_shell(scripts[i], &watch, &end), 0);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        const double seconds =
            (double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec);
        assert_int_equal(end.status, 0);
        assert_true(n_ticks >= TICKS && seconds > 0.05 * n_ticks);
    }
}

static char calls[64];
static pid_t leader;

static void note(const char *call) {
    size_t n = strlen(calls);
    snprintf(calls + n, sizeof calls - n, "%s ", call);
}

static void note_hold(void) {
    note("hold");
}

static void note_release(void) {
    note("release");
}

static void note_child(pid_t child) {
    note(child > 0 ? "child" : "none");
    leader = child > 0 ? child : leader;
    assert_int_equal(getpgid(leader), leader); /* not reaped yet, so the pid is not reused */
}

TEST(a_guard_knows_the_child_from_its_first_moment_to_its_last) {
    const tm_guard guard = {note_hold, note_release, NULL, note_child};
    tm_child_end end;
    assert_int_equal(run_shell("exit 3", &(tm_child_watch){.guard = &guard}, &end), 0);
    assert_string_equal(calls, "hold child release none ");
    calls[0] = '\0';
    const char *const arguments[] = {"x", NULL};
    assert_int_equal(
        tm_child_run("/nowhere/x", arguments, &(tm_child_watch){.guard = &guard}, &end), ENOENT);
    assert_string_equal(calls, "hold release ");
}

TEST(what_it_leaves_running_is_ended_and_not_waited_for) {
    tm_child_end end;
    assert_int_equal(run_shell("sleep 1234 & echo $!", &(tm_child_watch){0}, &end), 0);
    long pid = strtol(end.said, NULL, 10);
    assert_true(pid > 0);
    /* The test does not control when the orphan is reaped. Until then, it still exists. */
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
    for (int i = 0; i < 200; i++) {
        FILE *file = fopen(path, "r");
        size_t n = file ? fread(text, 1, sizeof text, file) : 0;
        if (file)
            fclose(file);
        if (n == 0) /* it is gone, or a zombie, which has no memory */
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("%s still runs", path);
}

RUN_TESTS()
