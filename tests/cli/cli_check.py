"""tmerge check: a good store passes, and nothing else does. Every byte of a store counts."""
import os
import shutil

from common import (Seal, content, contains, crc64, equal, files, holds, main, merged, put, rows,
                    run, seal, small_trace, tables, tmerge)
from jobs import use
import h5py

OTHER = 'not a tmerge store, or one that was changed since it was written'
BATCH = 256  # stores that one run checks


def store(*options, n=0):
    """A small store of two ranks in tmerge.h5; its bytes."""
    if not os.path.isdir('job'):
        use('two')
    merged('job', *options, n=n)
    return content('tmerge.h5')


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item.shape[0]})
                        if isinstance(item, h5py.Dataset) else None)
    return found


def poke(path, at, byte):
    with open(path, 'r+b') as file:
        file.seek(at)
        file.write(bytes([byte]))


def first_bytes_of_datasets(path):
    """Where the data of each dataset that has some begins."""
    found = {}
    with h5py.File(path) as file:
        def visit(name, item):
            if not isinstance(item, h5py.Dataset) or item.id.get_storage_size() == 0:
                return
            chunked = item.chunks is not None
            found[name] = (item.id.get_chunk_info(0).byte_offset if chunked
                           else item.id.get_offset())
        file.visititems(visit)
    return found


def refused(data, changes):
    """Checks the store with each of some changes, (place, byte), many stores in a run. Each must be
    refused in one line; returns what these say."""
    names = [put(f'f{i:03}.h5', data) for i in range(BATCH)]
    said = []
    for first in range(0, len(changes), BATCH):
        some = dict(zip(names, changes[first:first + BATCH]))
        for name, (at, byte) in some.items():
            poke(name, at, byte)
        done = tmerge('check', *some).expect(3)
        told = [line.split(': ', 2) for line in done.errors]
        equal([name for _, name, _ in told], list(some), f'bytes from {changes[first][0]} on')
        equal(done.out, '')
        said += [message for _, _, message in told]
        for name, (at, _) in some.items():
            poke(name, at, data[at])
    for name in names:
        holds(content(name) == data, f'{name} had other changes')
    tmerge('check', '-q', names[0]).expect(0)
    return said


def test_a_good_store_is_told_in_one_line():
    for options in ((), ('--no-compress',)):
        for n in (1, 2, 3):
            data = store(*options, n=n)
            found = datasets('tmerge.h5')
            done = tmerge('check', 'tmerge.h5').expect(0)
            equal(done.err, '')
            equal(done.out, f'tmerge.h5: good, {len(found)} datasets, '
                  f'{found["events/begin_ns"]} events, {len(data) / 1e6:.1f} MB\n')
            equal(rows('tmerge.h5', 'job.job')[0]['events'], found['events/begin_ns'])


def test_quiet_prints_nothing_of_good_stores():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    done = tmerge('check', '-q', 'tmerge.h5').expect(0)
    equal((done.out, done.err), ('', ''))
    put('bad.h5', 'text')
    tmerge('check', '--quiet', 'tmerge.h5', 'bad.h5').fails(3, 'bad.h5: not a tmerge store')


def test_every_store_is_looked_at():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    put('bad.h5', 'text')
    for n in (0, 2):
        done = tmerge('check', 'missing.h5', 'bad.h5', 'tmerge.h5', n=n).expect(3)
        equal(done.errors, ['tmerge: missing.h5: cannot be read: No such file or directory',
                            'tmerge: bad.h5: not a tmerge store'])
        equal(len(done.out.splitlines()), 1)
        contains(done.out, 'tmerge.h5: good, ')
    equal(files(), ['bad.h5', 'rank0.json', 'tmerge.h5'])


def test_the_seal_is_what_its_description_says():
    """Sums worked out by another program, from the description in src/store/seal.h."""
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
    for step, options in ((97, ()), (997, ('--no-compress',))):
        data = store(*options)
        starts = first_bytes_of_datasets('tmerge.h5')
        data_starts = {offset for offset, _, _ in Seal(data).extents}
        holds(len(starts) > 120 and set(starts.values()) <= data_starts, str(starts))
        places = set(range(0, len(data), step)) | {len(data) - 1 - i for i in range(64)}
        refused(data, [(at, data[at] ^ 1 << at % 8) for at in sorted(places)])


def dataset(name):
    """How a message calls a dataset."""
    group, *rest = name.split('/')
    return 'table ' + '.'.join(rest) if group == 'analysis' else 'column /' + name


def test_a_fault_names_its_dataset_and_is_the_only_one():
    for step, options in ((1, ()), (4, ('--no-compress',))):
        data = store(*options)
        starts = list(first_bytes_of_datasets('tmerge.h5').items())[::step]
        equal(refused(data, [(at, data[at] ^ 16) for _, at in starts]),
              [f'the store is damaged: {dataset(name)} cannot be read' for name, _ in starts])


def test_show_prints_what_is_right_or_nothing():
    for options in ((), ('--no-compress',)):
        data = store(*options)
        good = tmerge('show', 'tmerge.h5', '--json').expect(0).out
        starts = first_bytes_of_datasets('tmerge.h5')
        read = {at for name, at in starts.items() if name.startswith('analysis/')}
        places = set(range(0, len(data), 6007)) | read | set(list(starts.values())[::9])
        shown = 0
        for at in places:
            poke('tmerge.h5', at, data[at] ^ 2)
            done = tmerge('show', 'tmerge.h5', '--json')
            if done.status == 0 and at not in read:
                equal(done.out, good, f'byte {at}')
                shown += 1
            else:
                done.expect(3)
                equal((done.out, len(done.errors)), ('', 1), done.err)
            poke('tmerge.h5', at, data[at])
        holds(0 < shown < len(places) / 2, f'{shown} of {len(places)}')


def test_a_store_that_is_cut_short_or_longer_is_refused():
    data = store()
    end = Seal(data).content
    cuts = [0, 1, 7, 8, 47, 48, *range(49, len(data), 9973), end - 1, end, end + 1,
            *range(len(data) - 100, len(data))]
    stores = {put(f'cut{cut}.h5', data[:cut]): 'not a tmerge store' if cut < 8 else
              'the file is damaged: it was cut short' if 48 <= cut < end else OTHER for cut in cuts}
    done = tmerge('check', *stores).expect(3)
    equal((done.out, done.errors), ('', [f'tmerge: {name}: {why}' for name, why in stores.items()]))
    for name, why in stores.items():
        tmerge('show', name).fails(3, f'{name}: {why}')
    for more in (b'\0', b'x', b'\0' * 4096, data[-40:], data):
        put('longer.h5', data + more)
        done = tmerge('check', 'longer.h5').expect(3)
        equal((len(done.errors), done.out), (1, ''))
    put('zeros.h5', data[:8] + b'\0' * (len(data) - 8))
    tmerge('check', 'zeros.h5').fails(3, f'zeros.h5: {OTHER}')


def test_bytes_that_moved_are_found():
    """Sums of each part are right where parts change places or come from another store."""
    data = store()
    plain = store('--no-compress')
    first, second = [e for e in Seal(plain).extents if e[1] == 16][:2]
    swapped = bytearray(plain)
    for a, b in ((first, second), (second, first)):
        swapped[a[0]:a[0] + 16] = plain[b[0]:b[0] + 16]
    if swapped != plain:
        put('swapped.h5', bytes(swapped))
        tmerge('check', 'swapped.h5').expect(3)
    put('mixed.h5', data[:Seal(data).content] + plain[Seal(plain).content:])
    tmerge('check', 'mixed.h5').expect(3)
    zeros = bytearray(data)
    offset, size, _ = max(Seal(data).extents, key=lambda e: e[1])
    zeros[offset:offset + size] = bytes(size)
    put('zeros.h5', bytes(zeros))
    tmerge('check', 'zeros.h5').expect(3)


def test_another_hdf5_file_is_no_store():
    with h5py.File('other.h5', 'w') as file:
        file['events/begin_ns'] = [1, 2, 3]
    with h5py.File('claims.h5', 'w') as file:
        file.attrs['format'] = 'tmerge'
        file.attrs['schema_major'] = 1
    for name in ('other.h5', 'claims.h5'):
        for command in ('check', 'show'):
            tmerge(command, name).fails(3, f'{name}: {OTHER}')


def retype(file):
    values = file['events/step'][()]
    del file['events/step']
    file['events/step'] = values.astype('i8')


def shorten(file):
    values = file['events/duration_ns'][()]
    del file['events/duration_ns']
    file['events/duration_ns'] = values[:-1]


def forget_words(file):
    values, unit = file['events/kind'][()], file['events/kind'].attrs['unit']
    del file['events/kind']
    file['events/kind'] = values.astype('u1')
    file['events/kind'].attrs['unit'] = unit


def remove(file):
    del file['copies/bytes']


def change_unit(file):
    file['spans/end_ns'].attrs['unit'] = 'us'


def change_names(file):
    offsets = file['names/offsets']
    values = offsets[()]
    values[2] = values[1] - 1
    offsets[()] = values


def rename_format(file):
    file.attrs['format'] = 'other'


def test_a_store_that_h5py_changed_is_refused_with_and_without_a_new_seal():
    """With a seal of its own it is what it claims to be, but not what the schema says."""
    data = store('--no-compress')
    for change, message in (
            (retype, "the store's column /events/step has an unexpected type"),
            (shorten, f'/events/duration_ns has {datasets("tmerge.h5")["events/name"] - 1} rows, '
                      f'its table {datasets("tmerge.h5")["events/name"]}'),
            (forget_words, '/events/kind has an unexpected type'),
            (remove, 'the store has no column /copies/bytes'),
            (change_unit, "/spans/end_ns has not the unit 'ns'"),
            (change_names, 'the store is damaged: /names/offsets is not ascending'),
            (rename_format, 'not a tmerge store')):
        put('changed.h5', data)
        with h5py.File('changed.h5', 'r+') as file:
            change(file)
        tmerge('check', 'changed.h5').fails(3, f'changed.h5: {OTHER}')
        seal('changed.h5')
        tmerge('check', 'changed.h5').fails(3, f'changed.h5: {message}')


def test_other_programs_read_a_store_past_its_seal():
    store()
    shutil.copy('tmerge.h5', 'before.h5')
    for command in (['h5ls', '-r'], ['h5dump', '-H'], ['h5stat'], ['h5repack', '-n']):
        if command[0] == 'h5repack':
            done = run(['h5repack', 'tmerge.h5', 'repacked.h5']).expect(0)
        else:
            done = run([*command, 'tmerge.h5']).expect(0)
        equal(done.err, '', ' '.join(command))
    holds(datasets('repacked.h5') == datasets('tmerge.h5'), 'datasets of a copy')
    tmerge('check', 'repacked.h5').fails(3, f'repacked.h5: {OTHER}')
    equal(content('before.h5'), content('tmerge.h5'))
    tmerge('check', 'tmerge.h5').expect(0)
    equal(tables('tmerge.h5'), tables('before.h5'))


main()
