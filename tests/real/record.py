"""Records real PyTorch jobs on CPUs with gloo: record.py FOLDER [--seed N] [JOB...].

Run by a Python that has PyTorch. Each rank is a session of its own, to which Linux gives the same
share of the cores (/proc/PID/autogroup), like a job scheduler; busy neighbours are processes in the
session of their rank. FOLDER/JOB/profile_rank_R.json.gz are the traces; truth.json has the slowed
ranks and the cause, and for each step its duration, the part before the training, the time that the
thread ran, and the time it waited for a core (schedstat), which a busy machine adds by itself.
"""
import argparse
import ctypes
import gc
import json
import os
import random
import shutil
import signal
import socket
import struct
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

from jobs import RANKS, STEPS, jobs

SECONDS = 60  # after which a job counts as hanging
WIDTH, LAYERS, BATCH, BEFORE = 192, 4, 24, 3  # unrecorded, with the profiler's two


# Shapes: each returns step(inputs), which trains once -----------------------------------------------


class Block(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def model():
    torch.manual_seed(1)
    return nn.Sequential(*(Block() for _ in range(LAYERS)))


def trains(net, after=lambda: None):
    optimizer = torch.optim.SGD(net.parameters(), 1e-4)

    def step(x):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        after()
        optimizer.step()
    return step


def ddp():
    return trains(nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=4))


def compiled():
    return trains(torch.compile(nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=4),
                                dynamic=True))


def fsdp2():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    mesh, net = init_device_mesh('cpu', (RANKS,)), model()
    for block in net:
        fully_shard(block, mesh=mesh)
    return trains(fully_shard(net, mesh=mesh))


def tensor(net, mesh):
    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                                   parallelize_module)
    for block in net:
        parallelize_module(block, mesh, {'up': ColwiseParallel(), 'down': RowwiseParallel()})
    return net


def tp():
    from torch.distributed.device_mesh import init_device_mesh
    return trains(tensor(model(), init_device_mesh('cpu', (RANKS,))))


def hybrid():
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh('cpu', (2, 2), mesh_dim_names=('dp', 'tp'))
    net = tensor(model(), mesh['tp'])

    def after():
        for parameter in net.parameters():
            grad = parameter.grad
            dist.all_reduce(grad.to_local() if hasattr(grad, 'to_local') else grad,
                            group=mesh['dp'].get_group())
    return trains(net, after)


def pp():
    """Makes two pipelines of two stages, whose gradients are summed."""
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    rank, halves = dist.get_rank(), list(model().children())
    lines = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    index = rank // 2
    net = nn.Sequential(*halves[index * LAYERS // 2:(index + 1) * LAYERS // 2])
    stage = PipelineStage(net, index, 2, torch.device('cpu'), group=lines[rank % 2])
    one = Schedule1F1B(stage, 4, loss_fn=lambda y, target: (y - target).square().mean())
    optimizer = torch.optim.SGD(net.parameters(), 1e-4)

    def step(x):
        optimizer.zero_grad()
        one.step(x) if index == 0 else one.step(target=torch.zeros_like(x))
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad, group=pairs[index])
        optimizer.step()
    return step


def later():
    """Makes a model whose gradients are summed during backward and awaited at its end."""
    net, works = model(), []
    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda p: works.append(dist.all_reduce(p.grad, async_op=True)))

    def after():
        for work in works:
            work.wait()
        works.clear()
    return trains(net, after)


SHAPES = {'ddp': ddp, 'threads': ddp, 'compile': compiled, 'fsdp2': fsdp2, 'tp': tp, 'hybrid': hybrid,
          'pp': pp, 'async': later}


def shape_of(job):
    """Returns another shape for those that PyTorch before 2.7 lacks on CPUs (FSDP2, threads without
    operators) or hangs in (the pipelines' transfers)."""
    old = tuple(int(part) for part in torch.__version__.split('.')[:2]) < (2, 7)
    return {'fsdp2': 'async', 'threads': 'ddp', 'pp': 'hybrid'}.get(
        job.shape, job.shape) if old else job.shape


# Causes -----------------------------------------------------------------------------------------------


class Data(torch.utils.data.Dataset):
    def __init__(self, size, delay_s):
        self.size, self.delay_s = size, delay_s

    def __len__(self):
        return 1000

    def __getitem__(self, i):
        time.sleep(self.delay_s)
        return torch.full((self.size[min(i, len(self.size) - 1)], WIDTH), 0.01)


def ends_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def take_short_turns():
    """Requests time slices of 0.1 ms, so that a thread that wakes up gets its core at once although
    other programs run (sched_setattr; no effect before Linux 6.12)."""
    number = {'x86_64': 314, 'aarch64': 274}.get(os.uname().machine)
    attributes = struct.pack('=IIQiIQQQ', 48, 0, 0, os.getpriority(os.PRIO_PROCESS, 0), 0, 100000, 0, 0)
    if number:
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)


def neighbour():
    """Runs other work in the session of its rank until the rank ends."""
    if os.fork() == 0:
        ends_with_parent()
        a = torch.ones(256, 256)
        while True:
            a = (a @ a).clamp(0, 1)


class Cause:
    """Slows this rank."""

    def __init__(self, job, rank):
        self.job, self.kind, self.rank, n = job, job.cause, rank, BEFORE + STEPS + 1
        self.on = rank in job.slow
        self.draw = random.Random(job.seed * 100 + rank)
        self.sizes = [int(BATCH * job.amount) if self.on and self.kind == 'uneven' else BATCH] * n
        if self.on and self.kind == 'uneven-turns':
            self.sizes = [int(BATCH * self.draw.uniform(1, job.amount)) for _ in range(n)]
        self.delay_s = job.amount / 1000 if self.on and self.kind.startswith('loader') else 0
        self.extra = nn.Sequential(*(Block() for _ in range(LAYERS)))
        if self.on and self.kind.startswith('gc'):
            gc.disable()
            self.heap = [[i, {}] for i in range(30000)]  # walked by each collection
        for _ in range(job.amount if self.on and self.kind == 'neighbour' else 0):
            neighbour()

    def before(self, number, x):
        """Called in a step before training."""
        if not self.on:
            return
        if self.kind == 'sleep':
            time.sleep(self.job.amount / 1000)
        if self.kind == 'work':
            for _ in range(self.job.amount):
                for block in self.extra:
                    block(x).sum()
        if self.kind == 'gc' or (self.kind == 'gc-turns' and self.draw.random() < 0.3):
            gc.collect()


# Recording --------------------------------------------------------------------------------------------


def cores():
    """Returns the nanoseconds that this thread ran, and that it waited for a core; then those of all
    threads."""
    threads = {}
    for thread in os.listdir('/proc/self/task'):
        try:
            with open(f'/proc/self/task/{thread}/schedstat', encoding='ascii') as file:
                threads[int(thread)] = [int(word) for word in file.read().split()[:2]]
        except FileNotFoundError:
            pass  # the thread ended
    return threads[os.getpid()] + [sum(column) for column in zip(*threads.values())]


def run(job, rank, folder, port):
    ends_with_parent()
    os.setsid()
    take_short_turns()
    own = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {own[rank % len(own)]})
    try:
        with open('/proc/self/autogroup', 'w', encoding='ascii') as file:
            file.write('-20')
    except OSError:
        pass  # not root, or not supported by the kernel: then the machine must be idle
    sys.stdout = sys.stderr = open(f'{folder}/log.{rank}', 'w', encoding='utf-8', buffering=1)
    os.dup2(sys.stderr.fileno(), 2)
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(RANKS), USE_LIBUV='0', LOCAL_RANK=str(rank), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo')
    cause = Cause(job, rank)
    loader = torch.utils.data.DataLoader(Data(cause.sizes, cause.delay_s), batch_size=None)
    batches, step, more = iter(loader), SHAPES[job.shape](), {}
    if job.shape == 'threads':
        from torch._C._profiler import _ExperimentalConfig
        more['experimental_config'] = _ExperimentalConfig(profile_all_threads=True)
    times = []
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=BEFORE - 2, warmup=2, active=STEPS, repeat=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(f'{folder}/profile_rank_{rank}.json.gz'),
                 **more) as profiler:
        for number in range(BEFORE + STEPS):
            begun, ran = time.perf_counter_ns(), cores()
            x = next(batches)
            cause.before(number, x)
            caused = time.perf_counter_ns()
            step(x)
            times.append([time.perf_counter_ns() - begun, caused - begun,
                          *(b - a for a, b in zip(ran, cores()))])
            if number == BEFORE - 1:
                dist.barrier()
            profiler.step()
    with open(f'{folder}/times.{rank}', 'w', encoding='ascii') as file:
        json.dump(times[BEFORE:], file)
    dist.barrier()


def record(job, folder):
    job = job._replace(shape=shape_of(job))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    children = []
    for rank in range(RANKS):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(job, rank, folder, port)
                status = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            os._exit(status)
        children.append(child)
    def end(*_):
        for child in children:
            os.kill(child, signal.SIGKILL)
    signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    good = all([os.waitpid(child, 0)[1] == 0 for child in children])
    signal.alarm(0)
    if not good:
        return False
    times = []
    for rank in range(RANKS):
        with open(f'{folder}/times.{rank}', encoding='ascii') as file:
            times.append(json.load(file))
        os.remove(f'{folder}/times.{rank}')
        os.remove(f'{folder}/log.{rank}')
    with open(f'{folder}/truth.json', 'w', encoding='ascii') as file:
        json.dump({**job._asdict(), 'version': torch.__version__,
                   'step_before_ran_waited_ns': times}, file)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('names', nargs='*')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    failed = [job.name for job in jobs(arguments.seed)
              if (not arguments.names or job.name in arguments.names)
              and not record(job, os.path.join(arguments.folder, job.name))]
    for name in failed:
        print(f'{name}: not recorded, see its logs')
    sys.exit(bool(failed))


if __name__ == '__main__':
    main()
