"""tmerge check: only good stores pass. Every byte of a store counts."""
import os
import shutil

from common import (FULL, Seal, contains, content, crc64, equal, files, holds, in_turn, main,
                    merged, put, rows, run, seal, seldom, small_trace, some, tables,
                    tmerge)
from jobs import use
import h5py

OTHER = 'not a tmerge store, or changed since it was written'
FEW = 1 if FULL else 8  # step between tested places


def made(*options):
    """Makes a small store of two ranks in tmerge.h5; returns its bytes."""
    if not os.path.isdir('job'):
        use('two')
    merged('job', *options)
    return content('tmerge.h5')


def datasets(path):
    """Returns the number of rows of each dataset, and the offset of its data if it has any."""
    n_rows, begins = {}, {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            n_rows[name] = item.shape[0]
            if item.id.get_storage_size() > 0:
                begins[name] = item.id.get_offset() if item.chunks is None \
                    else item.id.get_chunk_info(0).byte_offset

    with h5py.File(path) as file:
        file.visititems(visit)
    return n_rows, begins


def flipped(data, at, bit=1):
    changed = bytearray(data)
    changed[at] ^= bit
    return bytes(changed)


def refused(data, places, bit):
    """Checks copies of a store, each with a flipped bit. Each must be rejected in one line; returns
    these lines."""
    names = [put(f'f{at}.h5', flipped(data, at, bit(at))) for at in places]
    done = tmerge('check', *names).expect(3)
    reported = [line.split(': ', 2) for line in done.errors]
    equal(([name for _, name, _ in reported], done.out), (names, ''))
    for name in names:
        os.unlink(name)
    return [message for _, _, message in reported]


def test_a_good_store_is_reported_in_one_line():
    for options in ((), ('--no-compress',)):
        data = made(*options)
        n_rows = datasets('tmerge.h5')[0]
        done = merged('check', 'tmerge.h5')
        equal(done.out, f'tmerge.h5: good, {len(n_rows)} datasets, {n_rows["events/begin_ns"]} events, '
              f'{len(data) / 1e6:.1f} MB\n')
        equal(rows('tmerge.h5', 'job.job')[0]['events'], n_rows['events/begin_ns'])
    equal(merged('check', '-q', 'tmerge.h5').out, '')
    put('bad.h5', 'text')
    tmerge('check', '--quiet', 'tmerge.h5', 'bad.h5').fails(3, 'bad.h5: not a tmerge store')


def test_every_store_is_looked_at():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    put('bad.h5', 'text')
    for n in in_turn(0, 2):
        done = tmerge('check', 'missing.h5', 'bad.h5', 'tmerge.h5', n=n).expect(3)
        equal(done.errors, ['tmerge: missing.h5: cannot be read: No such file or directory',
                            'tmerge: bad.h5: not a tmerge store'])
        equal(len(done.out.splitlines()), 1)
        contains(done.out, 'tmerge.h5: good, ')
    equal(files(), ['bad.h5', 'rank0.json', 'tmerge.h5'])


def test_the_seal_is_what_its_description_says():
    """Checksums computed by another program, from the description in src/store/checksum.h."""
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    data = content('tmerge.h5')
    end = Seal(data)
    equal(crc64(b'123456789'), 0x995DC9BBDF1939FA)
    equal(end.structure_sum, crc64(end.structure(data)))
    equal(end.sum, crc64(data[end.content:-8]))
    for offset, size, found in end.extents:
        equal(found, crc64(data[offset:offset + size]), f'data at {offset}')
    covered = sum(size for _, size, _ in end.extents) + len(end.structure(data))
    equal(covered, end.content)


def test_any_flipped_bit_is_found():
    # unit.store_check tests every part of a store.
    n = 4000 if FULL else 64
    for options in ((), ('--no-compress',)):
        data = made(*options)
        places = range(len(data) * 2 // n, len(data), len(data) * 2 // n)
        for first in range(0, len(places), 256):
            refused(data, places[first:first + 256], lambda at: 1 << at % 8)


def dataset(name):
    """Returns the name of a dataset in messages."""
    group, *rest = name.split('/')
    return 'table ' + '.'.join(rest) if group == 'analysis' else 'column /' + name


def test_a_fault_names_its_dataset_and_is_the_only_one():
    for step, options in ((FEW, ()), (4 * FEW, ('--no-compress',))):
        data = made(*options)
        begins = datasets('tmerge.h5')[1]
        holds(len(begins) > 120 and set(begins.values()) <= {at for at, _, _ in Seal(data).extents},
              begins)
        names = some(list(begins)[::step])
        equal(refused(data, [begins[name] for name in names], lambda at: 16),
              [f'the store is damaged: {dataset(name)} cannot be read' for name in names])


@seldom
def test_show_prints_what_is_right_or_nothing():
    for options in ((), ('--no-compress',)):
        data = made(*options)
        good = merged('show', 'tmerge.h5', '--json').out
        begins = datasets('tmerge.h5')[1]
        read = [at for name, at in begins.items() if name.startswith('analysis/')][::FEW]
        others = {*range(0, len(data), 6007 * FEW), *list(begins.values())[::9 * FEW]} - set(read)
        shown = 0
        for at in (*read, *others):
            put('tmerge.h5', flipped(data, at, 2))
            done = tmerge('show', 'tmerge.h5', '--json')
            if done.status == 0 and at in others:
                equal(done.out, good, f'byte {at}')
                shown += 1
            else:
                equal((done.status, done.out, len(done.errors)), (3, '', 1), done.err)
        holds(0 < shown < (len(read) + len(others)) / 2, f'{shown} were shown')


def test_a_store_that_is_cut_short_or_longer_is_refused():
    data = made()
    end = Seal(data).content
    cuts = [0, 1, 7, 8, 47, 48, *range(49, len(data), 9973 * FEW), end - 1, end, end + 1,
            *range(len(data) - 100, len(data), FEW)]
    stores = {put(f'cut{cut}.h5', data[:cut]): 'not a tmerge store' if cut < 8 else
              'the file is damaged: it was cut short' if 48 <= cut < end else OTHER for cut in cuts}
    for i, more in enumerate((b'\0', b'x', b'\0' * 4096, data[-40:], data)):
        stores[put(f'longer{i}.h5', data + more)] = OTHER
    stores[put('zeros.h5', data[:8] + b'\0' * (len(data) - 8))] = OTHER
    done = tmerge('check', *stores).expect(3)
    equal((done.out, done.errors), ('', [f'tmerge: {name}: {why}' for name, why in stores.items()]))
    for name, why in list(stores.items())[::FEW]:
        tmerge('show', name).fails(3, f'{name}: {why}')


def test_bytes_that_moved_are_found():
    """Checksums of each part are valid if parts are swapped or come from another store."""
    data, plain = made(), made('--no-compress')
    first, second = [e for e in Seal(plain).extents if e[1] == 16][:2]
    swapped, zeros = bytearray(plain), bytearray(data)
    for a, b in ((first, second), (second, first)):
        swapped[a[0]:a[0] + 16] = plain[b[0]:b[0] + 16]
    holds(swapped != plain, 'what is swapped is the same')
    offset, size, _ = max(Seal(data).extents, key=lambda e: e[1])
    zeros[offset:offset + size] = bytes(size)
    bad = [put('swapped.h5', bytes(swapped)), put('zeros.h5', bytes(zeros)),
           put('mixed.h5', data[:Seal(data).content] + plain[Seal(plain).content:])]
    equal({line.split(': ')[1] for line in tmerge('check', *bad).expect(3).errors}, set(bad))


def test_another_hdf5_file_is_no_store():
    with h5py.File('other.h5', 'w') as file:
        file['events/begin_ns'] = [1, 2, 3]
    with h5py.File('claims.h5', 'w') as file:
        file.attrs['format'] = 'tmerge'
        file.attrs['schema_major'] = 1
    for name in ('other.h5', 'claims.h5'):
        for command in ('check', 'show'):
            tmerge(command, name).fails(3, f'{name}: {OTHER}')


def replaced(name, change, **more):
    """Replaces the values of a column."""
    def replace(file):
        values, attributes = file[name][()], dict(file[name].attrs)
        del file[name]
        file[name] = change(values)
        for key in more.get('keeps', ()):
            file[name].attrs[key] = attributes[key]
    return replace


def change_names(file):
    values = file['names/offsets'][()]
    values[2] = values[1] - 1
    file['names/offsets'][()] = values


def test_a_store_that_h5py_changed_is_refused_with_and_without_a_new_seal():
    """With a new checksum trailer the file is intact, but does not match the schema."""
    data = made('--no-compress')
    n = datasets('tmerge.h5')[0]['events/name']
    for change, message in (
            (replaced('events/step', lambda values: values.astype('i8')),
             "the store's column /events/step has an unexpected type"),
            (replaced('events/duration_ns', lambda values: values[:-1]),
             f'/events/duration_ns has {n - 1} rows, its table {n}'),
            (replaced('events/kind', lambda values: values.astype('u1'), keeps=['unit']),
             '/events/kind has an unexpected type'),
            (lambda file: file.__delitem__('copies/bytes'),
             'the store has no column /copies/bytes: merge its traces again'),
            (lambda file: file['spans/end_ns'].attrs.__setitem__('unit', 'us'),
             "/spans/end_ns does not have the unit 'ns'"),
            (change_names, 'the store is damaged: /names/offsets is not ascending'),
            (lambda file: file.attrs.__setitem__('format', 'other'), 'not a tmerge store')):
        put('changed.h5', data)
        with h5py.File('changed.h5', 'r+') as file:
            change(file)
        tmerge('check', 'changed.h5').fails(3, f'changed.h5: {OTHER}')
        seal('changed.h5')
        tmerge('check', 'changed.h5').fails(3, f'changed.h5: {message}')


@seldom
def test_other_programs_read_a_store_past_its_seal():
    made()
    shutil.copy('tmerge.h5', 'before.h5')
    for command in (['h5ls', '-r'], ['h5dump', '-H'], ['h5stat'], ['h5repack', '-n']):
        if command[0] == 'h5repack':
            done = run(['h5repack', 'tmerge.h5', 'repacked.h5']).expect(0)
        else:
            done = run([*command, 'tmerge.h5']).expect(0)
        equal(done.err, '', ' '.join(command))
    equal(datasets('repacked.h5')[0], datasets('tmerge.h5')[0])
    tmerge('check', 'repacked.h5').fails(3, f'repacked.h5: {OTHER}')
    equal(content('before.h5'), content('tmerge.h5'))
    tmerge('check', 'tmerge.h5').expect(0)
    equal(tables('tmerge.h5'), tables('before.h5'))


main()
