"""Jobs shared by several tests, and their stores, made once before them: this script is the fixture
`jobs` of tests/CMakeLists.txt. Files are read-only; a test that changes its job makes its own."""
import os
import re
import shutil

from common import SOURCE, Skip, files, merged, nanogpt, synth

with open(os.path.join(SOURCE, 'tools/demo'), encoding='utf-8') as demo:
    DEMO = dict(re.findall(r' --([a-z-]+) ([\d.]+)', demo.read()))

PLACE = os.environ.get('TMERGE_JOBS')  # unset when run by hand: then each test makes its own
JOBS = {
    'plain': {},
    'two': {'ranks': 2, 'steps': 1},
    'three': {'ranks': 3, 'steps': 2},
    'three_short': {'ranks': 3, 'steps': 1},
    'long': {'ranks': 4, 'steps': 40},
    'demo': DEMO,
    'healthy': {name: value for name, value in DEMO.items() if 'slow' not in name},
    'groups': {'ranks': 16, 'tp': 2, 'pp': 2, 'steps': 6, 'bandwidth_gbps': 50, 'latency_us': 30},
}

# Groups of every kind, on hosts whose clocks disagree.
GROUPS = dict(ranks=8, ranks_per_host=4, steps=3, layers=4, tp=2, pp=2, seed=11,
              sequence_parallel=True, slow_rank=5, slow_factor=1.2, offset_us=500, drift_ppb=900,
              gpu_error_ns=300)


def use(name):
    """Links a shared job as the folder `job`."""
    if PLACE:
        os.symlink(os.path.join(PLACE, name), 'job')
    else:
        synth('job', **JOBS[name])


def store(name):
    """Returns the store of a shared job."""
    if PLACE:
        return os.path.join(PLACE, f'{name}.h5')
    synth(name, **JOBS[name])
    merged(name, '-o', f'{name}.h5')
    return f'{name}.h5'


def real_store():
    """Returns the store of a real job; skips the test if there is none."""
    if not nanogpt():
        raise Skip('the real traces are not here')
    if PLACE:
        return os.path.join(PLACE, 'nanogpt8.h5')
    merged(nanogpt(), '-o', 'nanogpt8.h5')
    return 'nanogpt8.h5'


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(PLACE)
    os.chdir(PLACE)
    for name, options in JOBS.items():
        synth(name, **options)
        merged(name, '-o', f'{name}.h5')
    if nanogpt():
        merged(nanogpt(), '-o', 'nanogpt8.h5', page=True)
    for folder, _, names in os.walk('.'):
        for name in names:
            os.chmod(os.path.join(folder, name), 0o444)
    print('made', *files())


if __name__ == '__main__':
    main()
