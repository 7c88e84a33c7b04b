"""Traces on the disks of the hosts: visible on every host, one of them or none."""
import os

import common_multi
from common import TMERGE, contains, content, equal, in_turn, main, merged, run, same_bytes, some, synth

HOSTS = common_multi.up('netns.sh', ('ip', 'unshare', 'nsenter'))
LOCAL = '/mnt/local/traces'
THREE = 'h1:2,h2:2,h3:2'


def host(name, *command):
    """Returns the output of a shell on a host."""
    return run([HOSTS, 'exec', name, 'sh', '-c', ' '.join(command)]).expect(0).out


def job(*arguments, hosts=THREE):
    """Runs tmerge on the hosts, two processes each."""
    n = sum(int(one.split(':')[1]) for one in hosts.split(','))
    progress = ['--progress=never'] if arguments[0] in ('merge', 'analyze') else []
    return run([HOSTS, 'mpirun', '-n', str(n), '--host', hosts, TMERGE, *arguments, *progress])


def spread(*of_hosts):
    """Copies these traces of the job of six ranks to the disk of each host, with their times."""
    for number, ranks in enumerate(of_hosts, 1):
        host(f'h{number}', f'rm -rf {LOCAL}; mkdir -p {LOCAL};',
             *(f'cp -p job/profile_rank_{rank}.json {LOCAL};' for rank in ranks))


def one_host():
    """Makes the store of the whole job on one host that has all traces."""
    host('h1', f'mkdir -p /mnt/local/all {LOCAL}; cp -p job/profile_rank_* /mnt/local/all;',
         f'mount --bind /mnt/local/all {LOCAL};',
         f'{TMERGE} merge {LOCAL} -o one.h5 --no-html >one.out; umount {LOCAL}')


def test_each_host_reads_what_it_has():
    synth('job', ranks=6, steps=2, ranks_per_host=2)
    one_host()
    for title, of_hosts, hosts in some((
            ('disjoint', ((0, 1), (2, 3), (4, 5)), THREE),
            ('uneven, and a host without any', ((0, 5), (1, 2, 3, 4), ()), THREE),
            ('copies of one file on several', ((0, 1, 2), (1, 2, 3), (3, 4, 5, 0)), THREE),
            ('all on all', (range(6), range(6), range(6)), THREE),
            ('a process each', ((0, 1), (2, 3), (4, 5)), 'h1:1,h2:1,h3:1'),
            ('more hosts than files', ((0, 1, 2, 3, 4, 5), (), ()), 'h1:1,h2:1,h3:1'))):
        spread(*of_hosts)
        for operand in in_turn(LOCAL, f'{LOCAL}/profile_rank_*'):
            done = job('merge', operand, '-o', 'many.h5', '--force', '--no-html', hosts=hosts)
            equal((done.expect(0).ours, title), ([], title))
            # The command in the store has another operand.
            if operand == LOCAL:
                same_bytes('one.h5', 'many.h5')


def test_one_name_of_several_files_is_several_files():
    synth('job', ranks=6, steps=2, ranks_per_host=2)
    for number in (1, 2, 3):
        host(f'h{number}', f'rm -rf {LOCAL}; mkdir -p {LOCAL};',
             f'cp job/profile_rank_{number}.json {LOCAL}/trace.json')
    done = job('merge', f'{LOCAL}/trace.json', '-o', 'many.h5', '--force', '--no-html').expect(0)
    contains(done.out, '3 ranks on ')
    host('h2', f'cp job/profile_rank_1.json {LOCAL}/trace.json') # a second file of rank 1
    done = job('merge', LOCAL, '-o', 'none.h5', '--no-html').expect(3)
    contains(done.err, 'rank 1 has traces on several hosts, and no host sees all of them')
    equal(host('h1', 'ls none.h5 2>&1 || true').count('No such'), 1)


def test_what_is_missing_is_said_first_and_errors_name_the_host():
    synth('job', ranks=6, steps=2, ranks_per_host=2)
    spread((0, 1), (2, 3), (4, 5))
    only_h1 = [f'{LOCAL}/profile_rank_{rank}.json' for rank in (0, 1)]
    done = job('merge', *only_h1, '-o', 'two.h5', '--force', '--no-html').expect(0)
    contains(done.err, '2 of 6 ranks are read, but 2 of 3 hosts (h2, ...) see none of these traces')
    host('h2', f'head -c 40 job/profile_rank_3.json > {LOCAL}/profile_rank_3.json;',
         f'printf "}}" >> {LOCAL}/profile_rank_3.json')
    contains(job('merge', LOCAL, '-o', 'none.h5', '--no-html').expect(3).err, '(on h2)')
    contains(job('merge', '/mnt/local/nothing').expect(3).err,
          'tmerge: /mnt/local/nothing: No such file or directory\n')


def test_networks_of_one_host_are_left_out():
    """Docker's bridge has the same address on every host."""
    synth('job', ranks=6, steps=2, ranks_per_host=2)
    for name in ('h1', 'h2', 'h3'):
        host(name, 'ip link add docker0 type bridge; ip addr add 172.17.0.1/16 dev docker0;',
             'ip link set docker0 up')
    job('merge', 'job', '-o', 'a.h5', '--force', '--no-html').expect(0)
    for name in ('h1', 'h2', 'h3'):
        host(name, 'ip link del docker0')


def test_a_store_has_to_be_one_file():
    synth('job', ranks=6, steps=2, ranks_per_host=2)
    job('merge', 'job', '-o', 'a.h5', '--force', '--no-html').expect(0)
    for name in ('h1', 'h2', 'h3'):
        host(name, 'cp -p a.h5 /mnt/local/a.h5')
    job('analyze', '/mnt/local/a.h5', '-o', 'b.h5', '--force').expect(0)
    host('h3', 'touch /mnt/local/a.h5')
    done = job('analyze', '/mnt/local/a.h5', '-o', 'c.h5').expect(3)
    contains(done.err, "this file differs from the file on the first process's host")
    contains(done.err, '(on h3)')
    # One process reads and writes for these, so no mixture is possible.
    synth('other', ranks=2, steps=3)
    merged('other', '-o', 'other.h5')
    host('h3', 'cp other.h5 /mnt/local/a.h5')
    report = [] if os.environ.get('TMERGE_REPORT') == 'OFF' else [['report', '-o', 'x.html']]
    for command in some((*report, ['export', '--format=chrome', '-o', 'x.json'], ['show'], ['check'],
                         ['diff', 'a.h5'])):
        arguments = [command[0], '/mnt/local/a.h5', *command[1:]]
        alone = run([HOSTS, 'exec', 'h1', TMERGE, *arguments]).expect(0)
        written = content(command[-1]) if '-o' in command else b''
        equal((job(*arguments).expect(0).out, command), (alone.out, command))
        equal(content(command[-1]) if '-o' in command else b'', written, command)
    host('h3', 'rm /mnt/local/a.h5')
    contains(job('analyze', '/mnt/local/a.h5', '-o', 'c.h5').expect(3).err, 'or directory (on h3)')


main()
