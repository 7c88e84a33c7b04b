"""The generator's files in other formats, as their profilers leave them. cli_formats.py shows that
they are the same job as its Kineto traces."""
import collections
import glob
import json
import os
import re
from decimal import Decimal

from common import SHARED, SYNTH, Skip, equal, files, holds, main, rows, run, same_bytes, synth, tmerge
from stores import read_only
from xspace import message

# A job with every kind of group, several hosts, and clocks that are wrong.
JOB = {'ranks': 8, 'ranks_per_host': 4, 'steps': 2, 'layers': 4, 'tp': 2, 'pp': 2, 'seed': 11,
       'sequence_parallel': True, 'offset_us': 500, 'drift_ppb': 900, 'gpu_error_ns': 300}


def made(form, **options):
    """Makes the job; returns its truth without numbers of events, and these numbers."""
    truth = synth(form, format=form, **dict(JOB, **options))
    events = [rank.pop('events') for rank in truth['ranks']]
    return {key: value for key, value in truth.items() if key != 'config'}, events


def json_of(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file, parse_float=Decimal)


def planes(path):
    """Returns the host names, and the planes of a file by name, each a message."""
    with open(path, 'rb') as file:
        space = message(file.read())
    found = [message(plane) for plane in space[1]]
    return space[4], {plane[2][0].decode(): plane for plane in found}


def lines(plane):
    """Returns the lines of a plane by number, with (begin, duration) of their events in ps."""
    found = [(line[1][0], map(message, line[4])) for line in map(message, plane[3])]
    return {number: [(e[2][0], sum(e[3])) for e in events] for number, events in found}


def stats(plane):
    """Returns the stats of a plane by name."""
    names = [{entry[1][0]: message(entry[2][0])[2][0].decode()
              for entry in map(message, plane[field])} for field in (4, 5)][1]
    return {names[stat[1][0]]: next(v[0] for k, v in stat.items() if k != 1)
            for stat in map(message, plane[6])}


# File contents ------------------------------------------------------------------------------------


def test_files_have_the_ranks_of_their_name():
    """With 6 ranks, the last file or host has only two; 2 of the last host's 4 devices are idle."""
    options = {'ranks': 6, 'tp': 1, 'pp': 1, 'sequence_parallel': 0}
    made('nsys', **options)
    equal(files('nsys'), [f'profile_rank_{rank}.sqlite' for rank in range(6)] + ['truth.json'])
    made('nsys', ranks_per_file=4, **options)
    for first, n in ((0, 4), (4, 2)):
        devices = read_only(f'nsys/profile_rank_{first}.sqlite').execute(
            'select distinct globalPid >> 24 & 16777215, deviceId from CUPTI_ACTIVITY_KIND_KERNEL')
        equal(sorted(devices), [(1000 + first + i, i) for i in range(n)])
    made('xplane', **options)
    equal(sorted(glob.glob('xplane/**/*.pb', recursive=True)),
          [f'xplane/plugins/profile/2025_12_01_00_00_00/host{i}.xplane.pb' for i in (0, 1)])
    _, found = planes('xplane/plugins/profile/2025_12_01_00_00_00/host1.xplane.pb')
    equal([len(lines(found[f'/device:GPU:{i}'])) for i in range(4)], [3, 3, 0, 0], 'lines')
    made('ascend', **options)
    for rank in range(6):
        path, = glob.glob(f'ascend/host{rank // 4}_{1000 + rank}_*_ascend_pt/profiler_info_*.json')
        equal((os.path.basename(path), json_of(path)['rank_id']), (f'profiler_info_{rank}.json', rank))


def test_ranges_have_the_numbers_of_their_operators():
    # emit_nvtx writes them in the names; steps only have the number in their name.
    made('kineto')
    made('nsys')
    for rank in range(8):
        trace = json_of(f'kineto/profile_rank_{rank}.json')
        expected = sorted(
            (trace['baseTimeNanoseconds'] + int(e['ts'] * 1000), number) for e in trace['traceEvents']
            if e.get('cat') in ('cpu_op', 'user_annotation') for number in [
                None if e['name'].startswith('ProfilerStep#') else e['args']['External id']])
        db = read_only(f'nsys/profile_rank_{rank}.sqlite')
        found = [(begin, re.fullmatch(r'ProfilerStep#\d+|.*?(?:, seq = \d+)?, op_id = (\d+)', text)[1])
                 for begin, text in db.execute(
                     'select start + utcEpochNs, text from NVTX_EVENTS, '
                     'TARGET_INFO_SESSION_START_TIME where eventType = 59 and domainId = 0')]
        equal(sorted((begin, number and int(number)) for begin, number in found), expected)


def test_a_space_is_as_the_profiler_leaves_it():
    truth, _ = made('xplane')
    path, _ = sorted(glob.glob('xplane/plugins/profile/*/*.pb'))
    hosts, found = planes(path)
    equal(hosts, [truth['ranks'][0]['host'].encode()], 'hostnames')
    equal(list(found), [f'/device:GPU:{i}' for i in range(4)] + ['/host:CPU', 'Task Environment'])
    for plane in found.values():
        kinds = [field for field in plane if field > 2]  # in file order
        equal(kinds, sorted(kinds), 'lines stand before names, and names before stats')
        for events in lines(plane).values():
            equal(events, sorted(events, key=lambda e: (e[0], -e[1])), 'order of a line')
    # An H100, as its Kineto traces have it; the clock in kHz.
    device = found['/device:GPU:0']
    equal(stats(device), {
        'device_vendor': b'Nvidia', 'clock_rate': 1980000, 'core_count': 132,
        'memory_bandwidth': 3352320000000, 'memory_size': 85028372480, 'compute_cap_major': 9,
        'compute_cap_minor': 0})
    # Derived lines have numbers from 0xdeadbeef on, as a signed number of 32 bits: -559038737.
    equal([2**64 - number for number in lines(device) if number >> 63], [559038736])
    times = [at for events in lines(device).values() for begin, dur in events
             for at in (begin, begin + dur)]
    holds(len({at % 1000 for at in times}) > 100, 'times are whole nanoseconds')


def test_arrows_join_operators_to_what_they_cause():
    """cli_formats.py compares the launches of calls."""
    made('ascend')
    for path in glob.glob('ascend/*/ASCEND*/trace_view.json'):
        events = json_of(path)
        process = {e['pid']: e['args']['name'] for e in events if e['name'] == 'process_name'}
        starts = {(e['ts'], e['tid'], process[e['pid']]) for e in events if e['ph'] == 'X'}
        every = [e for e in events if e['ph'] in 'sf' and e['cat'] != 'fwdbwd']
        holds(max(int(e['id']) for e in every) > 2**64, 'all numbers fit into 64 bits')
        threads = collections.defaultdict(list)
        for e in events:
            if e['ph'] in 'sf' and e['cat'] == 'fwdbwd':
                threads[e['id']].append(e['tid'])
        holds(all(one != other for one, other in threads.values()), 'one thread')
        arrows = [e for e in every if e['cat'] == 'async_npu']
        ends = [sorted(e['id'] for e in arrows if e['ph'] == phase) for phase in 'sf']
        equal(ends[0], ends[1], 'both ends of each')
        holds(len(ends[0]) > 20, 'too few')
        for arrow in arrows:
            places = ['Python'] if arrow['ph'] == 's' else ['Ascend Hardware', 'HCCL']
            holds(any((arrow['ts'], arrow['tid'], of) in starts for of in places), arrow)


def test_the_vendors_lanes_are_those_of_the_truth():
    truth, _ = made('ascend')
    for true in truth['ranks']:
        path, = glob.glob(f'ascend/*_{1000 + true["rank"]}_*_ascend_pt/ASCEND*/trace_view.json')
        spans = {'Computing': [], 'Communication': [], 'Communication(Not Overlapped)': [], 'Free': []}
        for event in json_of(path):
            if event['ph'] == 'X' and event['name'] in spans:
                begin = Decimal(event['ts']) * 1000
                end = (begin + Decimal(event['dur']) * 1000).to_integral_value()
                spans[event['name']].append((int(begin), int(end)))
        every = sum(spans.values(), [])
        # Free: from the first kernel to the last, without computation and exposed communication.
        length = max(end for _, end in every) - min(begin for begin, _ in every)
        equal([sum(end - begin for begin, end in of) for of in spans.values()],
              [true['compute_ns'], true['comm_ns'], true['exposed_comm_ns'],
               length - true['compute_ns'] - true['exposed_comm_ns']], path)


def test_short_names_are_the_functions():
    db = read_only('nsys/profile_rank_0.sqlite') if synth('nsys', format='nsys', ranks=1) else None
    names = dict(db.execute('select distinct d.value, s.value from CUPTI_ACTIVITY_KIND_KERNEL k '
                            'join StringIds d on d.id = k.demangledName '
                            'join StringIds s on s.id = k.shortName'))
    # Shortened by hand from the names in the catalogue.
    for part, short in (('GeluCUDAKernelImpl', 'vectorized_elementwise_kernel'),
                        ('vectorized_layer_norm', 'vectorized_layer_norm_kernel'),
                        ('nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT',
                         'nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT'),
                        ('ncclDevKernel_AllReduce', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
                        ('pytorch_flash::flash_fwd_kernel<', 'flash_fwd_kernel')):
        equal({names[name] for name in names if part in name}, {short}, part)


def test_without_metadata_payloads_are_absent():
    made('nsys', no_metadata=True)
    equal(read_only('nsys/profile_rank_3.sqlite').execute(
        "select count(*) > 20, count(binaryData) from NVTX_EVENTS join StringIds on id = textId "
        "where value like 'nccl%'").fetchall(), [(1, 0)])


def test_the_truth_is_the_same_but_for_the_number_of_events():
    """tmerge also has two counters of an NPU, and a host's steps on all of its devices."""
    expected, _ = made('kineto')
    for form, more, besides in (('nsys', {'ranks_per_file': 4}, lambda rank: 0),
                                ('xplane', {}, lambda rank: 2 * (rank % 4 > 0)),
                                ('ascend', {}, lambda rank: 2)):
        truth, events = made(form, **more)
        equal(truth, expected, form)
        tmerge(form, '-o', f'{form}.h5').expect(0)
        equal([row['events'] - besides(row['rank']) for row in rows(f'{form}.h5', 'job.rank')],
              events, form)


def test_sessions_have_their_own_begin_and_hosts_one_monotonic_clock():
    truth, _ = made('nsys')
    hosts, begins = {}, set()
    for true in truth['ranks']:
        db = read_only(f'nsys/profile_rank_{true["rank"]}.sqlite')
        row, = db.execute(
            'select utcEpochNs, systemClockNs, value, (select min(start) from '
            'CUPTI_ACTIVITY_KIND_RUNTIME) from TARGET_INFO_SESSION_START_TIME, '
            "TARGET_INFO_SYSTEM_ENV where name = 'Hostname'")
        base, uptime, host, least = row
        equal(host, true['host'])
        holds(1e9 <= least < 3e9, f'the first call is {least} ns into the session')
        begins.add(base)
        hosts.setdefault(host, set()).add(base - uptime)
    equal((len(begins), [len(clocks) for clocks in hosts.values()]), (8, [1, 1]))
    holds(hosts['host0'] != hosts['host1'], 'hosts started at once')


def test_the_rank_stands_in_the_environment_among_secrets():
    places = ('select value from META_DATA_CAPTURE where name like "%ENVIRONMENT%"',
              'select value from TARGET_INFO_SYSTEM_ENV where name = "DeviceEnvironment"')
    for per_file, path, mine in ((1, 'nsys/profile_rank_5.sqlite', ['RANK="5"']),
                                 (4, 'nsys/profile_rank_4.sqlite', [])):
        synth('nsys', format='nsys', ranks_per_file=per_file, **JOB)
        db = read_only(path)
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
    ours = read_only('nsys/profile_rank_0.sqlite')
    real = [read_only(os.path.join(folder, name)) for name in
            ('mfu_2gpu_before.sqlite', 'h100_2gpu_1s.sqlite', 'perlmutter-cloverleaf-cuda.sqlite')]
    unknown = []
    for table, in ours.execute("select name from sqlite_master where type = 'table'").fetchall():
        info = f'pragma table_info({table})'
        theirs = next(filter(None, (db.execute(info).fetchall() for db in real)), None)
        if theirs:
            equal(ours.execute(info).fetchall(), theirs, table)
        else:
            unknown.append(table)
    # Not in any public file; known from the documentation.
    equal(unknown, ['TARGET_INFO_CUDA_DEVICE'])
    equal(ours.execute("select value from META_DATA_EXPORT where name = 'EXPORT_SCHEMA_VERSION'"
                       ).fetchall(), [('3.25.0',)])


def test_the_same_options_give_the_same_bytes():
    for form in ('nsys', 'xplane', 'ascend'):
        for folder in 'ab':
            synth(f'{form}-{folder}', format=form, **JOB)
        found = [sorted(glob.glob(f'{form}-{folder}/**/*.*', recursive=True)) for folder in 'ab']
        equal([len(names) for names in found], [{'nsys': 9, 'xplane': 3, 'ascend': 17}[form]] * 2)
        for one, other in zip(*found):
            same_bytes(one, other)


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
            (['--format=xplane', '--ranks-per-file=2'], '--ranks-per-file needs --format nsys'),
            (['--format=nsys', '--compress=zstd'], '--compress is not for --format nsys'),
            (['--format=ascend', '--target-gb=1'], '--target-gb is only for --format kineto'),
            (['--format=xplane', '--graphs'],
             '--custom-all-reduce and --graphs are only for --format kineto'),
            (['--format=csv'], "--format does not know the word 'csv' (kineto (PyTorch profiler, "
                               'JSON), nsys (Nsight Systems, sqlite), xplane (TensorFlow and JAX, '
                               'a file a host) or ascend (torch_npu, JSON))')):
        done = run([SYNTH, '-o', 'job', *arguments]).expect(2)
        equal(done.err, f'tmerge-synth: {message}\n')
    equal(files(), [])


main()
