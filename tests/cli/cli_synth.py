"""The generator knows the truth of its jobs; tmerge must compute the same to the nanosecond."""
from common import SYNTH, equal, files, holds, main, merged, run, seldom, synth, tables

# Columns of truth.json, overlap.rank and overlap.step.
TIMES = ('window_ns', 'compute_ns', 'comm_ns', 'memory_ns', 'overlap_ns', 'exposed_comm_ns',
         'exposed_memory_ns', 'busy_ns', 'idle_ns')


def ratio(a, b):
    return a / b if b else None


def finds_the_truth(n, folder, **options):
    """Merges a job of the generator with n processes and compares every number with the truth."""
    truth = synth(folder, **options)
    merged(folder, '--align=utc', n=n)
    found = tables('tmerge.h5')
    ranks = truth['ranks']
    steps = [dict(step, rank=rank['rank']) for rank in ranks for step in rank['steps']]
    for name, expected, columns in (
            ('overlap.rank', ranks, ('rank', *TIMES)),
            ('overlap.step', steps, ('rank', 'step', 'begin_ns', *TIMES)),
            ('job.rank', ranks, ('rank', 'host', 'device', 'events'))):
        equal(len(found[name]), len(expected), f'rows of {name}')
        for row, true in zip(found[name], expected):
            equal({k: row[k] for k in columns}, {k: true[k] for k in columns}, name)
    for name, expected in (('overlap.rank', ranks), ('overlap.step', steps)):
        equal([row['overlap_pct'] for row in found[name]],
              [ratio(100 * true['overlap_ns'], true['comm_ns']) for true in expected], name)
    for name, expected in (('overlap.rank', ranks), ('overlap.step', steps)):
        equal([(row['comm_to_compute'], row['exposed_to_window']) for row in found[name]],
              [(ratio(true['comm_ns'], true['compute_ns']),
                ratio(true['exposed_comm_ns'], true['window_ns'])) for true in expected], name)
    # All communication of these jobs is all-reduces, each one a kernel on every rank.
    count = len(truth['collectives'])
    equal([(row['rank'], row['kind'], row['count'], row['comm_ns'], row['overlap_ns'])
           for row in found['overlap.kind']],
          [(true['rank'], 'allreduce', count, true['comm_ns'], true['overlap_ns'])
           for true in ranks if count], 'overlap.kind')
    equal({k: found['job.job'][0][k] for k in ('ranks', 'hosts', 'steps', 'events')},
          {'ranks': len(ranks), 'hosts': len({true['host'] for true in ranks}),
           'steps': options['steps'], 'events': sum(true['events'] for true in ranks)})
    return truth, found


@seldom
def test_jobs_give_the_truth():
    for i, (n, options) in enumerate((
            (3, dict(ranks=8, steps=3)),
            (0, dict(ranks=16, steps=2, compress='gzip', layers=5, buckets=2, jitter=40, first_step=0,
                     cpu_ops=1, seed=2**40)),
            (0, dict(ranks=5, steps=4, compress='zstd', slow_rank=3, slow_factor=1.7,
                     ranks_per_host=2, seed=7, end_jitter_ns=900)))):
        truth, found = finds_the_truth(n, f'job{i}', **options)
        equal({true['host'] for true in truth['ranks']},
              {f'host{rank // options.get("ranks_per_host", 8)}' for rank in range(options['ranks'])})
    holds(any(name.endswith('.zst') for name in files('job2')), 'nothing is compressed')
    compute = {row['rank']: row['compute_ns'] for row in found['overlap.rank']}
    equal(max(compute, key=compute.get), 3)


def test_one_rank_without_communication_gives_the_truth():
    _, found = finds_the_truth(0, 'job', ranks=1, steps=1, layers=1, buckets=0)
    equal(found['overlap.rank'][0]['overlap_pct'], None)
    equal(found['overlap.kind'], [])


def test_wrong_options_get_one_message_and_status_2():
    for arguments in ([], ['-o'], ['-o', 'x', '--bogus=1'], ['-o', 'x', '--no-world', '--grad-norm'],
                      ['job']):
        done = run([SYNTH, *arguments]).expect(2)
        equal((len(done.err.splitlines()), done.out), (1, ''), done.err)
        holds(done.err.startswith('tmerge-synth: '), done.err)
    equal(files(), [])
    holds(run([SYNTH, '--help']).expect(0).out.startswith('usage: tmerge-synth '), 'help')


main()
