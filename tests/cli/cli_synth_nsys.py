"""The generator's Nsight Systems exports tell the same job as its Kineto traces, to the
nanosecond: both are read here with json and sqlite3 alone."""
import json
import os
import re
import sqlite3
import struct
from collections import Counter, defaultdict
from decimal import Decimal

from common import SHARED, SYNTH, Skip, equal, files, holds, main, run, same_bytes, synth

# A job with every kind of group, several hosts, and clocks that are wrong.
JOB = {'ranks': 8, 'ranks_per_host': 4, 'steps': 2, 'layers': 4, 'tp': 2, 'pp': 2, 'seed': 11,
       'sequence_parallel': True, 'offset_us': 500, 'drift_ppb': 900, 'gpu_error_ns': 300}
DTYPE_BYTES = {'BFloat16': 2, 'Float': 4, 'Long': 8}
# By number in the file: CUDA's kinds of copies and of memory.
COPIES, MEMORY = {1: 'HtoD'}, {0: 'Pageable', 1: 'Pinned', 2: 'Device'}
MACHINE = 1 << 48


def database(path):
    return sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)


# The Kineto form ----------------------------------------------------------------------------------


class Kineto:
    """A trace's events by category, with exact begin_ns and dur_ns."""

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            trace = json.load(file, parse_float=Decimal)
        base = trace['baseTimeNanoseconds']
        self.rank = trace['distributedInfo']['rank']
        self.host = trace['host_name']
        self.of = defaultdict(list)
        for event in trace['traceEvents']:
            if event['ph'] in 'Xi' and 'cat' in event and event['cat'] != 'Trace':
                event['begin_ns'] = base + int(event['ts'] * 1000)
                event['dur_ns'] = int(event.get('dur', 0) * 1000)
                self.of[event['cat']].append(event)
        self.pid = self.of['user_annotation'][0]['pid']

    def kernels(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], a['device'], a['context'],
                       a['stream'], a['correlation'], *a['grid'], *a['block'],
                       a['registers per thread'], a['shared memory'])
                      for e in self.of['kernel'] for a in [e['args']])

    def copies(self, category):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], a['device'], a['stream'],
                       a['correlation'], a['bytes'])
                      for e in self.of[category] for a in [e['args']])

    def calls(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['tid'], e['args']['correlation'])
                      for e in self.of['cuda_runtime'])

    def ranges(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['tid'], e['args']['External id'])
                      for cat in ('cpu_op', 'user_annotation') for e in self.of[cat])

    def steps(self):
        return [(e['begin_ns'], e['dur_ns'], e['name']) for e in self.of['user_annotation']
                if e['name'].startswith('ProfilerStep#')]


# The Nsight Systems form --------------------------------------------------------------------------


class Nsys:
    """One process of an export; times since the epoch."""

    def __init__(self, path, pid):
        self.db = database(path)
        self.base, self.uptime = self.db.execute(
            'select utcEpochNs, systemClockNs from TARGET_INFO_SESSION_START_TIME').fetchone()
        self.process = MACHINE | pid << 24
        self.strings = dict(self.db.execute('select id, value from StringIds'))

    def of_gpu(self, table, columns):
        return self.db.execute(f'select start + {self.base}, end - start, {columns} '
                               f'from CUPTI_ACTIVITY_KIND_{table} where globalPid = ?',
                               [self.process]).fetchall()

    def of_threads(self, table, columns, where='1'):
        """Rows of this process's threads, whose numbers come third."""
        return self.db.execute(f'select start + {self.base}, end - start, globalTid & 16777215, '
                               f'{columns} from {table} where globalTid >> 24 = ? and {where}',
                               [self.process >> 24]).fetchall()

    def kernels(self):
        rows = self.of_gpu('KERNEL', '''demangledName, deviceId, contextId, streamId, correlationId,
            gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,
            staticSharedMemory + dynamicSharedMemory''')
        return sorted((a, b, self.strings[name], *rest) for a, b, name, *rest in rows)

    def copies(self):
        rows = self.of_gpu('MEMCPY', '''copyKind, srcKind, dstKind, deviceId, streamId,
            correlationId, bytes''')
        return sorted((a, b, f'Memcpy {COPIES[k]} ({MEMORY[s]} -> {MEMORY[d]})', *rest)
                      for a, b, k, s, d, *rest in rows)

    def sets(self):
        rows = self.of_gpu('MEMSET', 'memKind, deviceId, streamId, correlationId, bytes')
        return sorted((a, b, f'Memset ({MEMORY[k]})', *rest) for a, b, k, *rest in rows)

    def calls(self):
        """Nsight adds a version to the names of functions."""
        return sorted((a, b, re.sub(r'_v\d+$', '', self.strings[name]), tid, correlation)
                      for a, b, tid, name, correlation in self.of_threads(
                          'CUPTI_ACTIVITY_KIND_RUNTIME', 'nameId, correlationId'))

    def ranges(self):
        """(begin, duration, text, thread) of the default domain."""
        return sorted((a, b, text, tid) for a, b, tid, text in self.of_threads(
            'NVTX_EVENTS', 'text', 'eventType = 59 and domainId = 0'))

    def nccl(self):
        """(begin, end, function, payload, thread) of NCCL's domain, found by its name."""
        domain, = self.db.execute('select domainId from NVTX_EVENTS where eventType = 75 '
                                  "and text = 'NCCL' and globalTid >> 24 = ?",
                                  [self.process >> 24]).fetchone()
        return [(a, a + b, self.strings[name], payload, tid)
                for a, b, tid, name, payload in self.of_threads(
                    'NVTX_EVENTS', 'textId, binaryData', f'eventType = 59 and domainId = {domain}')]

    def fields(self, blob):
        """A payload's values by name, with the layout that the export itself has."""
        schema, size = struct.unpack_from('<8xI4xQ', blob)
        payload = blob[len(blob) - size:]
        forms = {5: '<i', 18: '<Q', 22: '<Q', 16777232: '<i'}
        return {name: struct.unpack_from(forms[kind], payload, offset or 0)[0]
                for name, kind, offset in self.db.execute(
                    'select name, type, offset from NVTX_PAYLOAD_SCHEMA_ENTRIES where schemaId = ?',
                    [schema])}


def both(per_file=1, **options):
    """Each rank's trace in both forms, and both truths."""
    job = dict(JOB, **options)
    truths = [synth('kineto', **job), synth('nsys', format='nsys', ranks_per_file=per_file, **job)]
    pairs = []
    for rank in range(job['ranks']):
        kineto = Kineto(f'kineto/profile_rank_{rank}.json')
        path = f'nsys/profile_rank_{rank // per_file * per_file}.sqlite'
        pairs.append((kineto, Nsys(path, kineto.pid)))
    return pairs, truths


# Tests --------------------------------------------------------------------------------------------


def is_the_same_job(per_file, **options):
    pairs, _ = both(per_file, **options)
    for kineto, nsys in pairs:
        holds(len(kineto.kernels()) > 50 and kineto.copies('gpu_memcpy') and kineto.steps(),
              'the job has too little in it')
        equal(nsys.kernels(), kineto.kernels(), 'kernels')
        equal(nsys.copies(), kineto.copies('gpu_memcpy'), 'copies')
        equal(nsys.sets(), kineto.copies('gpu_memset'), 'sets')
        equal(nsys.calls(), kineto.calls(), 'runtime calls')
        equal(min(row[0] for row in nsys.nccl() + nsys.ranges()), kineto.ranges()[0][0], 'begin')
        # Nsight has no numbers of steps but in the text, and emit_nvtx names operators' numbers.
        expected = [(a, b, name if name.startswith('ProfilerStep#') else (name, number), tid)
                    for a, b, name, tid, number in kineto.ranges()]
        found = []
        for a, b, text, tid in nsys.ranges():
            parts = re.fullmatch(r'(.*?)(?:, seq = \d+)?, op_id = (\d+)', text)
            found.append((a, b, (parts[1], int(parts[2])) if parts else text, tid))
        equal(found, expected, 'ranges')
        equal([row[:3] for row in nsys.ranges() if row[2].startswith('ProfilerStep')],
              kineto.steps(), 'steps')


def test_one_rank_a_file_is_the_same_job():
    is_the_same_job(1)
    equal(files('nsys'), sorted([f'profile_rank_{r}.sqlite' for r in range(8)] + ['truth.json']))


def test_four_ranks_a_file_are_the_same_job():
    is_the_same_job(4)
    equal(files('nsys'), ['profile_rank_0.sqlite', 'profile_rank_4.sqlite', 'truth.json'])
    devices = database('nsys/profile_rank_4.sqlite').execute(
        'select distinct globalPid >> 24 & 16777215, deviceId from CUPTI_ACTIVITY_KIND_KERNEL')
    equal(sorted(devices), [(1004, 0), (1005, 1), (1006, 2), (1007, 3)])


def test_lost_kernels_and_late_recordings_and_faults_are_the_same_job():
    is_the_same_job(2, lost_percent=10, window_skew=1, fault='pageable', steps=3)


def test_the_last_file_has_what_ranks_are_left():
    pairs, _ = both(4, ranks=6, tp=1, pp=1, sequence_parallel=0)
    equal(pairs[5][1].kernels(), pairs[5][0].kernels())
    equal(files('nsys'), ['profile_rank_0.sqlite', 'profile_rank_4.sqlite', 'truth.json'])


def test_synchronisations_are_the_calls_that_wait():
    pairs, _ = both(4, fault='pageable')
    kinds = {'cudaDeviceSynchronize': 4, 'cudaStreamSynchronize': 3}
    for kineto, nsys in pairs:
        found = nsys.of_gpu('SYNCHRONIZATION', 'syncType, correlationId')
        expected = [(a, b, kinds[name], correlation)
                    for a, b, name, _, correlation in kineto.calls() if name in kinds]
        equal(sorted(found), expected)
        equal({kind for _, _, kind, _ in found}, {3, 4})


def test_short_names_are_the_functions():
    db = database('nsys/profile_rank_0.sqlite') if synth('nsys', format='nsys', ranks=1) else None
    names = dict(db.execute('select distinct d.value, s.value from CUPTI_ACTIVITY_KIND_KERNEL k '
                            'join StringIds d on d.id = k.demangledName '
                            'join StringIds s on s.id = k.shortName'))
    # Cut by hand from the names in the catalogue.
    for part, short in (('GeluCUDAKernelImpl', 'vectorized_elementwise_kernel'),
                        ('vectorized_layer_norm', 'vectorized_layer_norm_kernel'),
                        ('nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT',
                         'nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT'),
                        ('ncclDevKernel_AllReduce', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
                        ('pytorch_flash::flash_fwd_kernel<', 'flash_fwd_kernel')):
        equal({names[name] for name in names if part in name}, {short}, part)


def tells_its_communication(**options):
    pairs, _ = both(4, **options)
    users, members = defaultdict(set), defaultdict(dict)
    groups = {}
    for kineto, nsys in pairs:
        calls = {correlation: (begin, begin + dur, tid)
                 for begin, dur, _, tid, correlation in nsys.calls()}
        ranges = nsys.nccl()
        for _, _, function, payload, _ in ranges:
            if function == 'ncclCommInitRank':
                made = nsys.fields(payload)
                members[made['NCCL communicator ID']][made['Rank']] = kineto.rank
                equal(made['CUDA device'], kineto.rank % 4)
                groups.setdefault(made['NCCL communicator ID'], made['No. of ranks'])
                equal(groups[made['NCCL communicator ID']], made['No. of ranks'])
        peers = []
        for event in kineto.of['kernel']:
            args = event['args']
            if 'Collective name' not in args:
                continue
            begin, end, tid = calls[args['correlation']]
            around = [row for row in ranges
                      if row[0] <= begin and end <= row[1] and row[4] == tid]
            equal(len(around), 1, 'NCCL calls around a launch')
            function, fields = around[0][2], nsys.fields(around[0][3])
            equal(function, {'allreduce': 'ncclAllReduce', '_allgather_base': 'ncclAllGather',
                             '_reduce_scatter_base': 'ncclReduceScatter', 'send': 'ncclSend',
                             'broadcast': 'ncclBroadcast', 'recv': 'ncclRecv'}
                  [args['Collective name']])
            equal(fields['Message size [bytes]'], DTYPE_BYTES[args['dtype']]
                  * min(args['In msg nelems'], args['Out msg nelems']), function)
            users[fields['NCCL communicator ID']].add(kineto.rank)
            if 'Peer rank' in fields:
                peers.append((fields['NCCL communicator ID'], fields['Peer rank'],
                              args.get('Dst Rank', args.get('Src Rank'))))
            else:
                group = tuple(json.loads(args['Process Group Ranks']))
                users[fields['NCCL communicator ID'], 'group'].add(group)
        nsys.peers = peers
    # A communicator's members are the group that the Kineto form names, in order.
    for communicator, by_rank in members.items():
        equal(sorted(by_rank), list(range(groups[communicator])), 'ranks of a communicator')
        equal(users[communicator], set(by_rank.values()))
        if (communicator, 'group') in users:
            equal(users[communicator, 'group'], {tuple(by_rank[i] for i in sorted(by_rank))})
    for _, nsys in pairs:
        holds(nsys.peers, 'no message')
        for communicator, position, rank in nsys.peers:
            equal(members[communicator][position], rank, 'peer')
    # tp: 4 pairs, dp: 4 pairs, neighbours in the pipeline: 4 pairs, and the whole job.
    equal(Counter(groups.values()), {2: 12, 8: 1})


def test_nccl_calls_tell_communicator_bytes_and_peer_of_their_kernels():
    tells_its_communication()


def test_odd_sizes_are_whole_elements_in_both_forms():
    tells_its_communication(sequence_parallel=0, activation_bytes=1000001,
                            bytes_per_bucket=1000003)


def test_without_metadata_payloads_are_absent():
    pairs, _ = both(1, no_metadata=True)
    payloads = [row[3] for _, nsys in pairs for row in nsys.nccl()]
    holds(payloads, 'no NCCL call')
    equal(set(payloads), {None})


def test_the_truth_is_the_same_but_for_the_number_of_events():
    pairs, (kineto, nsys) = both(4)
    for (_, export), true in zip(pairs, nsys['ranks']):
        tables = ['KERNEL', 'MEMCPY', 'MEMSET', 'SYNCHRONIZATION']
        rows = sum(len(export.of_gpu(table, '1')) for table in tables)
        rows += len(export.calls()) + len(export.ranges()) + len(export.nccl())
        equal(true['events'], rows, 'events')
    for truth in (kineto, nsys):
        for true in truth['ranks']:
            del true['events']
    equal({k: v for k, v in nsys.items() if k != 'config'},
          {k: v for k, v in kineto.items() if k != 'config'})


def test_sessions_have_their_own_begin_and_hosts_one_monotonic_clock():
    pairs, _ = both(1)
    hosts = defaultdict(set)
    for kineto, nsys in pairs:
        name, = nsys.db.execute("select value from TARGET_INFO_SYSTEM_ENV where name = 'Hostname'"
                                ).fetchone()
        equal(name, kineto.host)
        hosts[name].add(nsys.base - nsys.uptime)
        least, = nsys.db.execute('select min(start) from CUPTI_ACTIVITY_KIND_RUNTIME').fetchone()
        holds(1e9 <= least < 3e9, f'the first call is {least} ns into the session')
    equal(len({nsys.base for _, nsys in pairs}), 8, 'different begins')
    equal([len(clocks) for clocks in hosts.values()], [1, 1], 'clocks of a host')
    holds(hosts['host0'] != hosts['host1'], 'hosts started at once')


def test_the_rank_stands_in_the_environment_among_secrets():
    places = ('select value from META_DATA_CAPTURE where name like "%ENVIRONMENT%"',
              'select value from TARGET_INFO_SYSTEM_ENV where name = "DeviceEnvironment"')
    for per_file, path, mine in ((1, 'nsys/profile_rank_5.sqlite', ['RANK="5"']),
                                 (4, 'nsys/profile_rank_4.sqlite', [])):
        synth('nsys', format='nsys', ranks_per_file=per_file, **JOB)
        db = database(path)
        rows, (whole,) = ([value for value, in db.execute(sql)] for sql in places)
        equal([row for row in rows if re.match('RANK=', row)], mine)
        equal(re.findall(r'(?:^|;)RANK=\d+', whole), [';RANK=5'] if mine else [])
        for number in (1, 2, 3):
            secret = f'not-a-real-secret-{number}'
            equal(sum(secret in row for row in rows), 1)
            holds(secret in whole, secret)
        dump = '\n'.join(db.iterdump())
        equal(dump.count('not-a-real-secret'), 6, 'secrets outside of the environment')


def test_the_schema_is_that_of_a_real_export():
    folder = os.path.join(SHARED, 'traces', 'nsys')
    if not os.path.isdir(folder):
        raise Skip('no real exports here')
    synth('nsys', format='nsys', ranks=1, steps=1)
    ours = database('nsys/profile_rank_0.sqlite')
    real = [database(os.path.join(folder, name)) for name in
            ('mfu_2gpu_before.sqlite', 'h100_2gpu_1s.sqlite', 'perlmutter-cloverleaf-cuda.sqlite')]
    unknown = []
    for table, in ours.execute("select name from sqlite_master where type = 'table'").fetchall():
        info = f'pragma table_info({table})'
        theirs = next(filter(None, (db.execute(info).fetchall() for db in real)), None)
        if theirs:
            equal(ours.execute(info).fetchall(), theirs, table)
        else:
            unknown.append(table)
    # In no public file: known from the documentation.
    equal(unknown, ['TARGET_INFO_CUDA_DEVICE'])
    equal(ours.execute("select value from META_DATA_EXPORT where name = 'EXPORT_SCHEMA_VERSION'"
                       ).fetchall(), [('3.25.0',)])


def test_the_same_options_give_the_same_bytes():
    for folder in 'ab':
        synth(folder, format='nsys', ranks_per_file=4, **JOB)
    for name in files('a'):
        same_bytes(f'a/{name}', f'b/{name}')


def test_a_file_that_cannot_be_written_is_named():
    os.makedirs('job/profile_rank_1.sqlite.tmp')
    done = run([SYNTH, '-o', 'job', '--format=nsys', '--ranks=2', '--steps=1']).expect(4)
    equal(done.err, "tmerge-synth: cannot write 'job/profile_rank_1.sqlite': "
                    'unable to open database file\n')
    equal(files('job'), ['profile_rank_0.sqlite', 'profile_rank_1.sqlite.tmp'])


def test_an_earlier_run_that_broke_off_is_written_over():
    synth('a', format='nsys', ranks=1, steps=1)
    os.makedirs('b')
    with open('b/profile_rank_0.sqlite.tmp', 'wb') as file:
        file.write(b'SQLite format 3\0' * 100)
    synth('b', format='nsys', ranks=1, steps=1)
    same_bytes('a/profile_rank_0.sqlite', 'b/profile_rank_0.sqlite')


def test_options_that_do_not_go_together_are_refused():
    for arguments, message in (
            (['--ranks-per-file=2'], '--ranks-per-file needs --format nsys'),
            (['--format=nsys', '--ranks-per-file=3'],
             '--ranks-per-file 3 does not divide --ranks-per-host 8'),
            (['--format=nsys', '--compress=zstd'], '--compress is for --format kineto alone'),
            (['--format=nsys', '--target-gb=1'], '--target-gb is for --format kineto alone'),
            (['--format=csv'], "--format does not know the word 'csv' (kineto (PyTorch profiler, "
                               'JSON) or nsys (Nsight Systems, sqlite))')):
        done = run([SYNTH, '-o', 'job', *arguments]).expect(2)
        equal(done.err, f'tmerge-synth: {message}\n')
    equal(files(), [])


main()
