"""tmerge serve: the page is served only to clients that know its address. tests/web/serve.test.mjs
tests its drawing in a browser."""
import concurrent.futures
import contextlib
import os
import json
import re
import signal
import socket
import statistics
import subprocess
import time
from urllib.parse import quote

import jobs
from common import (command, contains, content, equal, files, holds, kernel, lacks, main, merged,
                    put, seldom, split_page, synth, tables, tmerge, trace)
from perfetto_trace import decode
from varints import COLUMNS, Varints, details_of, events_of

NAMED = re.compile(r'Serving (\S+) at\n  (http://([\d.]+):(\d+)/([0-9a-f]{32})/)\n(.*)\n')


class Server:
    """A running server."""

    def __init__(self, process):
        self.process = process
        self.said = ''.join(process.stdout.readline() for _ in range(3))
        found = NAMED.fullmatch(self.said)
        holds(found, f'what it says: {self.said!r}')
        self.store, self.url, self.address, port, self.token, self.whom = found.groups()
        self.port = int(port)

    def asks(self, head, patience=10):
        """Sends bytes and returns the answer until the connection is closed or silent."""
        with socket.create_connection((self.address, self.port), timeout=patience) as s:
            with contextlib.suppress(OSError):  # a server need not read what it has rejected
                s.sendall(head)
            got = b''
            with contextlib.suppress(OSError):
                while part := s.recv(1 << 20):
                    got += part
            return got

    def get(self, path='', method='GET', version='1.1', body=b'', **headers):
        """Returns (status, headers, body) for a path after the token, or absolute with a slash."""
        target = path if path.startswith('/') else f'/{self.token}/{path}'
        lines = [f'{method} {target} HTTP/{version}']
        hosts = headers.pop('hosts', [f'{self.address}:{self.port}'])
        lines += [f'Host: {host}' for host in hosts] + ['Connection: close']
        lines += [f'{name.replace("_", "-")}: {value}' for name, value in headers.items()]
        got = self.asks('\r\n'.join([*lines, '', '']).encode() + body)
        head, _, rest = got.partition(b'\r\n\r\n')
        status, *lines = head.decode('latin-1').split('\r\n')
        found = dict(line.split(': ', 1) for line in lines)
        return int(status.split()[1]) if status else 0, found, rest


@contextlib.contextmanager
def served(*arguments):
    with subprocess.Popen(command('serve', *arguments), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def tile_of(data):
    """Returns of a tile: ({place: (gpu, host, width, begin, shares by sub-track)}, events as
    (place, begin, duration, name), details of events)."""
    tile, ranks = Varints(data), {}
    equal(tile.number(), 2, 'version')
    for place in range(tile.number()):
        flags, n = tile.numbers(2)
        width, begin = (1 << tile.number(), tile.signed()) if n else (0, 0)
        ranks[place] = (flags & 1, flags >> 1, width, begin, [tile.bytes(n) for _ in range(5)])
    names = [tile.text() for _ in range(tile.number())]
    n_events = tile.number()
    columns, details = (tile.bytes(tile.number()) for _ in range(2))
    equal(tile.at, len(data), 'nothing behind')
    found = [event[:4] for event in events_of(columns, names)]
    equal(len(found), n_events, 'number of events')
    by_place = [[event[1:] for event in found if event[0] == place] for place in ranks]
    reported = {place: {column: {} for column in COLUMNS} for place in ranks}
    for place, event, column, value in details_of(details, by_place, names):
        reported[place][column][event] = value
    return ranks, sorted(found), reported


def made():
    """Returns the store of a job of two hosts, made once; its begin and duration; and its events
    with times from its begin and the kinds of the page."""
    if not os.path.exists('../made.h5'):
        synth('../made', ranks=4, ranks_per_host=2, steps=8, layers=6, offset_us=500, cpu_ops=2,
              slow_rank=2)
        merged('../made', '-o', '../made.h5')
    job = tables('../made.h5', 'job.job')['job.job'][0]
    asked = ("SELECT * FROM events WHERE kind = 'duration' AND category <> 'trace' "
             'ORDER BY rank, event')
    found = json.loads(tmerge('query', '../made.h5', asked, '--json').expect(0).out)
    rows = found['tables']['query']['rows']
    for row in rows:
        row['begin_ns'] -= job['begin_ns']
        row['what'] = kind_of(row)
    return '../made.h5', job['begin_ns'], job['duration_ns'], rows


def small_store():
    put('rank0.json', trace([kernel('gemm', 120, 50.5), kernel('relu', 200, 1)], 0))
    merged('rank0.json', '-o', 'job.h5')


def test_the_page_is_that_of_the_file_but_for_what_it_may_ask():
    small_store()
    tmerge('report', 'job.h5').expect(0)
    with served('job.h5') as server:
        equal((server.store, server.address), ('job.h5', '127.0.0.1'))
        contains(server.whom, 'Only this machine can open it')
        status, headers, page = server.get()
        equal(status, 200)
        equal({name: headers[name] for name in
               ('Content-Type', 'Cache-Control', 'X-Content-Type-Options', 'Referrer-Policy',
                'Content-Security-Policy', 'Cross-Origin-Resource-Policy')},
              {'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store',
               'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
               'Content-Security-Policy': "frame-ancestors 'none'",
               'Cross-Origin-Resource-Policy': 'same-origin'})
        lacks('\n'.join(headers), 'Access-Control')
        before, tables, after = split_page(page.replace(b"; connect-src 'self'", b'', 1))
        holds((before, tables.replace(b'"served":"job.h5",', b'', 1), after) ==
              split_page(content('job.html')), 'the same bytes else')
        equal(server.get(method='HEAD')[0::2], (200, b''))


def test_what_is_no_request_of_its_own_page_is_refused():
    small_store()
    with served('job.h5') as s:
        own = f'127.0.0.1:{s.port}'
        wrong = ('0' if s.token[-1] != '0' else '1')
        table = [
            (404, dict(path='/')), (404, dict(path=f'/{s.token}')),
            (404, dict(path=f'/{s.token[:-1]}{wrong}/')), (404, dict(path=f'//{s.token}/')),
            (404, dict(path='../../etc/passwd')), (404, dict(path='..%2f..%2fetc/passwd')),
            (404, dict(path='job.h5')), (404, dict(path='%00')),
            (421, dict(hosts=[f'evil.example:{s.port}'])), (421, dict(hosts=[''])),
            (400, dict(hosts=[])), (400, dict(hosts=[own, 'evil.example'])),
            (400, dict(hosts=[], version='1.0')),
            (200, dict(hosts=['localhost:8080'])), (200, dict(Origin=f'http://{own}')),
            (403, dict(Origin='null')), (403, dict(Origin=f'http://{own}.evil')),
            (405, dict(method='POST', Content_Length=3, body=b'abc')),
            (405, dict(method='PUT', Content_Length=10**18)), (405, dict(method='X' * 100)),
            (404, dict(method='POST', path='/', Content_Length=3, body=b'abc')),
            (414, dict(path='a' * 100000)), (431, dict(X='b' * 100000)),
            (200, dict(Range='bytes=0-1,5-99999999999999999999')),
        ]
        for status, request in table:
            found = s.get(**request)
            equal(found[0], status, str(request)[:200])
            holds(status == 200 or b'tmerge' not in found[2], 'a refusal says nothing')
        for raw in (b'\0' * 1000, b'GET\r\n\r\n', b'\r\n' * 5000 + b'\r\n', b'GET / HTTP/9.9\r\n\r\n',
                    b'GET ' + s.url.encode() + b' HTTP/1.1\r\nTransfer-Encoding: chunked\r\n'
                    b'Host: ' + own.encode() + b'\r\n\r\nffffffffffffffff\r\nxx'):
            lacks(s.asks(raw, patience=1).decode('latin-1'), '200 OK')
        equal(s.get()[0], 200, 'it still serves')


@seldom
def test_a_tile_has_the_events_and_the_shares_of_its_window():
    store, begin, duration, rows = made()
    rows = [tuple(row[key] for key in ('rank', 'begin_ns', 'duration_ns', 'name', 'role', 'track',
                                       'event', 'launch')) for row in rows]
    calls = {(rank, event): (at, lasts, name) for rank, at, lasts, name, _, _, event, _ in rows}
    with served(store) as s:
        for first, last in ((0, 1), (0, 10), (0.3, 0.31), (0.5, 0.5001), (0.99, 1.5)):
            start, end = int(first * duration), int(last * duration) + 1
            status, headers, data = s.get(f'tile?from={start}&to={end}&ranks=0,1,3&hosts=1')
            equal((status, headers['Content-Type']), (200, 'application/octet-stream'))
            ranks, found, reported = tile_of(data)
            places = {0: 0, 1: 1, 3: 2}
            # Host events of rank 1 begin with the first call that launched work in it.
            sent = [calls[rank, launch][0] for rank, at, lasts, *_, track, _, launch in rows
                    if rank == 1 and track == 'gpu' and (rank, launch) in calls and at < end and
                    (at + lasts > start or at >= start)]
            expected = sorted((places[rank], at, lasts, name) for rank, at, lasts, name, _, track,
                              _, _ in rows if rank in places and at < end and
                              (track == 'gpu' or rank == 1) and
                              max(at + lasts, at + 1) > (start if track == 'gpu' else
                                                         min([start, *sent])))
            equal(found, expected, f'{start} to {end}')
            equal([ranks[place][:2] for place in range(3)], [(1, 0), (1, 1), (1, 0)])
            there = set(found)
            equal(reported[1]['launch'],
                  {(at, lasts, name): calls[1, launch] for rank, at, lasts, name, _, _, _, launch
                   in rows if (rank, launch) in calls and rank == 1 and
                   {(1, at, lasts, name), (1, *calls[1, launch])} <= there}, 'launches')
            equal((reported[0]['launch'], reported[2]['launch']), ({}, {}), 'no host, no launches')
            holds(first > 0 or len(reported[2]['shape']) > 50, 'shapes')
            for rank, place in places.items():
                # Two compute kernels never overlap here: the share of a bucket is a sum.
                _, _, width, at, shares = ranks[place]
                holds(at <= start < at + width and (begin + at) % width == 0, 'the first bucket')
                holds(at + width * len(shares[0]) >= end, 'the last bucket')
                for i, share in enumerate(shares[0]):
                    low, high = at + i * width, at + (i + 1) * width
                    busy = sum(max(0, min(high, b + d) - max(low, b)) for r, b, d, _, role, *_ in rows
                               if r == rank and role == 'compute')
                    holds(abs(share - 255 * busy / width) <= 0.51 or (share == 1 and busy > 0),
                          f'rank {rank}, bucket {i}: {share}, {busy} of {width} ns')


def without_numbers(path):
    """Returns the packets of a Perfetto trace with each flow numbered by what it joins, and without
    the ranks' trace metadata, which a server does not read."""
    packets, numbers = decode(path), {}
    for packet in packets:
        for track in packet.get('track_descriptor', []):
            track.pop('tmerge_9002', None)
        for event in packet.get('track_event', []):
            event['flow_ids'] = [numbers.setdefault(flow, len(numbers))
                                 for flow in event.get('flow_ids', [])]
    return packets


def test_a_window_for_perfetto_is_that_of_the_export():
    store, *_ = made()
    with served(store) as s:
        for start, end, ranks, least in ((0, 3_000_000_000, '1', 2000),
                                         (20_000_000, 24_000_000, '1,3', 100),
                                         (10_000_000, 10_000_001, '2', 3)):
            tmerge('export', store, '-o', 'export', '--force', '--rank', ranks, '--from',
                   f'{start / 1e9:.9f}', '--to', f'{end / 1e9:.9f}').expect(0)
            status, headers, window = s.get(f'trace?from={start}&to={end}&ranks={ranks}')
            equal((status, headers['Content-Type']), (200, 'application/octet-stream'))
            with open('window', 'wb') as file:
                file.write(window)
            found = without_numbers('window')
            holds(len(found) > least, f'{len(found)} packets')
            holds(found == without_numbers('export'), f'{start} to {end}')


def test_rows_of_a_table_are_those_that_show_prints():
    store = jobs.store('long')
    begin = tables(store, 'job.job')['job.job'][0]['begin_ns']
    with served(store) as s:
        for name in ('overlap.step', 'kernels.kernel', 'collectives.worst', 'job.rank'):
            expected = [[value - begin if key in ('begin_ns', 'end_ns') else value
                         for key, value in row.items()] for row in tables(store, name)[name]]
            for first, n in ((0, 16384), (0, 3), (7, 50), (len(expected), 5), (10**9, 1)):
                status, headers, rows = s.get(f'rows?table={name}&first={first}&n={n}')
                equal((status, headers['Content-Type']), (200, 'application/json'))
                equal([list(row) for row in zip(*json.loads(rows))], expected[first:first + n],
                      f'{name} from {first}')


def test_a_statement_is_answered_as_tmerge_query_does():
    store, *_ = made()
    with served(store) as s:
        for text in ('SELECT rank, count(*) AS n, avg(duration_ns) FROM events GROUP BY rank',
                     "SELECT 'a''%/\u00e9' AS x, NULL AS y FROM job.rank", 'SELECT 1 AS x WHERE 0'):
            status, headers, found = s.get('sql?text=' + quote(text))
            equal((status, headers['Content-Type']), (200, 'application/json'))
            found = json.loads(found)
            expected = json.loads(tmerge('query', store, text, '--json').expect(0).out)
            equal([list(row) for row in zip(*found['cells'])],
                  [list(row.values()) for row in expected['tables']['query']['rows']], text)
            lacks(found, 'more')
        # More cells than a query keeps: the first 4,096 rows.
        text = 'WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c LIMIT 300000) SELECT x FROM c'
        found = json.loads(s.get('sql?text=' + quote(text))[2])
        equal((found['cells'], found['more']), ([[*range(1, 4097)]], True))


def test_other_requests_are_answered_while_statements_run():
    store, *_ = made()
    text = 'WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c LIMIT 5000000) SELECT max(x) FROM c'
    with served(store) as s, concurrent.futures.ThreadPoolExecutor() as pool:
        statements = [pool.submit(s.get, 'sql?text=' + quote(text)) for _ in range(2)]
        time.sleep(0.3)  # until the first runs
        n = 0
        while not all(statement.done() for statement in statements):
            equal(s.get('names?first=0')[0], 200)
            n += 1
        equal([json.loads(statement.result()[2])['cells'] for statement in statements], [[[5000000]]] * 2)
        holds(n > 5, f'{n} requests')


def test_a_statement_ends_when_its_client_leaves():
    store, *_ = made()
    endless = 'WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c'
    with served(store) as s:
        head = f'GET /{s.token}/sql?text={quote(endless)} HTTP/1.1\r\nHost: {s.address}:{s.port}\r\n\r\n'
        equal(s.asks(head.encode(), patience=1), b'')
        began = time.monotonic()
        equal(json.loads(s.get('sql?text=SELECT%201%20AS%20x')[2])['cells'], [[1]])
        # If it ran on, it would take its limit of 10 s of processor time.
        holds(time.monotonic() - began < 5, f'{time.monotonic() - began:.1f} s')


# Each query is answered with 400 and one line. The unit test covers invalid values.
REFUSED = {
    'tile': ('', 'to=9&ranks=0&hosts=', 'from=0&ranks=0&hosts=', 'from=0&to=9&hosts=',
             'from=0&to=9&ranks=0', 'from=9&to=9&ranks=0&hosts=', 'from=-1&to=9&ranks=0&hosts=',
             f'from=0&to={2**53}&ranks=0&hosts=', 'from=%30&to=9&ranks=0&hosts=',
             'from=0&to=9&ranks=&hosts=', 'from=0&to=9&ranks=1&hosts=', 'from=0&to=9&ranks=0&hosts=x',
             'from=0&to=9&ranks=../0&hosts='),
    'operation': ('', 'rank=0', 'begin=0', 'rank=9&begin=0', 'rank=x&begin=0', 'rank=0&begin=-1'),
    'trace': ('from=0&to=1&ranks=', 'from=0&to=1&ranks=4', 'from=1&to=1&ranks=0', 'ranks=0'),
    'rows': ('table=none.such&first=0&n=1', 'table=job.rank&first=-1&n=1', 'first=0&n=1',
             'table=job.rank&first=0&n=0', 'table=job.rank&first=0&n=16385',
             'table=job.rank&first=0', 'table=../ranks&first=0&n=1'),
    'names': ('', 'first=', 'first=-1'),
    'find': ('', 'ranks=&kinds=', 'names=&ranks=&kinds=', 'names=9-0&ranks=&kinds=',
             'names=0-9&kinds=', 'names=0-9&ranks=-1&kinds=', 'names=0-9&ranks=&kinds=99',
             'names=0-9&ranks=&kinds=x', *(f'names=0-9&ranks=&kinds=&{more}' for more in (
                 'above=-1', 'below=x', 'longer=1.5', 'at=-1', f'at={2**53}', 'gpu=x', 'host='))),
    'area': ('', 'from=1&to=1&ranks=', 'from=0&to=9&ranks=x', 'from=0&to=9&ranks=&at=-1'),
    'same': ('', 'rank=0&begin=0', 'rank=9&begin=0&duration=0', 'rank=0&begin=-1&duration=0'),
    'slow': ('', 'from=2&to=1&ranks=', 'from=0&to=9&ranks=2,1'),
    'sql': ('', 'text=', 'text=SELECT%201%', 'text=SELECT%201%0', 'text=%+1', 'text=SELECT%201%00',
            'text=DELETE%20FROM%20job_job', 'text=SELECT%20*%20FROM%20none'),
    'counter': ('', 'what=memory&from=0&to=9&n=9&ranks=', 'what=queue&from=0&to=9&n=16385&ranks='),
}


def test_what_is_no_question_is_refused():
    small_store()
    with served('job.h5') as s:
        for what, queries in REFUSED.items():
            for query in queries:
                status, _, text = s.get(f'{what}?{query}')
                equal((status, text.count(b'\n')), (400, 1), f'{what}?{query}')
        for query in ('to=1000&ranks=0', f'to={2**53 - 1}&ranks=0'):
            equal(s.get(f'tile?from=0&{query}&hosts=')[0], 200, query)
        equal(s.get('operation?rank=0&begin=1')[::2], (200, b'\0\1\0\0\0'),
              'no kernel that was matched begins then')


KIND_OF = {'compute': 0, 'memory': 4, 'cpu_op': 6, 'user_annotation': 7, 'python': 8,
           'cuda_runtime': 9, 'cuda_driver': 9}


def kind_of(row):
    """Returns the kind of an event, numbered as in tools/web/src/timeline/model.ts."""
    if row['role'] == 'communication':
        return 3 if row['wait_ns'] is None else 1
    if row['track'] == 'gpu':
        return KIND_OF.get(row['role'], 5)
    return KIND_OF.get(row['category'], 10)


def sums_of(rows):
    """Returns a search's figures for rows: by kind the number, sum and longest, and for GPU
    annotations and the host the coverage of each track."""
    kinds, covered, ends = {}, [0, 0], {}
    for row in rows:
        kind, begin, duration = row['what'], row['begin_ns'], row['duration_ns']
        n, total, longest = kinds.get(kind, (0, 0, 0))
        kinds[kind] = (n + 1, total + duration, max(longest, duration))
        if kind >= 5:
            key = (row['rank'], row['device'], row['stream'], row['thread'], kind > 5)
            end, last = begin + duration, ends.get(key, 0)
            covered[kind > 5] += max(0, end - max(begin, last))
            ends[key] = max(end, last)
    return [[kind, *kinds[kind]] for kind in sorted(kinds)], covered


def test_a_search_finds_what_the_store_has():
    store, _, _, rows = made()
    with served(store) as s:
        names = json.loads(s.get('names?first=0')[2])
        equal(names['next'], None)
        ids = {text: number for number, text, _ in names['names']}
        holds(len(ids) > 10 and {row['name'] for row in rows} <= set(ids), 'names')
        some = sorted({row['name'] for row in rows})[::3]
        middle = sorted(row['duration_ns'] for row in rows)[len(rows) // 2]
        everything = f'0-{max(ids.values())}'
        for query, fits in (
                (f'names={everything}', lambda row: True),
                (f'names={",".join(map(str, sorted(ids[name] for name in some)))}',
                 lambda row: row['name'] in some),
                (f'names={everything}&ranks=1-2&above={middle}',
                 lambda row: row['rank'] in (1, 2) and row['duration_ns'] > middle),
                (f'names={everything}&kinds=0,5-7&below={middle}',
                 lambda row: row['what'] in (0, 5, 6, 7) and row['duration_ns'] < middle)):
            query = query if 'ranks' in query else query + '&ranks='
            query = query if 'kinds' in query else query + '&kinds='
            expected = [row for row in rows if fits(row)]
            holds(len(expected) > 100, f'{len(expected)} of {query}')
            found = json.loads(s.get(f'find?{query}')[2])
            equal(found['next'], None)
            equal((found['kinds'], found['once']), sums_of(expected), query)
            longest = sorted(expected, key=lambda row: (
                -row['duration_ns'], row['rank'], row['begin_ns'], ids[row['name']],
                row['what']))[:8192]
            equal(found['events'],
                  [[row['rank'], row['begin_ns'], row['duration_ns'], ids[row['name']],
                    row['what']] for row in longest], query)
            least = longest[20]['duration_ns']
            few = json.loads(s.get(f'find?{query}&longer={least}')[2])
            equal(few['kinds'], found['kinds'])
            equal(few['events'], [e for e in found['events'] if e[2] > least], 'the longer ones')
        # Next part: a thousand rows, some of them of the first rank, come before it.
        rest = [row for row in rows if row['rank'] > 0 or row['event'] >= 1024]
        holds(rest[0]['rank'] == 0 and len(rest) < len(rows), 'the first rank has more')
        far = json.loads(s.get(f'find?names={everything}&ranks=&kinds=&at=1')[2])
        equal(far['kinds'], sums_of(rest)[0], 'from the second block on')
        end = json.loads(s.get(f'find?names={everything}&ranks=&kinds=&at={far["of"]}')[2])
        equal((end['next'], end['kinds'], end['events']), (None, [], []))
        equal(json.loads(s.get(f'names?first={2**53 - 1}')[2]), {'names': [], 'next': None})
        equal(s.get(f'find?names=0-{2**53 - 1}&ranks=&kinds=&at={2**53 - 1}')[0], 200)


def test_who_is_slow_or_comes_often_does_not_keep_others_out():
    small_store()
    with served('job.h5') as s, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(socket.create_connection((s.address, s.port), timeout=30))
                 for _ in range(70)]
        for each in crowd:
            with contextlib.suppress(OSError):
                each.sendall(b'GET /')
        deadline = time.monotonic() + 40
        while s.get()[0] != 200:  # until those clients are disconnected
            holds(time.monotonic() < deadline, 'answered in the end')


def test_it_ends_by_a_signal_and_leaves_nothing():
    small_store()
    before = files()
    for number in (signal.SIGINT, signal.SIGTERM):
        with served('job.h5') as server:
            equal(server.get()[0], 200)
            os.kill(server.process.pid, number)
            equal(server.process.wait(timeout=20), -number)
            equal(server.process.stderr.read(), '')
        equal(files(), before)


def test_where_it_cannot_serve_is_said():
    small_store()
    with served('job.h5') as s:
        tmerge('serve', 'job.h5', '--port', s.port).fails(
            4, f'port {s.port} is in use; without --port a free one is used')
    usage = 'tmerge serve needs one store; see --help'
    for arguments, status, message in (
            ([], 2, usage), (['job.h5'], 2, usage),
            (['--port=65536'], 2, '--port takes a number up to 65535'),
            (['--address=0.0.0.0'], 2, '--address takes one address of this machine, not all of them'),
            (['--address=localhost'], 2, '--address takes an IPv4 address of this machine, such as '
             "127.0.0.1, not 'localhost'"),
            (['--address=192.0.2.1'], 4, 'cannot listen on address 192.0.2.1, port 0: Cannot '
             'assign requested address')):
        tmerge('serve', *(['job.h5'] if arguments else []), *arguments).fails(status, message)
    tmerge('serve', 'job.h5', n=2).expect(2)
    equal(tmerge('serve', 'none.h5').status, 3)
    with served('job.h5', '--address=127.0.0.2') as s:
        equal(s.address, '127.0.0.2')
        contains(s.whom, 'Nothing is encrypted')
        equal(s.get()[0], 200)


def sums_within(rows, begin, end, host):
    """Returns {(rank, name): (count, sum, self, longest)} of the parts of kernels and copies, or of
    operators, inside a time range; an operator's self excludes nested operators on its thread."""
    found, opened = {}, {}
    for row in rows:
        part = min(row['begin_ns'] + row['duration_ns'], end) - max(row['begin_ns'], begin)
        if part <= 0 or (row['what'] != 6 if host else row['what'] > 4):
            continue
        own = found.setdefault((row['rank'], row['name']), [0, 0, 0, 0])
        own[:] = own[0] + 1, own[1] + part, own[2] + part, max(own[3], part)
        outer = opened.setdefault((row['rank'], row['thread']), [])
        while outer and outer[-1][1] <= row['begin_ns']:
            outer.pop()
        if outer and host:
            outer[-1][0][2] -= part
        outer.append((own, row['begin_ns'] + row['duration_ns']))
    return {key: tuple(own) for key, own in found.items()}


def test_the_whole_store_tells_sums_of_an_area_and_where_else_a_kernel_ran():
    store, _, duration, rows = made()
    with served(store) as s:
        for begin, end, host, ranks, wanted in (
                (0, duration + 1, 0, '', (0, 1, 2, 3)),
                (0, 2**53 - 1, 1, '', (0, 1, 2, 3)),
                (20_000_000, 31_234_567, 0, '1-3', (1, 2, 3)),
                (20_000_000, 31_234_567, 1, '0,2', (0, 2))):
            query = f'from={begin}&to={end}&ranks={ranks}&host={host}'
            found = json.loads(s.get(f'area?{query}')[2])
            names = dict(found['names'])
            equal((found['next'], found['seen']), (None, len(wanted)), query)
            equal({(rank, names[name]): tuple(sums) for rank, name, _, *sums in found['sums']},
                  sums_within([row for row in rows if row['rank'] in wanted], begin, end, host),
                  query)
        equal(json.loads(s.get('area?from=0&to=1&ranks=&at=4')[2])['seen'], 0, 'behind the last')
        for host in (0, 1):
            of = [[row for row in rows if row['rank'] == rank and row['step'] == 5 and
                   row['what'] == (6 if host else 0)] for rank in range(4)]
            event = of[1][7]
            alike = [[row for row in each if row['name'] == event['name']] for each in of]
            own = [row for row in rows if (row['rank'], row['name'], row['what']) ==
                   (1, event['name'], event['what'])]
            place, index = alike[1].index(event), own.index(event)
            longest = max((row for each in alike for row in each),
                          key=lambda row: row['duration_ns'])
            durations = sorted(row['duration_ns'] for row in own)
            found = json.loads(s.get(f'same?rank=1&begin={event["begin_ns"]}&host={host}'
                                     f'&duration={event["duration_ns"]}')[2])
            equal((found['next'], found['step'], found['place'], found['times'], found['index'],
                   found['all']), (None, 5, place, len(alike[1]), index, len(own)))
            holds(durations[(len(own) - 1) // 2] <= found['median'] <= durations[len(own) // 2],
                  'the median')
            equal(found['peers'], [[rank, len(each), each[place]['begin_ns'],
                                    each[place]['duration_ns']]
                                   for rank, each in enumerate(alike) if rank != 1])
            equal(found['longest'], [longest['rank'], longest['begin_ns'], longest['duration_ns']])
            equal(found['after'], [own[index + 1]['begin_ns'], own[index + 1]['duration_ns']])
        equal(json.loads(s.get('same?rank=1&begin=1&duration=1')[2])['times'], 0, 'no such event')
        lists = {}
        for row in rows:
            if row['what'] in (0, 4):
                own = lists.setdefault((row['step'], row['name']), {})
                own.setdefault(row['rank'], []).append(row)
        wanted = {}
        for step, _ in lists:
            for rank, alike in lists[step, _].items():
                for place, row in enumerate(alike):
                    others = [each[place]['duration_ns'] for r, each in lists[step, _].items()
                              if r != rank and len(each) == len(alike)]
                    if step is not None and others and row['begin_ns'] < 31_234_567 and \
                            row['begin_ns'] + row['duration_ns'] >= 20_000_000 and rank > 0:
                        wanted[rank, row['begin_ns'], row['duration_ns']] = \
                            1e6 * row['duration_ns'] / statistics.median(others)
        found = slowness(s, 'from=20000000&to=31234567&ranks=1-3')
        equal(found.keys(), wanted.keys())
        holds(len(wanted) > 100 and all(abs(found[key] - each) <= 0.6 + each / 2**23
                                        for key, each in wanted.items()), 'against the others')
        begins = {(row['rank'], row['event']): row['begin_ns'] for row in rows}
        waits = [(row['rank'], begins[row['rank'], row['launch']], row['begin_ns'])
                 for row in rows if row['what'] <= 4 and row['launch'] is not None]
        for begin, end, n in ((0, duration, 100), (20_000_000, 20_100_000, 50)):
            edges = [begin + (end - begin) * i / n for i in range(n + 1)]
            for rank, most in counters(s, f'what=queue&from={begin}&to={end}&ranks=', n).items():
                own = [wait for wait in waits if wait[0] == rank]
                equal(most, [most_at_once(own, *edges[i:i + 2]) for i in range(n)], (rank, begin))
            holds(max(most) > 2, 'something waits')


def most_at_once(waits, begin, end):
    """Returns the maximum number of simultaneous waits (rank, from, to) in a time range."""
    inside = [wait for wait in waits if wait[1] < end and wait[2] > begin]
    moments = [begin] + [wait[1] for wait in inside if wait[1] > begin]
    return max(sum(a <= moment < b for _, a, b in inside) for moment in moments)


def counters(server, query, n):
    """Returns {rank: [maximum of each column]}."""
    found, at = {}, 0
    while at is not None:
        part = json.loads(server.get(f'counter?{query}&n={n}&at={at}')[2])
        for rank, *steps in part['ranks']:
            ends = [*steps[2::2], n]
            found[rank] = [most for column, most, end in zip(steps[::2], steps[1::2], ends,
                                                             strict=True)
                           for _ in range(column, end)]
        at = part['next']
    return found


def slowness(server, query):
    """Returns {(rank, begin, duration): millionths} from all parts of the answer of slow."""
    found, at = {}, 0
    while at is not None:
        part = json.loads(server.get(f'slow?{query}&at={at}')[2])
        equal(part['of'] >= part['seen'], True)
        for rank, *events in part['ranks']:
            for begin, duration, ratio in zip(*[iter(events)] * 3, strict=True):
                found[rank, begin, duration] = ratio
        at = part['next']
    return found


def test_a_kernel_is_compared_with_those_at_its_place():
    runs = [[10, 20], [20, 20], [40, 10], [20]]  # [us] of each rank; the last ran it only once
    for rank, own in enumerate(runs):
        put(f'job/rank_{rank}.json', trace([kernel('k', 100 * (i + 1), us)
                                            for i, us in enumerate(own)] +
                                           [kernel('alone', 400, 1)] * (rank == 1), rank, 4))
    merged('job', '-o', 'job.h5')
    with served('job.h5') as s:
        found = slowness(s, 'from=0&to=1000000&ranks=')
    # mean of the two others: 10 of (20, 40), 20 of (10, 40), 40 of (10, 20); then 20, 20, 10
    equal({key[0::2]: ratio for key, ratio in found.items() if key[1] < 100_000},
          {(0, 10_000): 333_333, (1, 20_000): 800_000, (2, 40_000): 2_666_667})
    equal([ratio for key, ratio in found.items() if key[1] >= 100_000], [1_333_333, 1_333_333, 500_000])


def test_bytes_move_from_the_last_arrival_on():
    nccl = {'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000,
            'Group size': 2, 'dtype': 'Float', 'Process Group Name': '0'}
    for rank, arrival in enumerate((100, 120)):
        put(f'job/rank_{rank}.json', trace([
            kernel('gemm', 0, 10),
            {**kernel('Memcpy HtoD', 20, 10, bytes=2000), 'cat': 'gpu_memcpy'},
            {**kernel('Memcpy HtoD', 25, 10, bytes=4000, stream=9), 'cat': 'gpu_memcpy', 'tid': 9},
            kernel('ncclDevKernel_AllReduce_Sum', arrival, 200 - arrival, **nccl)], rank, 2))
    merged('job', '--align=none', '-o', 'job.h5')
    with served('job.h5') as s:
        copies, collectives = (counters(s, f'what={what}&from=0&to=200000&ranks=1', 40)[1]
                               for what in ('copies', 'collectives'))
    # columns of 5 us: 0.2 B/ns from 20 to 30 us, 0.4 more from 25 to 35; 4000 B in 80 us from 120 on
    equal(copies, [0] * 4 + [0.2, 0.6, 0.4] + [0] * 33)
    equal(collectives, [0] * 24 + [0.05] * 16)


if __name__ == '__main__':
    main()
