"""A small simulator of training jobs of any parallelism, independent of tmerge-synth.

Each rank has a host thread that issues calls in program order, and streams that run their work in
order. A job is a graph of points in time: a point is the maximum over its predecessors of their
time plus a delay. simulate() returns the mean time of a step, with or without the culprit but with
the same random draws; write() writes the Kineto traces.
"""
import collections
import json
import os
import random

COMPUTE, BUCKETS, GATHER, SCATTER, TENSOR, EXPERTS, WORLD, SEND = 7, 20, 21, 22, 24, 28, 30, 40
FORWARD = (('nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT', 120), ('flash_fwd_kernel<128, 128>', 80),
           ('sm90_xmma_gemm_bf16bf16_bf16f32_tn_n', 190),
           ('void at::native::vectorized_elementwise_kernel<4, GeluFunctor>', 35))
BACKWARD = (('void at::native::vectorized_elementwise_kernel<4, GeluBackward>', 50),
            ('sm90_xmma_gemm_bf16bf16_bf16f32_nt_n', 380), ('flash_bwd_kernel<128, 128>', 190),
            ('nvjet_hsh_256x128_64x4_2x1_v_bz_coopA_NTN', 240))
NCCL = {'allreduce': 'AllReduce_Sum_bf16_RING_LL', '_allgather_base': 'AllGather_RING_LL',
        '_reduce_scatter_base': 'ReduceScatter_Sum_bf16_RING_LL', 'all_to_allv': 'SendRecv',
        'send': 'SendRecv', 'recv': 'SendRecv'}
BASE_NS = 1760000000_000000000
RANKS = 8

# Degrees of tensor, context and pipeline parallelism; the rest is data parallelism.
SHAPES = {'dp': {}, 'fsdp': {}, 'tp2': {'tp': 2}, 'tp4': {'tp': 4}, 'tp8': {'tp': 8},
          'tp=host': {'tp': 4}, 'pp4': {'pp': 4}, 'pp4 interleaved': {'pp': 4},
          'tp2 x pp2': {'tp': 2, 'pp': 2}, 'tp2 x pp4': {'tp': 2, 'pp': 4}, 'ep': {},
          'cp4': {'cp': 4}}


class Graph:
    """Points in time, identified by number."""

    def __init__(self):
        self.needs, self.at = [], []

    def point(self, *needs):
        """Adds a point, the maximum over (point, us after it); returns its number."""
        self.needs.append(list(needs))
        return len(self.needs) - 1

    def solve(self):
        left = [len(needs) for needs in self.needs]
        users = [[] for _ in self.needs]
        for point, needs in enumerate(self.needs):
            for need, _ in needs:
                users[need].append(point)
        self.at = [None] * len(left)
        ready = [point for point, n in enumerate(left) if n == 0]
        for point in ready:
            self.at[point] = max((self.at[need] + us for need, us in self.needs[point]), default=0.)
            for user in users[point]:
                left[user] -= 1
                if left[user] == 0:
                    ready.append(user)
        assert len(ready) == len(left), 'ranks wait for one another forever'


class Group:
    """A process group: its number, name and ranks, and its bandwidth [bytes/us]."""

    def __init__(self, number, name, ranks, job):
        self.number, self.name, self.ranks = number, name, ranks
        hosts = {rank // job['per_host'] for rank in ranks}
        self.speed = 1e5 if len(hosts) > 1 else 2e5
        if (job['culprit'] == ('link' if len(hosts) > 1 else 'inside')
                and job['slow_host'] in hosts):
            self.speed /= job['amount']


class Rank:
    """The host thread and the streams of a rank, and their events."""

    def __init__(self, world, number):
        self.world, self.graph, self.job, self.number = world, world.graph, world.job, number
        self.draw = random.Random(f'{self.job["seed"]} rank {number}')
        self.draw_of_extra = random.Random(f'{self.job["seed"]} extra {number}')
        self.host = self.graph.point()      # point at which the host thread is free
        self.tails = {}                     # stream: (last point, us after it)
        self.calls, self.kernels, self.marks = [], [], []
        self.done = collections.deque()     # ends of launched kernels, which fill the queue
        self.n_ops = collections.Counter()  # operations by group or pair

    def is_slow(self, *kinds):
        return self.job['culprit'] in kinds and self.number in self.job['members']

    def jitter(self, percent):
        return max(.3, self.draw.gauss(1, percent / 100))

    # Host.

    def call(self, name, us, *until):
        """Adds a runtime call that ends after all of (point, us); returns its begin and number."""
        begin = self.graph.point((self.host, self.job['gap'] * self.jitter(30)))
        self.host = self.graph.point((begin, us), *until)
        self.calls.append((name, begin, self.host))
        return begin, len(self.calls)

    def launch(self, name='cudaLaunchKernel'):
        """Adds a launch call; returns the earliest begin of what it launches as (point, us), and
        the number of the call."""
        slow = self.is_slow('launch', 'launch 20', 'host')
        extra = self.jitter(8) * (self.job['amount'] if slow else 0)
        us = 3.5 * self.jitter(20) + (extra if self.job['slow_call'] else 0)
        self.until_stall -= 1
        stall = self.stall if self.until_stall == 0 and self.is_slow('stall', 'gc') else 0
        before = self.host
        self.host = self.graph.point((before, stall + (0 if self.job['slow_call'] else extra)))
        if stall and self.job['culprit'] == 'gc':
            self.marks.append(('python_function', 'Python GC', before, self.host))
        full = [(self.done.popleft(), 4)] if len(self.done) >= self.job['queue'] else []
        begin, number = self.call(name, us, *full)
        return (begin, us + 1.5), number

    def synchronise(self):
        """Like .item(): copies a number to the host and waits for the stream."""
        self.kernel('Memcpy DtoH (Device -> Pageable)', 1.5)
        point, us = self.tails[COMPUTE]
        self.call('cudaStreamSynchronize', 2, (point, us + 6))

    # Streams.

    def wait(self, stream, other):
        """Makes later work on a stream wait for the current work of another stream, or for a
        (point, us)."""
        tail = self.tails.get(other) if isinstance(other, int) else other
        if tail:
            own = [self.tails[stream]] if stream in self.tails else []
            self.tails[stream] = (self.graph.point(tail, *own), 0)

    def put(self, stream, call='cudaLaunchKernel'):
        """Launches something on a stream; returns its begin and the number of the call."""
        launched, number = self.launch(call)
        gap = self.job['amount'] if self.is_slow('gaps') else .8
        if self.is_slow('shared') and self.draw_of_extra.random() < .08:  # another process runs
            gap = self.draw_of_extra.uniform(300, 1500)
        last = [(self.tails[stream][0], self.tails[stream][1] + gap)] if stream in self.tails else []
        return self.graph.point(launched, *last), number

    def leave(self, name, stream, begin, end, number, args):
        """Records what was put on a stream, once its end is known."""
        self.tails[stream] = (end, 0)
        self.done.append(end)
        self.kernels.append((name, stream, begin, end, number, args))

    def kernel(self, name, us):
        copy = name.startswith('Memcpy')
        begin, number = self.put(COMPUTE, 'cudaMemcpyAsync' if copy else 'cudaLaunchKernel')
        us *= self.job['size'] * self.jitter(self.job['noise'])
        us *= 1 if copy else self.share * (self.job['amount'] if self.is_slow('gpu') else 1)
        self.leave(name, COMPUTE, begin, self.graph.point((begin, us)), number, {})

    def operation(self, what, group, elements, stream, peer=None, out=None):
        """Adds an NCCL kernel after the current work of the compute stream; returns its end as
        (point, us)."""
        self.wait(stream, COMPUTE)
        begin, number = self.put(stream)
        pair = {'send': (self.number, peer), 'recv': (peer, self.number)}.get(what)
        key = (group.number, what if pair is None else pair, stream % 2 if pair else 0)
        args = {'Collective name': what, 'In msg nelems': elements,
                'Out msg nelems': out or elements, 'Group size': len(group.ranks),
                'dtype': 'BFloat16', 'Process Group Name': str(group.number),
                'Process Group Description': group.name, 'Process Group Ranks': str(group.ranks)}
        if pair:
            args['Src Rank'], args['Dst Rank'] = pair
        elif self.job['seq']:
            args['Seq'] = self.n_ops[group.number]
            self.n_ops[group.number] += 1
        self.n_ops[key] += 1
        meeting = self.world.meet(key, self.n_ops[key], group, begin, 2 * max(elements, out or 0))
        end = self.graph.point((meeting, self.draw.uniform(0, 1.5)))
        self.leave(f'ncclDevKernel_{NCCL[what]}(ncclDevKernelArgsStorage<4096ul>)', stream, begin, end,
                   number, args)
        return end, 0

    def blocking(self, what, group, elements, stream, **more):
        self.wait(COMPUTE, self.operation(what, group, elements, stream, **more))


class World:
    """All ranks, their process groups, and the operations in which they meet."""

    def __init__(self, job):
        self.job, self.graph, self.meetings = job, Graph(), {}
        self.shape = dict({'tp': 1, 'cp': 1, 'pp': 1}, **SHAPES[job['shape']])
        self.groups, self.of = [], {}
        self.make('default_pg', lambda rank: 0)
        inner = self.shape['tp'] * self.shape['cp']
        self.stage_ranks = RANKS // self.shape['pp']
        self.make('TENSOR_MODEL_PARALLEL_GROUP', lambda r: r // self.shape['tp'])
        self.make('CONTEXT_PARALLEL_GROUP', lambda r: (r // inner, r % self.shape['tp']))
        self.make('PIPELINE_MODEL_PARALLEL_GROUP', lambda r: r % self.stage_ranks)
        # Gradients are reduced over all ranks with the same part of the model, including those with
        # other parts of the context.
        self.make('DATA_PARALLEL_GROUP', lambda r: (r // self.stage_ranks, r % self.shape['tp']))
        self.ranks = [Rank(self, number) for number in range(RANKS)]

    def make(self, name, place):
        """Adds one group for each value of `place`, with the ranks that have it."""
        places = collections.defaultdict(list)
        for rank in range(RANKS):
            places[place(rank)].append(rank)
        for ranks in places.values():
            self.groups.append(Group(len(self.groups), name, ranks, self.job))
            self.of.update({(name.split('_')[0], rank): self.groups[-1] for rank in ranks})

    def meet(self, key, n, group, begin, size):
        """Adds a begin to the n-th operation of a key; returns its end, a transfer after the last
        begin."""
        if (key, n) not in self.meetings:
            factor = random.Random(f'{self.job["seed"]} {key} {n}').gauss(1, .03)
            pair = isinstance(key[1], tuple)
            speed = Group(0, '', key[1], self.job).speed if pair else group.speed
            self.meetings[key, n] = [self.graph.point(), 0, factor, speed]
        meeting = self.meetings[key, n]
        meeting[1] = max(meeting[1], size)
        self.graph.needs[meeting[0]].append((begin, 0))
        return meeting[0]

    def close(self):
        """Adds the transfer time to each operation, once its size is known."""
        for point, size, factor, speed in self.meetings.values():
            us = factor * (14 + size / speed)
            self.graph.needs[point] = [(begin, us) for begin, _ in self.graph.needs[point]]


# A rank's work in a step --------------------------------------------------------------------------


def layer(rank, number, back=False):
    """Runs a layer's pass with the communication of its parallelism."""
    world, job, size = rank.world, rank.job, rank.job['elements']
    kernels = BACKWARD if back else FORWARD
    tensor, context = world.of['TENSOR', rank.number], world.of['CONTEXT', rank.number]
    for i, (name, us) in enumerate(kernels):
        if name.startswith('flash') and len(context.ranks) > 1:
            ring(rank, context, name, us, size)
        elif job['shape'] == 'ep' and i == (1 if back else 2):
            experts(rank, us, number, size)
        else:
            rank.kernel(name, us)
        if len(tensor.ranks) > 1 and i % 2:
            rank.blocking('allreduce', tensor, size, TENSOR)


def ring(rank, group, name, us, size):
    """Ring attention over the parts of a context; each part is sent on while it is used."""
    at, n = group.ranks.index(rank.number), len(group.ranks)
    for turn in range(n):
        arrived = None
        if turn < n - 1:
            rank.operation('send', group, size, SEND, peer=group.ranks[(at + 1) % n])
            arrived = rank.operation('recv', group, size, SEND + 2, peer=group.ranks[at - 1])
        rank.kernel(name, us / n * 1.3)
        rank.wait(COMPUTE, arrived)


def experts(rank, us, number, size):
    """Sends tokens to the ranks of their experts and back; the load is uneven."""
    group = rank.world.of['default', rank.number]
    draw = random.Random(f'{rank.job["seed"]} tokens {rank.step} {number}')
    loads = [max(.4, draw.gauss(1, .12)) for _ in group.ranks]
    load = loads[rank.number] * len(loads) / sum(loads)
    rank.blocking('all_to_allv', group, size, EXPERTS, out=int(size * load))
    rank.kernel('grouped_gemm_kernel<bf16>', us * load)
    rank.blocking('all_to_allv', group, int(size * load), EXPERTS, out=size)


def plain(rank, layers):
    """Runs forward and backward passes; gradients are reduced meanwhile, two layers at a time."""
    data = rank.world.of['DATA', rank.number]
    for number in range(layers):
        layer(rank, number)
    for number in reversed(range(layers)):
        layer(rank, number, back=True)
        if len(data.ranks) > 1 and number % 2 == 0:
            rank.operation('allreduce', data, 12 * rank.job['elements'], BUCKETS)
    rank.wait(COMPUTE, BUCKETS)


def sharded(rank, layers):
    """FSDP: gathers the parameters of the next layer while computing this one."""
    data, size = rank.world.of['DATA', rank.number], rank.job['elements'] // 2
    for order, back in ((range(layers), False), (reversed(range(layers)), True)):
        order = list(order)
        ready = rank.operation('_allgather_base', data, size, GATHER, out=8 * size)
        for i, number in enumerate(order):
            wanted = ready
            if i + 1 < layers:
                ready = rank.operation('_allgather_base', data, size, GATHER, out=8 * size)
            rank.wait(COMPUTE, wanted)
            layer(rank, number, back)
            if back:
                rank.operation('_reduce_scatter_base', data, 8 * size, SCATTER, out=size)
    rank.wait(COMPUTE, SCATTER)


def schedule(stage, stages, chunks, microbatches):
    """Returns the passes of a stage in order, as (back, chunk): 1F1B, interleaved if it has several
    chunks."""
    total = microbatches * chunks
    warm = stages - stage - 1 if chunks == 1 else 2 * (stages - stage - 1) + (chunks - 1) * stages
    warm = min(warm, total)
    ahead = [(False, k // stages % chunks if chunks > 1 else 0) for k in range(total)]
    back = [(True, chunks - 1 - chunk) for _, chunk in ahead]
    steady = [one for pair in zip(ahead[warm:], back) for one in pair]
    return ahead[:warm] + steady + back[total - warm:]


def piped(rank, layers):
    """Runs a pipeline stage: activations go to the next stage, and their gradients back."""
    world, size = rank.world, rank.job['elements']
    group, stages = world.of['PIPELINE', rank.number], world.shape['pp']
    stage = group.ranks.index(rank.number)
    chunks = 2 if rank.job['shape'].endswith('interleaved') else 1
    for back, chunk in schedule(stage, stages, chunks, rank.job['microbatches']):
        place, last = chunk * stages + stage, chunks * stages - 1
        source, target = (place + 1, place - 1) if back else (place - 1, place + 1)
        stream = SEND + back
        if 0 <= source <= last:
            rank.blocking('recv', group, size, stream + 2, peer=group.ranks[source % stages])
        for number in range(layers):
            layer(rank, number, back)
        if 0 <= target <= last:
            rank.operation('send', group, size, stream, peer=group.ranks[target % stages])
    data = world.of['DATA', rank.number]
    if len(data.ranks) > 1:
        rank.blocking('allreduce', data, 12 * size, BUCKETS)


def run_extra(rank):
    """Runs work that only this rank has: an evaluation on a few samples, and its loss."""
    rank.draw, rank.draw_of_extra = rank.draw_of_extra, rank.draw
    for name, us in FORWARD * rank.job['amount']:
        rank.kernel(name, us / 4)
    rank.kernel('void at::native::reduce_kernel<512, 1, MeanOps>', 20)
    rank.draw, rank.draw_of_extra = rank.draw_of_extra, rank.draw


def step(rank, number):
    """Runs a training step of a rank."""
    job, world = rank.job, rank.world
    rank.step, start = number, rank.host
    draw = random.Random(f'{job["seed"]} step {number} {rank.number}')
    rank.stall, rank.until_stall = draw.uniform(4000, 8000), draw.randrange(5, 50)
    rank.share = draw.gauss(1, .03) if job['culprit'] == 'skew' else 1.
    rank.kernel('Memcpy HtoD (Pinned -> Device)', 30)
    if rank.is_slow('extra'):
        run_extra(rank)
    layers = job['layers']
    if job['culprit'] == 'stage' and rank.number in job['members']:
        layers = job['more_layers']
    {'fsdp': sharded}.get(job['shape'], piped if world.shape['pp'] > 1 else plain)(rank, layers)
    if job['norm']:
        rank.blocking('allreduce', world.of['default', rank.number], 1, WORLD)
    for _ in range(2):
        rank.kernel('void at::native::multi_tensor_apply_kernel<adamw>', 150)
    if job['sync']:
        rank.synchronise()
    rank.marks.append(('user_annotation', f'ProfilerStep#{10 + number}', start, rank.host))


def simulate(job):
    """Simulates a job; returns its world and the mean step time [us], to the end of all kernels."""
    world = World(job)
    for number in range(job['steps']):
        for rank in world.ranks:
            step(rank, number)
    world.close()
    world.graph.solve()
    return world, max(world.graph.at[kernel[3]] for rank in world.ranks
                      for kernel in rank.kernels) / job['steps']


# Traces -------------------------------------------------------------------------------------------


def write(world, folder):
    """Writes the Kineto traces of a solved world, one per rank."""
    job, at = world.job, world.graph.at
    os.makedirs(folder, exist_ok=True)
    for rank in world.ranks:
        host, device = divmod(rank.number, job['per_host'])
        (offset, drift), pid, events = job['clocks'][host], 4000 + rank.number, []

        def add(cat, name, begin, end, where, args):
            begin, end = (offset + at[point] * (1 + drift) for point in (begin, end))
            events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': where[0], 'tid': where[1],
                           'ts': round(begin, 3), 'dur': round(max(end - begin, .001), 3),
                           'args': args})
            if job['flows'] and 'correlation' in args:
                ends = {'ph': 'f', 'bp': 'e'} if 'stream' in args else {'ph': 's'}
                events.append({**ends, 'cat': 'ac2g', 'name': 'ac2g', 'id': args['correlation'],
                               'pid': where[0], 'tid': where[1], 'ts': round(begin, 3)})

        for mark in rank.marks:
            add(*mark, (pid, pid), {})
        for number, call in enumerate(rank.calls, 1):
            add('cuda_runtime', *call, (pid, pid), {'correlation': number, 'External id': number})
        for name, stream, begin, end, number, more in rank.kernels:
            add('gpu_memcpy' if name.startswith('Memcpy') else 'kernel', name, begin, end,
                (device, stream), {'device': device, 'stream': stream, 'correlation': number,
                                   'External id': number, **more})
        groups = [{'pg_name': str(group.number), 'pg_desc': group.name, 'pg_size': len(group.ranks),
                   'backend_config': 'cuda:nccl', 'ranks': group.ranks}
                  for group in world.groups if rank.number in group.ranks]
        trace = {'schemaVersion': 1, 'baseTimeNanoseconds': BASE_NS, 'displayTimeUnit': 'ms',
                 'deviceProperties': [{'id': device, 'name': 'NVIDIA H100 80GB HBM3'}],
                 'distributedInfo': {'backend': 'nccl', 'rank': rank.number, 'world_size': RANKS,
                                     'pg_count': len(world.groups), 'pg_config': groups},
                 'traceEvents': events}
        path = os.path.join(folder, f'host{host}_{pid}.1760000000000.pt.trace.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(trace, file)
