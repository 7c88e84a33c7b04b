"""The fixtures in testdata: the first word of each name is its verdict."""
import os

from common import SOURCE, equal, holds, main, tmerge

FOLDER = os.path.join(SOURCE, 'testdata')
# Counts of /ranks that every trace may have: they are no remark on it.
USUAL = {'n_flow', 'n_metadata', 'n_unlinked', 'n_other_category', 'n_events'}


def fixtures(verdict):
    found = sorted(f for f in os.listdir(FOLDER) if f.startswith(verdict))
    holds(found, f'there is no fixture {verdict}')
    return [os.path.join(FOLDER, f) for f in found]


def remarks(store):
    import h5py  # behind common, which sets the folder of its plugins
    with h5py.File(store) as f:
        return {name: int(f['ranks'][name][0]) for name in f['ranks']
                if name.startswith('n_') and name not in USUAL and f['ranks'][name][0] > 0}


def test_ok_fixtures_are_read_without_a_remark():
    for path in fixtures('ok_'):
        tmerge(path, '-o', 'ok.h5').expect(0)
        equal((path, remarks('ok.h5')), (path, {}))


def test_odd_fixtures_are_read_and_something_is_counted():
    for path in fixtures('odd_'):
        tmerge(path, '-o', 'odd.h5').expect(0)
        holds(remarks('odd.h5'), path)


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
