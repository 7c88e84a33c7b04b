"""Writes the content of a rocprofv3 JSON as a rocpd database: the tables, columns and values of
AMD's schema 3 (rocm-systems, rocprofiler-sdk-rocpd/rocpd_tables.sql) as its tool writes them
(generateRocpd.cpp). Written by hand from these, without a file of the profiler itself.
"""
import json
import os
import sqlite3

ID, TEXT, JSONB = ' INTEGER', ' TEXT', ' JSONB DEFAULT "{}" NOT NULL'
AT = 'nid INTEGER NOT NULL, pid INTEGER NOT NULL, '
TIMES = 'start BIGINT NOT NULL, "end" BIGINT NOT NULL, '
SIZES = ', '.join(f'{what}_size_{axis} INTEGER NOT NULL' for what in ('workgroup', 'grid') for axis in 'xyz')
TABLES = {
    'string': 'string TEXT NOT NULL UNIQUE ON CONFLICT ABORT',
    'info_node': 'hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT, '
                 'hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT',
    'info_process': 'nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, '
                    'start BIGINT, "end" BIGINT, command TEXT, environment' + JSONB + ', extdata' + JSONB,
    'info_thread': 'nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, '
                   'name TEXT, start BIGINT, "end" BIGINT, extdata' + JSONB,
    'info_agent': AT + 'type TEXT CHECK (type IN (\'CPU\', \'GPU\')), absolute_index INTEGER, '
                  'logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, model_name TEXT, '
                  'vendor_name TEXT, product_name TEXT, user_name TEXT, extdata' + JSONB,
    'info_queue': AT + 'name TEXT, extdata' + JSONB,
    'info_stream': AT + 'name TEXT, extdata' + JSONB,
    'info_kernel_symbol': AT + 'code_object_id INTEGER NOT NULL, kernel_name TEXT, display_name TEXT, '
                          'kernel_object INTEGER, group_segment_size INTEGER, private_segment_size INTEGER, '
                          'sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, '
                          'extdata' + JSONB,
    'track': 'nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER, extdata' + JSONB,
    'event': 'category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, '
             'call_stack' + JSONB + ', line_info' + JSONB + ', extdata' + JSONB,
    'arg': 'event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, '
           'value TEXT, extdata' + JSONB,
    'pmc_event': 'event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0, extdata' + JSONB,
    'region': AT + 'tid INTEGER NOT NULL, ' + TIMES + 'name_id INTEGER NOT NULL, event_id INTEGER, '
              'extdata' + JSONB,
    'sample': 'track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER, extdata' + JSONB,
    'kernel_dispatch': AT + 'tid INTEGER, agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, '
                       'dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, stream_id INTEGER NOT '
                       'NULL, ' + TIMES + 'private_segment_size INTEGER, group_segment_size INTEGER, '
                       + SIZES + ', region_name_id INTEGER, event_id INTEGER, extdata' + JSONB,
    'memory_copy': AT + 'tid INTEGER, ' + TIMES + 'name_id INTEGER NOT NULL, dst_agent_id INTEGER, '
                   'dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, size INTEGER NOT NULL, '
                   'queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER, event_id INTEGER, '
                   'extdata' + JSONB,
    'memory_allocate': AT + "tid INTEGER, agent_id INTEGER, type TEXT CHECK (type IN ('ALLOC', 'FREE', "
                       "'REALLOC', 'RECLAIM')), level TEXT CHECK (level IN ('REAL', 'VIRTUAL', "
                       "'SCRATCH')), " + TIMES + 'address INTEGER, size INTEGER NOT NULL, queue_id INTEGER, '
                       'stream_id INTEGER, event_id INTEGER, extdata' + JSONB,
}


class Set:
    """The tables of one process."""

    def __init__(self, db, process, number, version, environment):
        self.db, self.pid = db, process['metadata']['pid']
        uuid = f'0197{number:04d}_0000_7000_8000_{self.pid:012d}'
        self.end, self.guid = '_' + uuid, uuid.replace('_', '-')
        self.ids, self.threads, self.tracks, self.strings = {}, set(), {}, {}
        db.execute(f'CREATE TABLE "rocpd_metadata{self.end}" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, '
                   'tag TEXT NOT NULL, value TEXT NOT NULL)')
        for tag, value in (('schema_version', version), ('uuid', self.end), ('guid', self.guid)):
            db.execute(f'INSERT INTO "rocpd_metadata{self.end}" (tag, value) VALUES (?, ?)', (tag, value))
        for name, columns in TABLES.items():
            db.execute(f'CREATE TABLE "rocpd_{name}{self.end}" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, '
                       f'guid TEXT DEFAULT "{self.guid}" NOT NULL, {columns})')
        self.kinds = process['strings']['buffer_records']
        self.messages = {each['key']: each['value'] for each in process['strings']['marker_api']}
        node = process['metadata']['node']
        self.add('info_node', id=5, hash=5, machine_id='a7b9', hostname=node['hostname'])
        self.add('info_process', id=self.pid, nid=5, ppid=1, pid=self.pid,
                 command=' '.join(process['metadata'].get('command', ())),
                 environment=json.dumps(environment))
        self.agents = {agent['id']['handle']: i for i, agent in enumerate(process['agents'])}
        for agent in process['agents']:
            self.of('info_agent', id=self.agents[agent['id']['handle']], name=agent.get('name'),
                    type={1: 'CPU', 2: 'GPU'}[agent['type']], type_index=agent.get('logical_node_type_id'),
                    product_name=agent.get('product_name'), extdata=json.dumps(agent))
        for kernel in process['kernel_symbols']:
            self.of('info_kernel_symbol', id=kernel['kernel_id'], code_object_id=1,
                    kernel_name=kernel.get('kernel_name', ''), display_name=kernel['formatted_kernel_name'],
                    **{name: kernel.get(name) for name in ('arch_vgpr_count', 'accum_vgpr_count')})

    def add(self, table, **values):
        values = {name: value for name, value in values.items() if value is not None}
        self.ids[table] = values.setdefault('id', self.ids.get(table, 0) + 1)
        names = ', '.join(f'"{name}"' for name in values)
        self.db.execute(f'INSERT INTO "rocpd_{table}{self.end}" ({names}) VALUES '
                        f'({", ".join("?" * len(values))})', tuple(values.values()))
        return values['id']

    def of(self, table, **values):
        return self.add(table, nid=5, pid=self.pid, **values)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = self.add('string', string=text)
        return self.strings[text]

    def thread(self, record):
        tid = record['thread_id']
        if tid not in self.threads:
            self.threads.add(tid)
            self.of('info_thread', id=tid, ppid=1, tid=tid)
        return tid

    def event(self, record, extdata='{}'):
        return self.add('event', category_id=self.string(self.kinds[record['kind']]['kind']),
                        stack_id=record['correlation_id']['internal'], extdata=extdata,
                        parent_stack_id=record['correlation_id']['internal'], correlation_id=0)

    def name(self, record):
        return self.kinds[record['kind']]['operations'][record['operation']]

    def call(self, record):
        key = record['correlation_id']['internal']
        message = self.messages.get(key) if 'MARKER' in self.kinds[record['kind']]['kind'] else None
        event = self.event(record, json.dumps({'message': message}) if message else '{}')
        self.add('arg', event_id=event, position=0, type='int', name='x', value='1')
        begin, end = record['start_timestamp'], record['end_timestamp']
        if begin != end:
            self.of('region', id=key, tid=self.thread(record), start=begin, end=end,
                    name_id=self.string(self.name(record)), event_id=event)
            return
        track = self.thread(record), self.string(self.kinds[record['kind']]['kind'])
        if track not in self.tracks:
            self.tracks[track] = self.of('track', tid=track[0], name_id=track[1])
        self.add('sample', id=key, track_id=self.tracks[track], timestamp=begin, event_id=event)

    def dispatch(self, record):
        info = record['dispatch_info']
        self.of('kernel_dispatch', tid=self.thread(record), agent_id=self.agents[info['agent_id']['handle']],
                kernel_id=info['kernel_id'], dispatch_id=info.get('dispatch_id', 0),
                queue_id=info['queue_id']['handle'], stream_id=record['stream_id']['handle'],
                start=record['start_timestamp'], end=record['end_timestamp'],
                group_segment_size=info.get('group_segment_size'), event_id=self.event(record),
                **{f'{what}_size_{axis}': info[f'{what}_size'][axis]
                   for what in ('workgroup', 'grid') for axis in 'xyz'})

    def copy(self, record):
        self.of('memory_copy', tid=self.thread(record), start=record['start_timestamp'],
                end=record['end_timestamp'], name_id=self.string(self.name(record)),
                dst_agent_id=self.agents[record['dst_agent_id']['handle']],
                src_agent_id=self.agents[record['src_agent_id']['handle']], size=record['bytes'],
                stream_id=record['stream_id']['handle'], event_id=self.event(record))

    def memory(self, record):
        name = self.name(record)
        freed = name.endswith('FREE')
        self.of('memory_allocate', tid=self.thread(record), start=record['start_timestamp'],
                end=record['end_timestamp'], type='FREE' if freed else 'ALLOC',
                level='SCRATCH' if name.startswith('SCRATCH') else 'REAL',
                agent_id=None if freed else self.agents[record['agent_id']['handle']],
                address=int(record.get('address', '0'), 0), size=record.get('allocation_size', 0),
                event_id=self.event(record))


def write(path, *processes, version='3', environment=({}, {}), page=4096, views=True):
    """Writes a database of some processes of a rocprofv3 JSON, each in tables of its own."""
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute(f'PRAGMA page_size = {page}')
    for number, process in enumerate(processes):
        a_set = Set(db, process, number, version, environment[number])
        lists = process['buffer_records']
        for name in ('hip_api', 'hsa_api', 'marker_api', 'rccl_api'):
            for record in lists.get(name, ()):
                a_set.call(record)
        for name, take in (('kernel_dispatch', a_set.dispatch), ('memory_copy', a_set.copy),
                           ('memory_allocation', a_set.memory), ('scratch_memory', a_set.memory)):
            for record in lists.get(name, ()):
                take(record)
    for name in TABLES if views else ():
        parts = [row[0] for row in db.execute('SELECT name FROM sqlite_master WHERE name GLOB ?',
                                              (f'rocpd_{name}_0*',))]
        db.execute(f'CREATE VIEW "rocpd_{name}" AS ' + ' UNION ALL '.join(f'SELECT * FROM "{p}"' for p in parts))
    db.commit()
    db.close()
    return path
