/* plugins/shared/native/native_threads.h: CPUs, OMP_NUM_THREADS, quotas of cgroups. */
#include "tests/unit/plugins/native_fixture.h"

#include <pto/native.h>
#include <native_threads.h>

static native_thread_plan plan_of(uint32_t wanted)
{
    native_thread_plan plan;
    native_error e;
    assert_int_equal(native_threads_plan(wanted, &plan, &e), NATIVE_OK);
    return plan;
}

TEST(without_a_wish_as_many_as_cpus)
{
    unsetenv("OMP_NUM_THREADS");
    const native_thread_plan plan = plan_of(0);
    assert_in_range(plan.threads, 1, plan.cpu_count);
    assert_in_range(plan.cpu_count, 1, NATIVE_THREADS_MAX);
}

TEST(only_cpus_that_the_process_may_use_count)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    const native_thread_plan all = plan_of(0);
    const uint16_t last = all.cpus[all.cpu_count - 1];
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const native_thread_plan plan = plan_of(0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(plan.cpu_count, 1);
    assert_int_equal(plan.threads, 1);
    assert_int_equal(plan.cpus[0], last);
    assert_string_equal(plan.reason, "CPUs of the process");
}

TEST(openmp_has_a_say_and_what_is_asked_for_the_last_word)
{
    setenv("OMP_NUM_THREADS", "1,4", 1);
    assert_int_equal(plan_of(0).threads, 1);
    assert_int_equal(plan_of(7).threads, 7);
    assert_string_equal(plan_of(7).reason, "asked for");
    setenv("OMP_NUM_THREADS", "100000", 1);
    assert_int_equal(plan_of(0).threads <= plan_of(0).cpu_count, 1);
    setenv("OMP_NUM_THREADS", "", 1);
    assert_in_range(plan_of(0).threads, 1, plan_of(0).cpu_count);
    unsetenv("OMP_NUM_THREADS");
}

TEST(numbers_that_are_none)
{
    static const char *const wrong[] = {"none", "0", "-2", "2x", " 2", "99999999999999999999"};
    native_fixture f = {.folder = ""};
    native_thread_plan plan;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("OMP_NUM_THREADS", wrong[i], 1);
        assert_int_equal(native_threads_plan(0, &plan, &f.e), NATIVE_NO_THREAD);
        assert_says(&f, wrong[i]);
        assert_says(&f, "expected a number of threads from 1 on");
        assert_int_equal(native_threads_plan(2, &plan, &f.e), NATIVE_OK);
    }
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(native_threads_plan(NATIVE_THREADS_MAX + 1, &plan, &f.e), NATIVE_NO_THREAD);
    assert_string_equal(f.e.text, "257 threads are asked for, at most 256 are possible");
}

static void put(const native_fixture *f, const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    int fd = -1;
    native_error e;
    snprintf(path, sizeof path, "%s/%s", f->folder, folder);
    assert_int_equal(native_folder_open(path, true, "folder", &fd, &e), NATIVE_OK);
    close(fd);
    snprintf(path, sizeof path, "%s/%s/%s", f->folder, folder, name);
    write_text(path, text, 0644);
}

TEST(the_last_cache_is_that_of_the_highest_level)
{
    native_fixture f = native_fixture_begin();
    assert_int_equal(native_threads_cache(f.folder, 3), 0);
    put(&f, "cpu3/cache/index0", "level", "1\n");
    put(&f, "cpu3/cache/index0", "size", "48K\n");
    assert_int_equal(native_threads_cache(f.folder, 3), 48 << 10);
    put(&f, "cpu3/cache/index1", "level", "3\n");
    put(&f, "cpu3/cache/index1", "size", "32M\n");
    put(&f, "cpu3/cache/index2", "level", "2\n");
    put(&f, "cpu3/cache/index2", "size", "1048576\n");
    assert_int_equal(native_threads_cache(f.folder, 3), 32 << 20);
    assert_int_equal(native_threads_cache(f.folder, 2), 0);
    put(&f, "cpu3/cache/index1", "size", "99999999999\n");
    assert_int_equal(native_threads_cache(f.folder, 3), 0);
    put(&f, "cpu3/cache/index1", "size", "none\n");
    assert_int_equal(native_threads_cache(f.folder, 3), 0);
    native_fixture_end(&f);
}

TEST(several_threads_stream_what_the_last_cache_does_not_hold)
{
    pto_native_services s = {.struct_size = sizeof s, .thread_count = 1, .cache_bytes = 8 << 20};
    assert_int_equal(pto_native_stream_bytes(&s, 0), PTO_STREAM_BYTES);
    s.thread_count = 2;
    assert_int_equal(pto_native_stream_bytes(&s, (12 << 20) - 1), INT64_MAX);
    assert_int_equal(pto_native_stream_bytes(&s, 12 << 20), PTO_STREAM_BYTES);
    s.cache_bytes = INT64_C(480) << 20; /* of a host whose guests share it */
    assert_int_equal(pto_native_stream_bytes(&s, (48 << 20) - 1), INT64_MAX);
    assert_int_equal(pto_native_stream_bytes(&s, 48 << 20), PTO_STREAM_BYTES);
    s.struct_size = offsetof(pto_native_services, cache_bytes);
    s.cache_bytes = 8 << 20; /* of a caller that does not say it */
    assert_int_equal(pto_native_stream_bytes(&s, (48 << 20) - 1), INT64_MAX);
}

TEST(the_smallest_quota_above_a_group_counts)
{
    static const char mounts[] = "22 1 0:21 / /proc rw - proc proc rw\n"
                                 "30 22 0:26 / /cg rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
    native_fixture f = native_fixture_begin();
    put(&f, "cg/a/b", "cpu.max", "max 100000\n");
    assert_int_equal(native_threads_quota("0::/a/b\n", mounts, f.folder), 0);
    put(&f, "cg/a", "cpu.max", "250000 100000\n");
    assert_int_equal(native_threads_quota("0::/a/b\n", mounts, f.folder), 3);
    put(&f, "cg/a/b", "cpu.max", "700000 100000\n");
    assert_int_equal(native_threads_quota("0::/a/b\n", mounts, f.folder), 3);
    put(&f, "cg", "cpu.max", "1000 100000\n");
    assert_int_equal(native_threads_quota("0::/a/b\n", mounts, f.folder), 1);
    assert_int_equal(native_threads_quota("0::/\n", mounts, f.folder), 1);
    assert_int_equal(native_threads_quota("", mounts, f.folder), 0);
    assert_int_equal(native_threads_quota("0::/a/b\n", "", f.folder), 0);
    native_fixture_end(&f);
}

TEST(quotas_of_the_older_kind)
{
    static const char mounts[] = "30 22 0:26 /docker/x /cpus rw - cgroup cgroup rw,cpuacct,cpu\n"
                                 "31 22 0:27 / /sets rw - cgroup cgroup rw,cpuset\n";
    static const char groups[] = "9:cpuset:/\n4:cpu,cpuacct:/docker/x/job\n0::/\n";
    native_fixture f = native_fixture_begin();
    put(&f, "cpus/job", "cpu.cfs_quota_us", "-1\n");
    put(&f, "cpus/job", "cpu.cfs_period_us", "100000\n");
    assert_int_equal(native_threads_quota(groups, mounts, f.folder), 0);
    put(&f, "cpus/job", "cpu.cfs_quota_us", "150000\n");
    assert_int_equal(native_threads_quota(groups, mounts, f.folder), 2);
    /* Out of sight: the mount point is all that is known. */
    put(&f, "cpus", "cpu.cfs_quota_us", "100000\n");
    put(&f, "cpus", "cpu.cfs_period_us", "100000\n");
    assert_int_equal(native_threads_quota("4:cpu:/../other\n", mounts, f.folder), 1);
    native_fixture_end(&f);
}
