"""A store as read by h5py, with numbers resolved to texts and words; and helpers to compare it with
other files and times."""
import collections
import sqlite3

from common import equal  # before h5py: it sets the folder of HDF5's plugins
import h5py
import numpy

Event = collections.namedtuple('Event', 'category begin duration name tid thread stream call')


class Store:
    """Columns by path, read once; call of an event: begin of the call that launched it."""

    def __init__(self, path):
        self.file = h5py.File(path, 'r')
        offsets = self.file['names/offsets'][:].tolist()
        text = self.file['names/bytes'][:].tobytes()
        self.names = [text[a:b].decode('utf-8', 'replace') for a, b in zip(offsets, offsets[1:])]
        equal(self.names[0], '', 'the first name')
        self.columns = {}
        self.ranks = self['ranks/rank'].tolist()

    def __getitem__(self, name):
        if name not in self.columns:
            self.columns[name] = self.file[name][:]
        return self.columns[name]

    def texts(self, name):
        return [self.names[i] for i in self[name].tolist()]

    def words(self, name):
        """Returns the words of an enumeration column."""
        words = {v: k for k, v in h5py.check_enum_dtype(self.file[name].dtype).items()}
        return [words[v] for v in self[name].tolist()]

    def rows(self, table, *columns):
        """Returns tuples of some columns of a table."""
        return list(zip(*(self[f'{table}/{column}'].tolist() for column in columns)))

    def range(self, i):
        """Returns the row range of the events of the i-th rank."""
        first, n = int(self['ranks/first_event'][i]), int(self['ranks/n_events'][i])
        return first, first + n

    def on_the_jobs_clock(self, i, recorded):
        """Moves times of the i-th rank to the job's clock, rounded half away from zero."""
        offset, drift, middle = (self['clock/' + c][i]
                                 for c in ('offset_ns', 'drift_ppb', 'middle_ns'))
        moved = (recorded - middle).astype(float) * (drift * 1e-9)
        return recorded + offset + numpy.copysign(numpy.floor(abs(moved) + 0.5), moved).astype('int64')

    def events(self):
        """Returns the events by rank, in row order."""
        begins, launches = self['events/begin_ns'].tolist(), self['events/launch'].tolist()
        tracks = [None] * len(begins)
        for track, (first, n) in zip(zip(self.texts('tracks/tid'), self.texts('tracks/thread_name'),
                                         self['tracks/stream'].tolist()),
                                     self.rows('tracks', 'first', 'count')):
            tracks[first:first + n] = [track] * n
        calls = [begins[row] if row >= 0 else None for row in launches]
        found = [Event(*event, *track, call) for *event, track, call in
                 zip(self.words('events/category'), begins, self['events/duration_ns'].tolist(),
                     self.texts('events/name'), tracks, calls)]
        return {rank: found[slice(*self.range(i))] for i, rank in enumerate(self.ranks)}


def events(path):
    return Store(path).events()


def read_only(path):
    """Opens a database read-only with SQLite."""
    return sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)


def covered(spans):
    """Returns the intervals [begin, end) covered by any span, in order."""
    pieces = []
    for begin, end in sorted(spans):
        if pieces and begin <= pieces[-1][1]:
            pieces[-1][1] = max(pieces[-1][1], end)
        elif end > begin:
            pieces.append([begin, end])
    return pieces


def duration_of(pieces):
    return sum(end - begin for begin, end in pieces)
