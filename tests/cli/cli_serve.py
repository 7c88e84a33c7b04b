"""tmerge serve: the page to who was told its address, and nothing to anybody else. What it draws is
tried in a browser (tests/web/serve.test.mjs)."""
import contextlib
import os
import re
import signal
import socket
import subprocess
import time

from common import (BASE_NS, command, contains, content, equal, files, holds, kernel, lacks, main,
                    merged, put, tmerge, trace)

NAMED = re.compile(r'Serving (\S+) at\n  (http://([\d.]+):(\d+)/([0-9a-f]{32})/)\n(.*)\n')


class Server:
    """A server that runs."""

    def __init__(self, process):
        self.process = process
        self.said = ''.join(process.stdout.readline() for _ in range(3))
        found = NAMED.fullmatch(self.said)
        holds(found, f'what it says: {self.said!r}')
        self.store, self.url, self.address, port, self.token, self.whom = found.groups()
        self.port = int(port)

    def asks(self, head, patience=10):
        """Sends bytes and gives what comes back until the connection is closed, or is silent."""
        with socket.create_connection((self.address, self.port), timeout=patience) as s:
            with contextlib.suppress(OSError):  # a server need not read on what it has refused
                s.sendall(head)
            got = b''
            with contextlib.suppress(OSError):
                while part := s.recv(1 << 20):
                    got += part
            return got

    def get(self, path='', method='GET', version='1.1', body=b'', **headers):
        """(status, headers, body) of a request: path behind the token, or whole with a slash."""
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


def small_store():
    put('rank0.json', trace([kernel('gemm', 120, 50.5), kernel('relu', 200, 1)], 0))
    merged('rank0.json', '-o', 'job.h5')


def test_the_page_is_that_of_the_file_but_for_what_it_may_ask():
    small_store()
    tmerge('report', 'job.h5').expect(0)
    with served('job.h5') as server:
        equal((server.store, server.address), ('job.h5', '127.0.0.1'))
        contains(server.whom, 'to this machine alone')
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
        page = page.replace(b"; connect-src 'self'", b'', 1).replace(b'"served":"job.h5",', b'', 1)
        holds(page == content('job.html'), 'the same bytes else')
        equal(server.get(method='HEAD')[0::2], (200, b''))


def test_what_is_no_request_of_its_own_page_is_refused():
    small_store()
    with served('job.h5') as s:
        own = f'127.0.0.1:{s.port}'
        wrong = ('0' if s.token[-1] != '0' else '1')
        table = [
            (404, dict(path='/')), (404, dict(path=f'/{s.token}')),
            (404, dict(path=f'/{s.token[:-1]}{wrong}/')), (404, dict(path=f'/{"0" * 32}/')),
            (404, dict(path=f'/{s.token.upper()}x/')), (404, dict(path=f'//{s.token}/')),
            (404, dict(path='nothing')), (404, dict(path='../../etc/passwd')),
            (404, dict(path='..%2f..%2fetc/passwd')), (404, dict(path='job.h5')),
            (404, dict(path='%00')), (404, dict(path=f'/%{ord(s.token[0]):x}{s.token[1:]}/')),
            (421, dict(hosts=[f'evil.example:{s.port}'])), (421, dict(hosts=['127.0.0.1.evil'])),
            (421, dict(hosts=[own + 'x'])), (421, dict(hosts=['127.0.0.1:'])), (421, dict(hosts=[''])),
            (400, dict(hosts=[])), (400, dict(hosts=[own, 'evil.example'])),
            (400, dict(hosts=[], version='1.0')),
            (200, dict(hosts=['localhost:8080'])), (200, dict(hosts=['127.0.0.1'])),
            (200, dict(Origin=f'http://{own}')), (403, dict(Origin='null')),
            (403, dict(Origin='http://127.0.0.1')), (403, dict(Origin=f'https://{own}')),
            (403, dict(Origin='http://evil.example')), (403, dict(Origin=f'http://{own}.evil')),
            (405, dict(method='POST', Content_Length=3, body=b'abc')),
            (405, dict(method='PUT', Content_Length=10**18)), (405, dict(method='DELETE')),
            (405, dict(method='OPTIONS')), (405, dict(method='X' * 100)),
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


def test_who_is_slow_or_comes_often_does_not_keep_others_out():
    small_store()
    with served('job.h5') as s, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(socket.create_connection((s.address, s.port), timeout=30))
                 for _ in range(70)]
        for each in crowd:
            with contextlib.suppress(OSError):
                each.sendall(b'GET /')
        deadline = time.monotonic() + 40
        while s.get()[0] != 200:  # until those are sent away
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
            4, f'port {s.port} is in use; without --port a free one is taken')
    usage = 'tmerge serve needs one store; see --help'
    tmerge('serve').fails(2, usage)
    tmerge('serve', 'job.h5', 'job.h5').fails(2, usage)
    tmerge('serve', 'job.h5', '--port=65536').fails(2, '--port takes a number up to 65535')
    tmerge('serve', 'job.h5', '--address=0.0.0.0').fails(
        2, '--address takes one address of this machine, not all of them')
    tmerge('serve', 'job.h5', '--address=localhost').fails(
        2, "--address takes an IPv4 address of this machine, such as 127.0.0.1, not 'localhost'")
    tmerge('serve', 'job.h5', '--address=192.0.2.1').fails(
        4, 'address 192.0.2.1, port 0: cannot be listened to: Cannot assign requested address')
    tmerge('serve', 'job.h5', n=2).expect(2)
    equal(tmerge('serve', 'none.h5').status, 3)
    with served('job.h5', '--address=127.0.0.2') as s:
        equal(s.address, '127.0.0.2')
        contains(s.whom, 'nothing is encrypted')
        equal(s.get()[0], 200)


if __name__ == '__main__':
    main()
