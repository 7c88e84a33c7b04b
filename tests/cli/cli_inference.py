"""Jobs that serve models: steps are of several kinds, and results are given by kind."""
import json

from common import (contains, equal, event, has_line, kernel, lacks, main, merged, put, rows,
                    seldom, tmerge, trace)


def served(name, steps, gap=60, waits=False):
    """Makes a store of a rank whose steps have a name and a length in us. A kernel fills each step
    except for 40 us at its begin; gaps of this many us lie between steps. The host may be recorded
    as it waits for the kernel."""
    at, events = 1000, []
    for i, (mark, length) in enumerate(steps):
        events += [event(mark, 'user_annotation', at, length),
                   event('hipGraphLaunch', 'cuda_runtime', at + 10, 5, correlation=i + 1),
                   kernel('attention', at + 40, length - 40, correlation=i + 1)]
        if waits:
            events.append(event('hipDeviceSynchronize', 'cuda_runtime', at + 16, length - 15))
        at += length + gap
    return merged(put(f'{name}/rank0.json', trace(events, 0)), '-o', f'{name}.h5')


def sglang(extend=29000, decode=4980):
    """12 prefills, each followed by 16 decodes; single steps differ from the mean by 20 or 4 us."""
    return [step for i in range(12) for step in
            [(f'step[EXTEND bs=2 toks={900 + i}]', extend + (-20, 0, 20)[i % 3])] +
            [(f'step[DECODE bs={16 + k % 3}]', decode + (-4, 4)[k % 2]) for k in range(16)]]


def test_a_first_screen_says_how_long_steps_of_each_kind_take():
    out = served('job', sglang()).out
    # Decodes of 16, 17 and 18 requests, six, five and five in a round of 16: (6 x 16 + 5 x 17 + 5 x
    # 18) / 16 = 16.94. Prefills of 900 to 911 tokens.
    contains(' '.join(out.split()), 'Steps (medians): 192 DECODE of 4.98 ms (batch 17), 12 EXTEND of '
                                    '29.0 ms (batch 2, 906 tokens)')
    lacks(out, 'long steps')
    # 192 x 4980 + 12 x 29000 = 1,304,160 us, of which DECODE is 73.32 %.
    equal([(row['kind'], row['steps'], row['median_ns'], row['min_ns'], round(row['share_pct'], 2))
           for row in rows('job.h5', 'steps.kind')],
          [('DECODE', 192, 4980000, 4976000, 73.32), ('EXTEND', 12, 29000000, 28980000, 26.68)])
    equal([row['kind'] for row in rows('job.h5', 'steps.mark')[:3]], ['EXTEND', 'DECODE', 'DECODE'])
    # Making an EXTEND as short as a DECODE saves nothing: each kind varies by at most 0.1 %.
    equal([row for row in rows('job.h5', 'whatif.item')
           if row['what'] == 'kind' and (row['saved_pct'] or 0) > 0.1], [])
    # A step's length is said once: the replay's, from the first kernel on, is 40 us shorter.
    out = served('one', [('step[DECODE bs=16]', 4980)]).out
    has_line(out, '^1 rank(?: on 1 host)?, 1 step, ')
    has_line(out, r'^ *Step: 1 DECODE of 4\.98 ms ')


def test_a_slower_prefill_is_found_beside_decodes_that_stay():
    served('a', sglang())
    served('b', [(mark, length * 1.05 if 'EXTEND' in mark else length) for mark, length in sglang()])
    out = tmerge('diff', 'a.h5', 'b.h5').expect(0).out
    # 29.0 ms plus 5 %: 30.45 ms; DECODE is identical to the last digit.
    has_line(out, r'^EXTEND: B is 5\.0 % slower a step: 29\.0 ms -> 30\.4 ms \(noise ')
    has_line(out, r'^DECODE: No change of the step time beyond noise: 4\.98 ms -> 4\.98 ms')
    has_line(out, r'higher +\+5\.0 % .*overview\.step\.step_ns of EXTEND$')
    found = json.loads(tmerge('diff', 'a.h5', 'b.h5', '--json').expect(0).out)['tables']
    equal([(row['kind'], row['a'], row['verdict']) for row in found['diff.job']['rows']
           if row['figure'] == 'overview.step.step_ns'],
          [('DECODE', 4980000.0, 'same'), ('EXTEND', 29000000.0, 'higher')])
    equal([row['step_ns'] for row in found['diff.side']['rows']], [None, None])
    gate = tmerge('gate', 'a.h5', 'b.h5', '--max=step=+2%').expect(6)
    has_line(gate.out, r'^pass +step of DECODE \+0\.00 %')
    has_line(gate.out, r'^fail +step of EXTEND \+5\.00 %')
    tmerge('gate', 'a.h5', 'b.h5', '--max=step=+6%').expect(0)
    trend = tmerge('trend', 'a.h5', 'b.h5').expect(0).out
    contains(trend, 'overview.step.step_ns of EXTEND\n       29.0 ms  a.h5\n       30.4 ms  b.h5\n'
                    '                since the one before: +5.0 % (chance 0.1 %), higher\n')


def test_another_mix_of_kinds_is_no_change_of_their_steps():
    served('a', sglang())
    served('b', [step for i, step in enumerate(sglang()) if i % 17 < 9])  # half as many decodes
    out = tmerge('diff', 'a.h5', 'b.h5').expect(0).out
    for kind in ('DECODE', 'EXTEND'):
        has_line(out, f'^{kind}: No change of the step time beyond noise')
    contains(' '.join(out.split()), 'The kinds of steps have different shares in A and B: over all kinds, kernels '
                                    'and operators are compared by their time per call')
    lacks(out, 'slower')
    served('c', [step for step in sglang() if 'DECODE' in step[0]])
    contains(tmerge('diff', 'a.h5', 'c.h5').expect(0).out, 'EXTEND: 12 steps in A, none in B\n')


@seldom
def test_marks_of_engines_are_steps_and_say_what_they_hold():
    columns = ('kind', 'phase', 'batch', 'padded_batch', 'tokens', 'prefill_batch', 'prefill_tokens',
               'decode_batch', 'decode_tokens', 'resolution')
    none = None
    marks = {
        'execute_context_2(14721)_generation_0(0)': ('prefill', 'prefill', 2, none, 14721, 2, 14721, 0, 0),
        'execute_context_0(0)_generation_64(64)': ('decode', 'decode', 64, none, 64, 0, 0, 64, 64),
        'execute_6147_context_2(sq6144sk7144sqsq9sqsk8)_generation_3(sq3sk6144sqsq3sqsk6144)':
            ('mixed', 'mixed', 5, none, 6147, 2, 6144, 3, 3),
        'execute_context_0(0)_generation_0(0)': ('idle', 'idle', 0, none, 0, 0, 0, 0, 0),
        'step[EXTEND bs=2 toks=800]': ('EXTEND', 'prefill', 2, none, 800, 2, 800, none, none),
        'step[DECODE bs=64 g_sq=128 g_sqsq=256]': ('DECODE', 'decode', 64, none, 128, none, none, 64, 128),
        'step[MIXED bs=2 c=1 g=1 c_sq=5 g_sq=1]': ('MIXED', 'mixed', 2, none, 6, 1, 5, 1, 1),
        'step[MIXED bs=2]': ('MIXED', 'mixed', 2, none, none, none, none, none, none),
        'step[TARGET_VERIFY bs=3]': ('TARGET_VERIFY', none, 3, none, none, none, none, none, none),
        'prefill[bs=6 tok=17408 ctx=[4096, 4096]...+3 sqsq=5]':
            ('prefill', 'prefill', 6, none, 17408, 6, 17408, none, none),
        'decode[bs=117/128 tok=117 d=117]': ('decode', 'decode', 117, 128, 117, none, none, 117, 117),
        'decode[bs=128 tok=384 p=2 d=126 tbo=1]': ('decode', 'mixed', 128, none, 384, 2, none, 126, none),
        'execute_diffusion_4_1024x768': ('diffusion', 'diffusion', 4) + 6 * (none,) + ('1024x768',),
        'capture_32_FULL': ('capture_FULL', 'capture', 32),
        'capture_128_decode': ('capture_decode', 'capture', 128),
    }
    for mark, expected in marks.items():
        served('job', [(mark, 1000)])
        found = rows('job.h5', 'steps.mark')
        equal([[row[column] for column in columns] for row in found],
              [list(expected) + (len(columns) - len(expected)) * [none]], mark)
    for mark in ('decode[3]', 'capture_3_frames', 'execute_context_2', 'prefill', 'xdecode[bs=3]'):
        served('job', [(mark, 1000)])
        equal(rows('job.h5', 'steps.mark'), [], mark)


def test_an_engines_pass_is_the_step_within_that_of_the_profiler():
    inner = [event('step[DECODE bs=4]', 'user_annotation', at, 80, tid=7) for at in (1010, 1110)]
    outer = [event(f'ProfilerStep#{i}', 'user_annotation', 1000 + 100 * i, 100) for i in range(2)]
    around = [event('execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk9sqsq4sqsk9)',
                    'user_annotation', 1005 + 100 * i, 90) for i in range(2)]
    work = [kernel('gemm', 1020, 10)]
    for name, events, expected in (('both', outer + inner + around, ['decode', 'decode']),
                                   ('inner', outer + inner, ['DECODE', 'DECODE']),
                                   # A training loop that also generates.
                                   ('rare', outer + inner[:1], ['ProfilerStep', 'ProfilerStep'])):
        put(f'{name}.json', trace(events + work, 0))
        merged(f'{name}.json', '-o', f'{name}.h5')
        equal([row['kind'] for row in rows(f'{name}.h5', 'steps.mark')], expected, name)


def test_advice_is_that_of_an_engine():
    def advice():
        return {row['rule']: row for row in rows('job.h5', 'advice.item')}

    served('job', [(f'step[DECODE bs={(8, 32)[i % 2]}]', (5000, 5200)[i % 2]) for i in range(20)],
           gap=1000)
    found = advice()
    # 19 gaps of 1 ms in 20 steps of 5.1 ms plus the gaps, less 40 us before the first kernel: 19 of
    # 120.96 ms are 15.7 %. One of 32 requests takes 5200 / 32 = 162.5 us, of 8 625: 74 % less.
    equal(found['scheduler_gaps']['cost_ns'], 19000000)
    contains(found['scheduler_gaps']['evidence'], 'up to 15.7 % of their time (19.0 ms) between the end '
                                                  'of a step and the start of the next: 1.00 ms')
    contains(found['decode_batch']['evidence'],
             'Decodes of 8 requests take 5.00 ms and decodes of 32 requests take 5.20 ms: 74 % less for each request.')
    # 12 ms without requests are not scheduler time; one batch size says nothing about others.
    served('job', [('step[DECODE bs=8]', 1000)] * 9, gap=12000)
    equal({'scheduler_gaps', 'decode_batch'} & set(advice()), set())
    served('job', [(f'ProfilerStep#{i}', 5000) for i in range(9)], gap=1000)
    equal({'scheduler_gaps', 'decode_batch'} & set(advice()), set())


def test_what_may_be_an_unrecorded_wait_is_not_sure():
    """Between two launches, while the kernel runs, a host waits or works: only a call says which."""
    for waits in (False, True):
        served('job', [('step[DECODE bs=8]', 5000)] * 20, waits=waits)
        job, = rows('job.h5', 'whatif.job')
        equal((job['sure'], 'hosts may have worked or waited' in job['evidence']), (waits, not waits))


def test_a_capture_of_graphs_says_that_it_is_no_run():
    out = ' '.join(served('job', [(f'capture_{2 ** (i % 5)}_decode', 1000) for i in range(10)]).out.split())
    contains(out, 'The traces hold the capture of 10 graphs (batch 1 to 16), which happens before the engine serves requests')
    contains(out, 'record steps that serve requests Stored ')  # no share of a few kernels' time
    lacks(out, 'computes')
    equal(rows('job.h5', 'whatif.job')[0]['headline'], None)


def test_prefills_are_not_compared_with_decodes():
    served('a', [('execute_context_2(900)_generation_0(0)', 2000 + i % 2) for i in range(8)])
    served('b', [('execute_context_0(0)_generation_9(9)', 1000 + i % 2) for i in range(8)])
    out = tmerge('diff', 'a.h5', 'b.h5').expect(0).out
    has_line(out, '^decode: 8 steps in B, none in A$')
    lacks(out, 'faster')


def test_steps_of_one_kind_are_spoken_of_as_steps():
    served('a', [(f'ProfilerStep#{i}', 1000 + i % 2) for i in range(8)])
    served('b', [(f'step[DECODE bs={i}]', 2000 + i % 2) for i in range(8)])
    found = json.loads(tmerge('diff', 'a.h5', 'b.h5', '--json').expect(0).out)['tables']
    equal({row['kind'] for row in found['diff.job']['rows']}, {None})
    contains(found['diff.remark']['rows'][0]['text'], 'B is 100.0 % slower a step')
    lacks(tmerge('gate', 'a.h5', 'b.h5', '--max=step=+2%').expect(6).out, ' of ')


if __name__ == '__main__':
    main()
