"""Pages of jobs with more ranks and steps than fit: their size, the ranks they keep, and their
statements about all rows, checked with tmerge show."""
import json
import os
import statistics

from common import (TMERGE, content, equal, holds, main, merged, seldom, split_page, synth,
                    tables)

BYTES_MAX, MEMORY_MAX_KIB = 6_000_000, 200 * 1024


def report(store):
    """Writes the page in a process of its own and returns its document."""
    pid = os.spawnv(os.P_NOWAIT, TMERGE, [TMERGE, 'report', store, '-o', 'page.html', '--force'])
    _, status, used = os.wait4(pid, 0)
    equal(status, 0, 'status of tmerge report')
    holds(used.ru_maxrss <= MEMORY_MAX_KIB, f'{used.ru_maxrss} KiB')
    holds(os.path.getsize('page.html') <= BYTES_MAX, f'{os.path.getsize("page.html")} bytes')
    return json.loads(split_page(content('page.html'))[1])


def known(rows, column):
    return [row[column] for row in rows if row[column] is not None]


def check_column(of, rows, name, kind, where):
    values = known(rows, name)
    if kind == 'bool':
        equal(of, [len(values), sum(values)], where)
        return
    equal(of[0], len(values), where + ': known')
    if kind == 'int':
        equal(of[1], sum(values), where + ': sum')
    if values:
        equal([of[2], of[4], of[5]], [min(values), max(values), len(set(values))], where)
        holds(abs(of[3] - statistics.median(values)) <= 1e-12 * abs(of[3]), where + ': median')


def check_groups(whole, columns, rows, where):
    by, of = whole['by'], {}
    for row in rows:
        of.setdefault(tuple(row[name] for name in by), []).append(row)
    found = {tuple(group[:len(by)]): group[len(by):] for group in whole['groups']}
    equal({key: n for key, (n, _) in found.items()}, {key: len(own) for key, own in of.items()},
          where + ': groups')
    for key, (_, sums) in found.items():
        for (name, kind, *_), total in zip(columns, sums):
            values = known(of[key], name)
            if kind == 'int':
                equal(total, sum(values) if values else None, f'{where} {name}: {key}')


def check_tables(document, store):
    """Each table: shown and left-out rows add up to all, and its statements about all rows hold."""
    shown, short = tables(store), set()
    for name, table in document['tables'].items():
        rows = shown[name]
        equal(table['n'] + table.get('left_out', 0), len(rows), name)
        if 'all' not in table:
            continue
        short.add(name)
        equal(table['all']['n'], len(rows), name)
        for (column, kind, *_), of in zip(table['columns'], table['all']['columns']):
            if of is not None:
                check_column(of, rows, column, kind, f'{name} {column}')
        if 'by' in table['all']:
            check_groups(table['all'], table['columns'], rows, name)
    return shown, short


def in_page(document, name, column):
    table = document['tables'][name]
    place = [each for each, *_ in table['columns']].index(column)
    return set(table['cells'][place])


def most(rows, column, n, key):
    return {row[key] for row in sorted(rows, key=lambda row: -(row[column] or 0))[:n]}


@seldom
def test_a_page_of_many_ranks_keeps_those_that_matter():
    synth('job', ranks=1100, ranks_per_host=8, steps=2, layers=1, buckets=1, cpu_ops=1,
          slow_rank=777, offset_us=300, jitter=5, tp=2, no_world=True)
    os.unlink('job/profile_rank_500.json')  # and with it the evidence for its own groups
    merged('job', n=2, page=True)
    document = report('tmerge.h5')
    equal(content('page.html'), content('tmerge.html'))
    shown, short = check_tables(document, 'tmerge.h5')
    for name in ('job.rank', 'overlap.rank', 'overlap.kind', 'stragglers.rank', 'phases.step'):
        holds(name in short, f'{name} is whole')
    kept = in_page(document, 'job.rank', 'rank')
    holds(kept <= in_page(document, 'overlap.rank', 'rank'), 'ranks of two tables differ')
    holds({0, 777, 1099} <= kept, kept)
    caused = [dict(row, cost=(row['direct_ns'] or 0) + (row['indirect_ns'] or 0))
              for row in shown['stragglers.rank']]
    holds(most(caused, 'cost', 32, 'rank') <= kept, 'of those that cost most one is missing')
    holds(most(shown['overlap.rank'], 'idle_ns', 4, 'rank') <= kept, 'of those most idle')
    facts = document['facts']
    equal([facts['ranks'], facts['ranks_kept'], facts['missing'], facts['missing_count']],
          [1099, len(kept), [[500, 500]], 1], 'facts')
    equal(facts['host_count'], 138, 'hosts')  # 1,100 / 8, rounded up
    of = {row['rank']: row for row in caused}
    for name, n, first, *_, total, worst in facts['hosts']:
        own = [of[row['rank']] for row in shown['job.rank'] if row['host'] == name]
        equal([n, first, total], [len(own), min(row['rank'] for row in own),
                                  sum(row['cost'] for row in own)], name)
        holds(total == 0 or of[worst]['cost'] == max(row['cost'] for row in own), name)


@seldom
def test_a_page_of_many_steps_keeps_those_that_matter():
    synth('job', ranks=2, steps=1400, layers=1, buckets=1, cpu_ops=1, slow_rank=1, jitter=20,
          slow_steps='700-900')
    merged('job')
    document = report('tmerge.h5')
    shown, short = check_tables(document, 'tmerge.h5')
    for name in ('overlap.step', 'imbalance.step', 'stragglers.step', 'whatif.step'):
        holds(name in short, f'{name} is whole')
    kept = in_page(document, 'whatif.step', 'step')
    holds({3, 1402} <= kept, 'the first and the last')
    holds(most(shown['stragglers.step'], 'caused_wait_ns', 32, 'step') <= kept, 'most waiting')
    partial = {(row['rank'], row['step']) for row in shown['overlap.step'] if row['partial']}
    times = {}
    for row in shown['overview.step']:
        if (row['rank'], row['step']) not in partial:
            times.setdefault(row['step'], []).append(row['step_ns'])
    means = [statistics.mean(each) for each in times.values()]
    facts = document['facts']
    for name, value in (('least', min(means)), ('median', statistics.median(means)),
                        ('most', max(means))):
        holds(abs(facts[f'step_{name}_ns'] - value) < 1e-6, name)


if __name__ == '__main__':
    main()
