"""The recorded real jobs: their training, and which ranks are slowed and how."""
import collections

RANKS = 4
STEPS = 20  # recorded steps

# shape: kind of parallelism (record.py, SHAPES). cause: how ranks are slowed (record.py, CAUSES).
# slow: the slowed ranks. amount: ms a step; additional forward passes; factor of the batch size;
# neighbours, several of which slow a rank more than the one that shares its core.
Job = collections.namedtuple('Job', 'name shape cause slow amount seed')

ALL = tuple(range(RANKS))
NOBODY = [('ddp', 5), ('fsdp2', 2), ('tp', 1), ('hybrid', 2), ('pp', 1), ('async', 1), ('threads', 1),
          ('compile', 1)]
ONE = [('ddp', 'work', 4), ('ddp', 'work', 6), ('ddp', 'work', 10), ('ddp', 'sleep', 10),
       ('ddp', 'sleep', 5), ('ddp', 'neighbour', 4), ('async', 'neighbour', 4), ('fsdp2', 'neighbour', 4),
       ('fsdp2', 'work', 8), ('tp', 'sleep', 10), ('hybrid', 'work', 8), ('hybrid', 'sleep', 15),
       ('async', 'work', 8), ('pp', 'sleep', 15)]
OTHERS = [('ddp', 'loader', 'all', 30), ('fsdp2', 'loader', 'all', 30), ('threads', 'loader', 'all', 20),
          ('ddp', 'loader', 'one', 20), ('async', 'loader', 'one', 20), ('ddp', 'gc', 'one', 1),
          ('fsdp2', 'gc', 'one', 1), ('ddp', 'gc', 'turns', 1), ('async', 'gc', 'turns', 1),
          ('ddp', 'uneven', 'turns', 4), ('compile', 'uneven', 'turns', 4), ('ddp', 'uneven', 'one', 3),
          ('async', 'uneven', 'one', 4)]


def jobs(seed=1):
    rows = [(shape, 'none', (), 0) for shape, n in NOBODY for _ in range(n)]
    rows += [(shape, cause, 'one', amount) for shape, cause, amount in ONE]
    rows += OTHERS
    out = []
    for number, (shape, cause, who, amount) in enumerate(rows):
        slow = {'one': ((seed + number) % RANKS,), 'all': ALL, 'turns': ALL}.get(who, ())
        word = cause + {'all': '-all', 'turns': '-turns'}.get(who, '')
        out.append(Job(f'{number:02}-{shape}-{word}', shape, word, slow, amount, seed * 1000 + number))
    return out
