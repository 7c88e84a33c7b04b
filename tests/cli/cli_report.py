"""The report page as a file: where and when it is written, and that it shows the store."""
import os
import re

from common import (FULL, command, contains, content, equal, files, holds, in_turn, lacks,
                    launcher, main, merged, put, small_trace, tmerge)
from jobs import use
from watching import on_small_disk
import h5py

FOREIGN = '<!doctype html><title>mine</title>'


def test_a_merge_writes_a_page_beside_its_store():
    use('three')
    for n in (0, 2, 4) if FULL else (0, 2):
        done = merged('job', n=n, page=True)
        contains(done.out, 'report in tmerge.html')
        equal(files(), ['job', 'tmerge.h5', 'tmerge.html'])
        os.rename('tmerge.html', f'../{n}.html')
        equal(content('../0.html'), content(f'../{n}.html'))
    merged('job', '-o', 'other.h5', page=True)
    merged('job', '-o', 'plain', '--html', 'page.htm', page=True)
    equal(files(), ['job', 'other.h5', 'other.html', 'page.htm', 'plain', 'tmerge.h5'])
    lacks(merged('job', '--no-html', page=True).out, 'report in')
    contains(tmerge('job', '--times', page=True).expect(0).err, ' reporting 0.')
    os.unlink('tmerge.html')
    equal(files(), ['job', 'other.h5', 'other.html', 'page.htm', 'plain', 'tmerge.h5'])


def test_a_report_of_a_store_is_the_page_that_the_merge_wrote():
    use('two')
    merged('job', page=True)
    os.rename('tmerge.html', 'merged.html')
    equal(tmerge('report', 'tmerge.h5').expect(0).out, 'Report in tmerge.html\n')
    equal(content('tmerge.html'), content('merged.html'))
    equal(tmerge('report', 'tmerge.h5', n=3).expect(0).out, 'Report in tmerge.html\n')
    equal(content('tmerge.html'), content('merged.html'))
    os.rename('tmerge.h5', 'elsewhere.store')
    tmerge('report', 'elsewhere.store', '-o', 'again.html').expect(0)
    equal(content('again.html'), content('merged.html'))


def test_the_page_names_no_address_of_the_web():
    put('rank0.json', small_trace(0))
    tmerge('rank0.json', page=True).expect(0)
    page = content('tmerge.html').decode()
    for attribute in re.findall(r'(?:src|href|action|url\()\s*=?\s*["\']?(?:https?:)?//', page):
        holds(False, attribute)
    holds(page.startswith('<!doctype html>'), page[:40])
    equal(len(re.findall(r'<script', page)), len(re.findall(r'</script>', page)))


def test_what_is_no_page_of_tmerge_is_not_overwritten():
    put('rank0.json', small_trace(0))
    put('tmerge.html', FOREIGN)
    message = 'tmerge.html: this file is not a page of tmerge; --force overwrites it'
    tmerge('rank0.json', n=2, page=True).fails(4, message)
    equal(files(), ['rank0.json', 'tmerge.html'])
    merged_with = tmerge('rank0.json', '--no-html', page=True).expect(0)
    lacks(merged_with.out, 'Report')
    tmerge('report', 'tmerge.h5').fails(4, message)
    equal(content('tmerge.html').decode(), FOREIGN)
    tmerge('report', 'tmerge.h5', '--force').expect(0)
    tmerge('report', 'tmerge.h5').expect(0)  # its own page is rewritten
    tmerge('rank0.json', page=True).expect(0)
    os.mkdir('folder.html')
    tmerge('report', 'tmerge.h5', '-o', 'folder.html').fails(4, 'folder.html: this is a folder')
    tmerge('report', 'tmerge.h5', '-o', 'no/page.html').fails(
        4, 'no/page.html: no file can be made in its folder: No such file or directory')


def test_wrong_usage_is_reported():
    put('rank0.json', small_trace(0))
    tmerge('rank0.json', '--html', 'a.html', '--no-html', page=True).fails(
        2, '--html and --no-html exclude each other')
    tmerge('rank0.json', '-o', 'one', '--html', 'one', page=True).fails(
        2, 'the store and its page have the same name: one')
    tmerge('report').fails(2, 'tmerge report needs one store; see --help')
    tmerge('report', 'rank0.json').fails(3, 'rank0.json: not a tmerge store')
    tmerge('report', 'a', 'b').fails(2, 'tmerge report needs one store; see --help')
    equal(files(), ['rank0.json'])


def test_a_page_that_cannot_be_written_leaves_the_store_and_is_reported():
    use('two')
    merged('job', '-o', 'good.h5')
    size = os.path.getsize('good.h5') // 1024 + 1
    for n in in_turn(0, 2):
        line = ' '.join(launcher(n) + command('job', '-o', 'disk/tmerge.h5', page=True))
        done = on_small_disk(f'{line}\nstatus=$?\nls -A disk\nexit $status\n', size + 40)
        done.expect(4)
        equal(done.errors,
              ['tmerge: disk/tmerge.html: cannot be written: No space left on device'])
        equal(done.out, 'tmerge.h5\n')


def test_a_damaged_store_gives_no_page():
    use('two')
    merged('job')
    with h5py.File('tmerge.h5') as store:
        at = store['analysis/overlap/rank'].id.get_offset()
    damaged = bytearray(content('tmerge.h5'))
    damaged[at] ^= 1
    put('bad.h5', bytes(damaged))
    done = tmerge('report', 'bad.h5').expect(3)
    equal(len(done.errors), 1)
    contains(done.errors[0], 'bad.h5')
    equal(files(), ['bad.h5', 'job', 'tmerge.h5'])


main()
