"""The fixtures in testdata: the first word of each name is its verdict."""
import os

from common import SOURCE, equal, holds, main, some, tmerge

FOLDER = os.path.join(SOURCE, 'testdata')
# Counts of /ranks that any trace may have: they cause no diagnostic.
USUAL = {'n_flow', 'n_metadata', 'n_unlinked', 'n_other_category'}
# Expected counts of each odd fixture, found by inspection.
ODD = {
    'odd_backslashes.json': {'n_backslash': 2, 'n_repaired_event': 1},  # one is in traceName
    'odd_bare_inf.json': {'n_non_finite': 4, 'n_repaired_event': 3},
    'odd_control_characters.json': {'n_control_character': 2, 'n_repaired_event': 2},
    'odd_cut_in_a_character.json': {'n_cut_event': 1, 'truncated': 1},
    # the event that begins decades before the base time has no valid time
    'odd_extreme_times.json': {'n_absurd_duration': 1, 'n_unknown_work_time': 1, 'n_unknown_time': 1,
                               'n_mostly_skipped': 3},
    'odd_job_rank_0.json': {'n_non_finite': 1, 'n_repaired_event': 1, 'n_zero_time': 1},
    'odd_job_rank_1.json': {'n_non_finite': 1, 'n_repaired_event': 1, 'n_zero_time': 1},
    'odd_latin_1.json': {'n_invalid_utf8': 1, 'n_repaired_event': 1},
    'odd_negative_duration.json': {'n_negative_duration': 2, 'n_mostly_skipped': 2},
    'odd_no_epoch.xplane.pb': {'n_no_epoch': 2, 'n_negative_duration': 1, 'n_diagnostic': 2},
    'odd_no_ids.json': {'n_no_name': 1},
    'odd_rocprof.json': {'n_no_epoch': 6},
    'odd_shapes.json': {'n_negative_duration': 1, 'n_no_time': 2, 'n_not_object': 3,
                        'n_other_phase': 2, 'n_bad_value': 4, 'n_mostly_skipped': 5},
    'odd_signed_fraction.json': {'n_signed_fraction': 2, 'n_repaired_event': 2,
                                 'n_negative_duration': 1},
    'odd_trace_viewer.json': {'n_no_epoch': 4},
    'odd_trailing_commas.json': {'n_trailing_comma': 4, 'n_repaired_event': 1},
    'odd_truncated.json': {'n_cut_event': 1, 'truncated': 1},
    'odd_unescaped_quotes.json': {'n_unescaped_quote': 3, 'n_repaired_event': 2},
}


def fixtures(verdict):
    found = sorted(f for f in os.listdir(FOLDER) if f.startswith(verdict))
    holds(found, f'there is no fixture {verdict}')
    return [os.path.join(FOLDER, f) for f in found]


def remarks(store):
    """Returns the counts of /ranks that are diagnostics: those in /spans, too; others count
    rows."""
    import h5py  # after common, which sets its plugin folder
    with h5py.File(store) as f:
        return {name: int(f['ranks'][name][0]) for name in f['ranks']
                if (name.startswith('n_') and name in f['spans'] and name not in USUAL
                    or name == 'truncated') and f['ranks'][name][0] > 0}


def test_what_is_odd_in_a_fixture_is_counted_and_nothing_in_an_ok_one():
    equal(sorted(os.path.basename(path) for path in fixtures('odd_')), sorted(ODD))
    for path in some(fixtures('ok_') + fixtures('odd_')):
        tmerge(path, '-o', 'x.h5').expect(0)
        equal((path, remarks('x.h5')), (path, ODD.get(os.path.basename(path), {})))


def test_bad_fixtures_are_refused_with_a_byte():
    for path in fixtures('bad_'):
        done = tmerge(path).expect(3)
        equal(len(done.errors), 1)
        holds(done.errors[0].startswith(f'tmerge: {path}: byte '), done.errors[0])


def test_every_fixture_is_described():
    with open(os.path.join(FOLDER, 'README.md'), encoding='utf-8') as f:
        text = f.read()
    for name in sorted(os.listdir(FOLDER)):
        holds(name == 'README.md' or name in text, name)


main()
