"""Records real PyTorch jobs of 4 ranks on gloo that hang: hangs.py FOLDER [NAME...].

Needs root and a Python with PyTorch. Each job sums tensors in three groups before something goes wrong.
FOLDER/NAME/trace_rank_R is the dump of rank R's flight recorder 6 s later; a rank whose process has ended
or is stopped by then has no dump. FOLDER/NAME/truth.json says what was done, which ranks tmerge must name,
and which reasons (hang.job.reason) are right.
"""
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import sys
import threading
import time
import traceback

import torch
import torch.distributed as dist

RANKS, SECONDS, LONGEST = 4, 6, 120  # SECONDS until dumps are written, LONGEST until a job is ended
ALL = list(range(RANKS))


class Groups:
    def __init__(self):
        self.a, self.b, self.c, self.d = (dist.new_group(ALL) for _ in range(4))
        self.low, self.high = dist.new_group([0, 1]), dist.new_group([2, 3])


def reduce(group=None, size=1024, dtype=torch.float32):
    dist.all_reduce(torch.ones(size, dtype=dtype), group=group)


def forever():
    while True:
        time.sleep(60)


def lo_is_up(up):
    """Switches the loopback interface of this network namespace on or off."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack('16sh14x', b'lo', 1 if up else 0))  # SIOCSIFFLAGS


def raises(rank, groups):
    if rank == 2:
        raise ValueError('a bad sample')
    reduce()


def raises_and_ends(rank, groups):
    if rank == 1:
        os._exit(1)
    reduce()


def sleeps(rank, groups):
    if rank == 3:
        forever()
    reduce()


def ends(rank, groups):
    if rank == 0:
        dist.destroy_process_group()
        os._exit(0)
    reduce()


def killed(rank, groups):
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    reduce()


def stopped(rank, groups):
    if rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    reduce()


def another_operation(rank, groups):
    if rank == 3:
        dist.broadcast(torch.ones(1024), 0)
    reduce()


def another_size(rank, groups):
    reduce(size=1 << 20 if rank == 1 else 1024)


def another_type(rank, groups):
    reduce(dtype=torch.float64 if rank == 2 else torch.float32)


def another_order(rank, groups):
    for group in (groups.b, groups.a) if rank == 3 else (groups.a, groups.b):
        reduce(group)


def two_orders(rank, groups):
    for group in (groups.b, groups.a) if rank > 1 else (groups.a, groups.b):
        reduce(group)


def first_order(rank, groups):
    for group in (groups.d, groups.c) if rank == 3 else (groups.c, groups.d):
        reduce(group)


def send_without_receive(rank, groups):
    if rank == 0:
        dist.send(torch.ones(1 << 22), 1)
    reduce()


def receive_without_send(rank, groups):
    if rank == 2:
        dist.recv(torch.ones(1024), 1)
    reduce()


class NeverLoads(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return i if i < 2 else forever()


def loader(rank, groups):
    for _ in torch.utils.data.DataLoader(NeverLoads(), batch_size=None) if rank == 0 else range(8):
        reduce()


def loops(rank, groups):
    while rank == 1:
        pass
    reduce()


def skips(rank, groups):
    for step in range(4):
        if rank != 2 or step != 1:
            reduce()


def two_sleep(rank, groups):
    if rank % 2 == 1:
        forever()
    reduce()


def sleeps_in_a_group(rank, groups):
    if rank == 3:
        forever()
    if rank == 2:
        reduce(groups.high)
    reduce()


def pipeline(rank, groups):
    """Rank 0 never sends; each other rank waits for the one before it."""
    if rank == 0:
        forever()
    x = torch.ones(1024)
    dist.recv(x, rank - 1)
    if rank + 1 < RANKS:
        dist.send(x, rank + 1)


def network(rank, groups):
    """The network loses all packets while all ranks sum 256 MB."""
    if rank == 0:
        threading.Timer(0.2, lo_is_up, [False]).start()
    reduce(size=1 << 26)


ISSUED, LOST, DIFFER, CIRCLE = ['not issued'], ['no dump'], ['mismatch'], ['circle']
# Job, what is done, the ranks that tmerge must name, and the right reasons.
HANGS = [
    (raises, 'rank 2 raises an exception, and its process stays alive', [2], ISSUED),
    (raises_and_ends, 'rank 1 raises an exception, and its process ends', [1], LOST),
    (sleeps, 'rank 3 sleeps', [3], ISSUED),
    (ends, 'rank 0 leaves the job', [0], LOST),
    (killed, 'rank 2 is killed', [2], LOST),
    (stopped, 'rank 1 is stopped by a signal', [1], LOST),
    (another_operation, 'rank 3 calls broadcast, the others all_reduce', [3], DIFFER),
    (another_size, 'rank 1 sums more elements', [1], DIFFER),
    (another_type, 'rank 2 sums doubles, the others floats', [2], DIFFER),
    (another_order, 'rank 3 uses two groups in another order', [3], CIRCLE),
    (two_orders, 'ranks 2 and 3 use two groups in another order', ALL, CIRCLE),
    (first_order, 'rank 3 uses two groups in another order at first; no dump lists their ranks', [], [None]),
    (send_without_receive, 'rank 0 sends to rank 1, which does not receive', [0], CIRCLE + ISSUED),
    (receive_without_send, 'rank 2 receives from rank 1, which does not send', [2], CIRCLE + ISSUED),
    (loader, "rank 0's data loader never returns", [0], ISSUED),
    (loops, "rank 1's Python loops forever", [1], ISSUED),
    (skips, 'rank 2 skips one of four sums', [2], ISSUED),
    (two_sleep, 'ranks 1 and 3 sleep', [1, 3], ISSUED),
    (sleeps_in_a_group, 'rank 3 does not reach a group; rank 2 waits there, and the others wait for both', [3], ISSUED),
    (pipeline, 'rank 0 of a pipeline never sends; gloo does not record sends', [], [None]),
    (network, 'the network loses all packets', [], [None]),
]


def dump(folder, rank):
    time.sleep(SECONDS)
    recorded = torch._C._distributed_c10d._dump_fr_trace()
    with open(f'{folder}/trace_rank_{rank}', 'wb') as out:
        out.write(recorded)
    os._exit(0)


def run(job, rank, folder):
    sys.stdout = sys.stderr = open(f'{folder}/log.{rank}', 'w', encoding='utf-8', buffering=1)
    os.dup2(sys.stderr.fileno(), 2)
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29500', RANK=str(rank), WORLD_SIZE=str(RANKS),
                      USE_LIBUV='0', GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo')
    groups = Groups()
    for group in (None, groups.a, groups.b):
        reduce(group)
    dist.barrier()
    threading.Thread(target=dump, args=(folder, rank)).start()
    try:
        job(rank, groups)
    except BaseException:
        traceback.print_exc()
    forever()


def record(job, folder):
    """Runs in a separate process, which has its own network, and whose ranks end when it ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000):  # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), 'no network namespace: only root may make one')
    lo_is_up(True)
    children = []
    for rank in range(RANKS):
        child = os.fork()
        if child == 0:
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            run(job, rank, folder)
        children.append(child)
    end, left = time.time() + LONGEST, set(children)
    while time.time() < end and len(left) > (job is stopped):
        time.sleep(0.2)
        left -= {child for child in left if os.waitpid(child, os.WNOHANG)[0]}
    for child in left:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def main():
    torch.set_num_threads(1)
    for job, what, ranks, reasons in HANGS:
        name = job.__name__
        folder = os.path.join(sys.argv[1], name)
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        child = os.fork()
        if child == 0:
            try:
                record(job, folder)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        os.waitpid(child, 0)
        with open(os.path.join(folder, 'truth.json'), 'w', encoding='ascii') as out:
            json.dump({'what': what, 'ranks': ranks, 'reasons': reasons, 'version': torch.__version__}, out)
        print(name, *sorted(os.listdir(folder)), flush=True)


if __name__ == '__main__':
    main()
