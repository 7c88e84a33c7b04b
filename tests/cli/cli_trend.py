"""Output of tmerge trend for several runs of a job, with steps of known length."""
import json

from common import contains, equal, event, kernel, lacks, main, merged, put, small_trace, tmerge, trace


def made(name, lengths, *more, ranks=1):
    """Makes a store of ranks whose steps take these lengths in us, each with 40 us of compute."""
    paths = []
    for rank in range(ranks):
        at, events = 0, []
        for i, length in enumerate(lengths):
            events += [event(f'ProfilerStep#{i}', 'user_annotation', at, length),
                       kernel('gemm', at + 10, 40)]
            at += length
        paths.append(put(f'{name}/rank{rank}.json', trace(events, rank)))
    merged(*paths, '-o', f'{name}.h5', *more)
    return f'{name}.h5'


def trend(*stores):
    done = tmerge('trend', *stores, '--json').expect(0)
    rows = json.loads(done.out)['tables']['diff.trend']['rows']
    return {(row['figure'], row['place']): row for row in rows}


def test_changes_are_those_of_the_steps_and_held_against_chance():
    held = '--samples-per-step=5'
    stores = [made('a', [100] * 6, held), made('b', [103] * 6, held), made('c', [100] * 6, held),
              made('uneven', [95, 111] * 3, held)]
    found = trend(*stores)
    step, rate = 'overview.step.step_ns', 'overview.job.samples_per_s'
    equal([found[step, place]['store'] for place in (1, 2, 3, 4)], stores)
    # A tenth of the steps at either end is left out: (95 + 95 + 111 + 111) / 4 = 103.
    equal([found[step, place]['value'] for place in (1, 2, 3, 4)], [1e5, 103e3, 1e5, 103e3])
    equal([found[step, place]['verdict'] for place in (1, 2, 3, 4)],
          [None, 'higher', 'lower', 'unclear'])
    equal([found[step, place]['first_verdict'] for place in (2, 3, 4)],
          ['higher', 'same', 'unclear'])
    equal(round(found[step, 2]['change_pct'], 9), 3.0)
    # Six steps 8 us off their mean: sqrt(6 x 64 / 5) x sqrt(6) / 4 = 5.3666, of 100 with Student's t
    # of 3 degrees of freedom, 7.453 in tables and 7.3467 by the series, 39.427 %.
    equal(round(found[step, 4]['noise_pct'], 3), 39.427)
    # 5 samples in 100 us are 50,000 a second, in 103 us 48,543.7: 2.913 % fewer.
    equal((found[rate, 1]['value'], round(found[rate, 2]['value'], 1)), (50000.0, 48543.7))
    equal((round(found[rate, 2]['change_pct'], 3), found[rate, 2]['verdict']), (-2.913, 'lower'))
    equal(found['overlap.step.compute_ns', 2]['verdict'], 'same')


def test_the_mean_counts_if_every_fourth_step_is_longer():
    """The trimmed mean leaves out 2 of 16 steps at either end: (10 x 100 + 2 x 200) / 12."""
    stores = [made('a', [100] * 6), made('fourth', [100, 100, 100, 200] * 4)]
    row = trend(*stores)['overview.step.step_ns', 2]
    equal([round(row[name], 3) for name in ('value', 'mean', 'change_pct')], [116666.667, 125e3, 25.0])
    equal((row['verdict'], row['over_steps']), ('higher', 'mean of periods'))
    text = tmerge('trend', *stores).expect(0).out
    contains(text, 'fourth.h5 (mean 125.0 us)\n')
    contains(text, 'since the one before: +25.0 % by the mean (chance 0.0 %), higher\n')
    text = tmerge('trend', *stores, stores[0]).expect(0).out
    contains(text, 'since the first: +0.0 % in the usual step (chance 0.0 %), same\n')
    contains(tmerge('gate', *stores, '--max=step=-5%').expect(0).out,
             'pass      step +25.00 % by the mean (at most 5 % lower, any increase; noise')


def test_what_cannot_be_compared_is_said():
    stores = [made('a', [100] * 6), made('few', [100] * 3), made('two', [100] * 6, ranks=2)]
    found = trend(*stores)
    step = 'overview.step.step_ns'
    equal([(found[step, i]['value'], found[step, i]['verdict']) for i in (2, 3)],
          [(100000.0, 'too few steps'), (100000.0, 'other ranks')])
    equal([(found[step, i]['change_pct'], found[step, i]['noise_pct']) for i in (2, 3)],
          [(0.0, None), (None, None)])
    equal(('overview.job.samples_per_s', 1) in found, False)
    text = tmerge('trend', *stores).expect(0).out
    contains(text, 'since the one before: +0.0 %, too few steps\n')
    contains(text, 'since the first: other ranks\n')
    lacks(text, 'nan')
    equal(tmerge('trend', *stores, n=2).expect(0).out, text)
    tmerge('trend', 'a.h5', 'missing.h5').expect(3)


def test_a_job_without_steps_is_said_to_have_none():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    contains(tmerge('trend', 'tmerge.h5', 'tmerge.h5').expect(0).err, 'tmerge.h5 marks no steps')
    contains(' '.join(tmerge('gate', 'tmerge.h5', 'tmerge.h5', '--max=step=+2%').expect(7).out.split()),
             'no steps are marked in the traces of both sides; each side needs at least 5')


def test_a_gate_may_have_a_limit_on_throughput():
    before, after = (made(name, [length] * 6, '--tokens-per-step=7')
                     for name, length in (('a', 100), ('b', 103)))
    tmerge('gate', before, after, '--max=tokens=-2%').expect(6)  # 2.9 % fewer
    tmerge('gate', before, after, '--max=tokens=-4%').expect(0)
    tmerge('gate', before, after, '--max=samples=-4%').expect(7)


if __name__ == '__main__':
    main()
