"""rocmProfileData databases: calls, kernels and copies compared with SQL on the same file, and
files made by hand from its schema (rocpd_python/rocpd/schema_data/tableSchema.cmd)."""
import glob
import gzip
import os
import sqlite3

from common import SHARED, Skip, content, equal, main, merged, put, rows, same_bytes, seldom, tmerge

ALLREDUCE = 'ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)'
STRINGS = ['', 'KernelExecution', 'Task', 'FillBuffer', 'CopyHostToDevice', 'MEMORY_COPY_DEVICE_TO_HOST',
           'hipLaunchKernel', 'hipExtModuleLaunchKernel', 'hipGraphLaunch', 'hipMemcpyAsync', 'UserMarker',
           'gemm', ALLREDUCE, 'Barrier', 'hcc_activity_callback', 'RocprofDataSource::buffer_callback']


def database(path, calls, operations, writer='hcc_activity_callback', version='3', markers=(), strides=True):
    """calls: (id, pid, name, begin, end), then a copy's size or a grid and block; operations:
    (call, gpu, type, name, begin, end), call None: unrecorded. markers: (pid, text, begin, end)."""
    texts = [text for text in STRINGS if text == writer or not ('callback' in text)]
    ids = {text: i + 1 for i, text in enumerate(texts)}
    if os.path.exists(path):
        os.remove(path)
    with sqlite3.connect(path) as db:
        db.executescript('''
            CREATE TABLE rocpd_metadata (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, tag varchar(4096) NOT
                NULL, value varchar(4096) NOT NULL);
            CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096));
            CREATE TABLE rocpd_ustring (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096));
            CREATE TABLE rocpd_api (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, pid integer NOT NULL, tid
                integer NOT NULL, start integer NOT NULL, "end" integer NOT NULL, apiName_id bigint NOT NULL,
                category_id bigint, domain_id bigint, args_id bigint NOT NULL);
            CREATE TABLE rocpd_op (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, gpuId integer NOT NULL,
                queueId integer NOT NULL, sequenceId integer, start integer NOT NULL, "end" integer NOT NULL,
                description_id bigint NOT NULL, opType_id bigint NOT NULL);
            CREATE TABLE rocpd_api_ops (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, api_id bigint NOT NULL,
                op_id bigint NOT NULL);
            CREATE TABLE rocpd_kernelapi (api_ptr_id bigint NOT NULL PRIMARY KEY, stream varchar(18), gridX
                integer, gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ
                integer, groupSegmentSize integer, privateSegmentSize integer, kernelName_id bigint);
            CREATE TABLE rocpd_copyapi (api_ptr_id bigint NOT NULL PRIMARY KEY, stream varchar(18), size
                integer, width integer, height integer, kind integer);
            CREATE VIEW op AS SELECT * FROM rocpd_op;''')
        of = [('schema_version', version)] + [('gpu_stride', '1000'), ('pid_stride', '10000000')] * strides
        db.executemany('INSERT INTO rocpd_metadata (tag, value) VALUES (?, ?)', of)
        db.executemany('INSERT INTO rocpd_string (string) VALUES (?)', [(text,) for text in texts])
        db.execute("INSERT INTO rocpd_ustring (string) VALUES ('')")
        for call, pid, name, begin, end, *more in calls:
            db.execute('INSERT INTO rocpd_api VALUES (?, ?, ?, ?, ?, ?, 1, 1, 1)',
                       (call, pid, pid, begin, end, ids[name]))
            if len(more) == 1:
                db.execute("INSERT INTO rocpd_copyapi VALUES (?, '0x0', ?, '', '', 1)", (call, *more))
            if len(more) == 2:
                db.execute("INSERT INTO rocpd_kernelapi VALUES (?, '0x0', ?, 1, 1, ?, 1, 1, 0, 0, 1)",
                           (call, *more))
        for number, (call, gpu, kind, name, begin, end) in enumerate(operations, 1):
            db.execute('INSERT INTO rocpd_op VALUES (?, ?, 0, 0, ?, ?, ?, ?)',
                       (number, gpu, begin, end, ids[name], ids[kind]))
            if call:
                db.execute('INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (?, ?)', (call, number))
        for number, (pid, text, begin, end) in enumerate(markers, 1):
            db.execute('INSERT INTO rocpd_ustring VALUES (?, ?)', (number + 1, text))
            db.execute('INSERT INTO rocpd_api VALUES (?, ?, ?, ?, ?, ?, 1, 1, ?)',
                       (number + 2**31, pid, pid, begin, end, ids['UserMarker'], number + 1))
    return path


def of_name(table, *columns, name='name', store='tmerge.h5'):
    return {row[name]: tuple(row[column] for column in columns) for row in rows(store, table)}


def test_real_databases_tell_what_sql_does():
    found = glob.glob(os.path.join(SHARED, 'traces', 'rpd', '*.rpd*'))
    if not found:
        raise Skip('no shared traces')
    for path in found:
        with open(path, 'rb') as file:
            data = file.read()
        put('real.rpd', gzip.decompress(data) if path.endswith('.gz') else data)
        merged_as_one('real.rpd')
        with sqlite3.connect('real.rpd') as db:
            def sums(what, table, string, condition):
                return {row[0]: row[1:] for row in db.execute(
                    f'SELECT S.string, count(*), sum(T."end" - T.start), {what} FROM {table} T JOIN '
                    f'rocpd_string S ON S.id = T.{string} JOIN rocpd_string N ON N.id = T.'
                    f'{"opType_id" if table == "rocpd_op" else "apiName_id"} WHERE {condition} GROUP BY 1')}
            kernels = sums('min(T."end" - T.start), max(T."end" - T.start)', 'rocpd_op', 'description_id',
                           "N.string IN ('KernelExecution', 'Task')")
            calls = sums('max(T."end" - T.start)', 'rocpd_api', 'apiName_id', "N.string GLOB 'hip*'")
            markers = sums('1', 'rocpd_api', 'args_id', "N.string = 'UserMarker'")
            copies = sums('1', 'rocpd_op', 'opType_id', "N.string GLOB 'Copy*'")
            n_bytes = dict(db.execute('SELECT kind, sum(size) FROM rocpd_copyapi GROUP BY 1'))
        equal(of_name('kernels.kernel', 'calls', 'total_ns', 'min_ns', 'max_ns'), kernels)
        equal(of_name('launches.api', 'calls', 'total_ns', 'max_ns'), calls)
        equal(of_name('calls.call/annotation', 'calls'), {name: row[:1] for name, row in markers.items()})
        ways = {'htod': 1, 'dtoh': 2, 'dtod': 3}
        transfers = rows('tmerge.h5', 'transfers.kind')
        equal(sorted((row['count'], row['total_ns']) for row in transfers if 'to' in row['kind']),
              sorted(row[:2] for row in copies.values()))
        equal({ways[row['kind']]: row['bytes'] for row in transfers if row['kind'] in ways}, n_bytes)


def merged_as_one(path, *more, **others):
    done = tmerge(path, *more, **others).expect(0)
    equal([line for line in done.ours if 'no rank: numbered' not in line], [])
    return done


@seldom
def test_processes_and_their_gpus_are_ranks():
    """Ordered by GPU; the second host's numbers count from the next multiple of the strides."""
    pids = {12: 0, 11: 1, 10000012: 1000}
    database('job.rpd',
             [(i, pid, 'hipLaunchKernel', 1000 + i, 1010 + i, 4, 64) for i, pid in enumerate(pids, 1)],
             [(i, gpu, 'KernelExecution', 'gemm', 1100, 1200 + i) for i, gpu in enumerate(pids.values(), 1)])
    for n in 0, 2, 3:
        merged_as_one('job.rpd', '-o', f'{n}.h5', n=n)
        same_bytes('0.h5', f'{n}.h5')
    equal([(row['host'], row['device'], row['end_ns']) for row in rows('0.h5', 'job.rank')],
          [('node 0', 0, 1201), ('node 0', 1, 1202), ('node 1', 0, 1203)])
    equal(len({row['domain'] for row in rows('0.h5', 'clock.rank')}), 2, 'each host has its clock')


def test_what_a_call_says_is_of_its_only_operation():
    """A graph's copies have no size of their own. Operations without a call go by their GPU."""
    calls = [(1, 11, 'hipLaunchKernel', 1000, 1010, 4, 64), (2, 11, 'hipExtModuleLaunchKernel', 1020, 1030, 256, 64),
             (3, 11, 'hipMemcpyAsync', 1040, 1050, 500), (4, 11, 'hipGraphLaunch', 1060, 1070, 500)]
    operations = [(1, 0, 'KernelExecution', 'gemm', 1100, 1200), (2, 0, 'KernelExecution', ALLREDUCE, 1200, 1230),
                  (3, 0, 'CopyHostToDevice', '', 1300, 1400), (4, 0, 'CopyHostToDevice', '', 1400, 1410),
                  (4, 0, 'Task', 'gemm', 1410, 1420), (None, 0, 'FillBuffer', '', 1500, 1504),
                  (4, 0, 'Barrier', '', 1500, 1600)]
    database('a.rpd', calls, operations,
             markers=[(11, 'step 1', 1000, 1090), (11, 'point', 1005, 1005)])
    merged_as_one('a.rpd')
    # One block of 64 for every 64 work items: 4 given in blocks, 256 / 64 in work items.
    equal({(row['name'], row['grid'], row['block']) for row in rows('tmerge.h5', 'kernels.launch_shape')},
          {('gemm', '4,1,1', '64,1,1'), (ALLREDUCE, '4,1,1', '64,1,1'), ('gemm', None, None)})
    equal(of_name('kernels.kernel', 'calls', 'total_ns'), {'gemm': (2, 110), ALLREDUCE: (1, 30)})
    equal(of_name('transfers.kind', 'count', 'total_ns', 'bytes', name='kind'),
          {'htod': (2, 110, 500), 'set': (1, 4, None)})
    equal([(row['remark'], row['count']) for row in rows('tmerge.h5', 'job.remark') if row['class'] != 'minor'],
          [('other_phase', 1)], 'the barrier is no work')


def test_copies_that_name_no_gpu_are_of_the_only_one_of_their_process():
    """rocprofiler writes all of its copies with GPU 0; and its grids are in work items."""
    database('a.rpd', [(1, 11, 'hipLaunchKernel', 1000, 1010, 256, 64), (2, 11, 'hipMemcpyAsync', 1040, 1050, 500),
                       (3, 12, 'hipLaunchKernel', 1000, 1010, 256, 64)],
             [(1, 3, 'KernelExecution', 'gemm', 1100, 1200), (2, 0, 'MEMORY_COPY_DEVICE_TO_HOST', '', 1300, 1400),
              (3, 0, 'KernelExecution', 'gemm', 1100, 1200)],
             writer='RocprofDataSource::buffer_callback')
    merged_as_one('a.rpd')
    equal([(row['rank'], row['kind'], row['bytes']) for row in rows('tmerge.h5', 'transfers.kind')],
          [(1, 'dtoh', 500)])
    equal([row['grid'] for row in rows('tmerge.h5', 'kernels.launch_shape')], ['4,1,1'])


def test_what_cannot_be_read_ends_with_the_file_and_the_reason():
    database('a.rpd', [(1, 11, 'hipLaunchKernel', 1000, 1010)], [(1, 0, 'KernelExecution', 'gemm', 1100, 1200)],
             version='4')
    tmerge('a.rpd').fails(3, 'a.rpd: the schema of this rocmProfileData database is version 4, but tmerge '
                             'reads 1 to 3')
    whole = content(database('a.rpd', [], []))
    put('a.rpd', whole[:len(whole) // 2])
    tmerge('a.rpd').fails(3, f'a.rpd: byte {len(whole) // 2}: this database ends too early: {len(whole) // 2} '
                             f'of {len(whole)} bytes are there')


main()
