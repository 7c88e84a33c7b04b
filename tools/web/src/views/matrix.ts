/** Who communicates with whom, by host or by rank: a part of the communication view. */
import type { Job } from "../data";
import * as f from "../format";
import { lacksRanks, ranksOf } from "../job";
import { heatMap } from "../map";
import { controls, link, note, section, lines, chooser } from "../ui";
import type { Context } from "../view";

const RANKS_MOST = 64; // with more ranks, there is no map by rank

/** Returns the ranks in a text such as "0-3,8-24:8", whose second part means 8, 16, 24; null if the text is cut. */
export function membersOf(text: string): number[] | null {
  const ranks: number[] = [];
  for (const part of text.split(",")) {
    const match = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part);
    if (!match) return null;
    const step = Number(match[3] ?? 1);
    if (step < 1) return null;
    for (let rank = Number(match[1]); rank <= Number(match[2] ?? match[1]); rank += step) ranks.push(rank);
  }
  return ranks;
}

/* Values of pairs of hosts or ranks. `of`: number of rows that were added to a pair. `even`: all pairs have the same value; null: no
 * rows. */
type Square = ReturnType<typeof square>;
const square = () => ({ cells: new Map<string, Readonly<Record<"value" | "of", number>>>(), even: null as boolean | null });

function add({ cells }: Square, a: number, b: number, value: number, join: (x: number, y: number) => number): void {
  const cell = cells.get(`${a} ${b}`);
  cells.set(`${a} ${b}`, cell ? { value: join(cell.value, value), of: cell.of + 1 } : { value, of: 1 });
}

/* Makes hosts the rows and columns. Leaves out ranks whose host is unknown. */
function hostsOf(job: Job): Places {
  const { host, hosts } = ranksOf(job),
    names = hosts.filter((name) => name !== "");
  return { names, of: new Map([...host].filter(([, name]) => name !== "").map(([rank, name]) => [rank, names.indexOf(name)])) };
}

type Places = ReturnType<typeof byRank>;

function byRank(job: Job) {
  const { ranks } = ranksOf(job);
  return { names: ranks.map((rank) => `rank ${rank}`), of: new Map(ranks.map((rank, i) => [rank, i])) };
}

const sum = (a: number, b: number) => a + b;

/* Adds a group's value to each pair of the group's hosts. If the group has only one host, adds it on the diagonal. */
function addGroup(own: Square, places: Places, ranks: readonly number[], value: number, join: (a: number, b: number) => number): void {
  const all = new Set(ranks.map((rank) => places.of.get(rank))),
    hosts = [...all].filter((host) => host !== undefined);
  own.even = own.even !== false && hosts.length === places.names.length;
  if (all.size === 1 && hosts.length === 1) add(own, hosts[0]!, hosts[0]!, value, join);
  for (const a of hosts) for (const b of hosts) if (a !== b) add(own, a, b, value, join);
}

function pictures(job: Job) {
  const hosts = hostsOf(job),
    group = job.table("groups.group"),
    links = job.table("groups.link"),
    pairs = job.table("bubble.pair"),
    exchanged = job.table("collectives.pair");
  const [time, slow, sent, ranks, exchanges] = [square(), square(), square(), square(), square()],
    each = byRank(job);
  let cut = 0;
  for (let row = 0; row < group.n; row++) {
    const members = membersOf(group.text(row, "members") ?? "");
    if (members) addGroup(time, hosts, members, group.amount(row, "comm_ns"), sum);
    else cut++;
  }
  for (let row = 0; row < links.n; row++) {
    const from = links.num(row, "from_rank"),
      to = links.num(row, "to_rank"),
      members = from !== null && to !== null ? [from, to] : membersOf(links.text(row, "members") ?? ""),
      value = links.num(row, "times_slower");
    if (members && value !== null) addGroup(slow, hosts, members, value, Math.max);
  }
  const sized = pairs.n > 0 && pairs.known("bytes") === pairs.n,
    column = sized ? "bytes" : "transfer_ns";
  for (let row = 0; row < pairs.n; row++) {
    const from = pairs.num(row, "from_rank") ?? -1,
      to = pairs.num(row, "to_rank") ?? -1,
      value = pairs.amount(row, column);
    for (const [of, places] of [[sent, hosts] as const, [ranks, each] as const])
      if (places.of.has(from) && places.of.has(to)) add(of, places.of.get(from)!, places.of.get(to)!, value, sum);
  }
  for (let row = 0; row < exchanged.n; row++) {
    const from = each.of.get(exchanged.num(row, "from_rank") ?? -1),
      to = each.of.get(exchanged.num(row, "to_rank") ?? -1),
      value = exchanged.num(row, "bytes");
    if (from !== undefined && to !== undefined && value !== null) add(exchanges, from, to, value, sum);
  }
  const write = sized ? f.bytes : f.time,
    what = sized ? "What was sent" : "How long transfers took",
    notes = {
      time: "GPU time of the process groups that have ranks on both hosts; on the diagonal, of those within one host. A group on more hosts counts for each pair of them: how much went between two hosts is not recorded.",
      slow: "The slowest link (process group or pair of ranks) of the two hosts, as a multiple of the time that similar links take. A host with a slow network stands out as a row and a column.",
      sent: `${what} from the ranks of one host (row) to those of another (column), by sends and receives.`,
      ranks: `${what} from one rank (row) to another (column), by sends and receives.`,
      exchanges:
        "What was sent from one rank (row) to another (column) by all-to-all operations; on the diagonal, what stayed on the rank. Where ranks hold experts, a column that stands out is a rank whose experts are chosen more often.",
    };
  const picture = (key: keyof typeof notes, label: string, square: Square, one: string, write: (n: number) => string, places = hosts) => {
    return { key, label, note: notes[key], square, one, write, places, rows: places === hosts ? "host" : "rank" };
  };
  const all = [
    picture("time", "process groups", time, "group", f.time),
    picture("slow", "slowness", slow, "link", f.times),
    picture("sent", "sends, by host", sent, "pair", write),
    picture("ranks", "sends, by rank", ranks, "pair", write, each),
    picture("exchanges", "all-to-all, by rank", exchanges, "pair", f.bytes, each),
  ];
  return {
    all: all.filter(
      ({ square, places, rows }) =>
        square.cells.size > 0 && places.names.length > 1 && (rows === "host" || places.names.length <= RANKS_MOST),
    ),
    cut,
  };
}

/** Makes the part about who communicates with whom; null if this is unknown. */
export function matrix(context: Context): HTMLElement | null {
  const { job, params } = context;
  if (lacksRanks(job))
    return section(
      "Who communicates with whom",
      note(
        "The page holds only some ranks, and so not all pairs. Those that it has: ",
        (["groups.group", "bubble.pair", "collectives.pair"] as const).map((name) => [link(name, "tables", { name }), " "]),
      ),
    );
  const { all, cut } = pictures(job),
    shown = all.find(({ key }) => key === params.get("pairs")) ?? all[0];
  if (!shown) return null;
  const { square, places, write, one } = shown;
  const choice = all.length > 1 && controls(chooser(context, "Pairs", "pairs", all, shown.key));
  if (square.even && cut === 0)
    return section(
      "Who communicates with whom",
      choice,
      `All hosts with all others: every ${one} has ranks on all ${f.grouped(places.names.length)} of them, so none stands out.`,
    );
  return section(
    "Who communicates with whom",
    choice,
    note(
      shown.note,
      shown.key === "time" && cut > 0 && ` ${f.count(cut, "group")} of very many ranks left out: the list of ranks is cut short.`,
    ),
    heatMap({
      label: `Who communicates with whom, by ${shown.rows}: ${shown.label}`,
      rows: places.names,
      columns: places.names,
      nothing: "nothing",
      ramp: shown.key === "slow" ? "wait" : "work",
      ...(shown.key === "slow" ? { from: 1 } : {}),
      cell: (r, c) => {
        const cell = square.cells.get(`${r} ${c}`);
        if (!cell) return null;
        return {
          value: cell.value,
          text: write(cell.value),
          tip: () =>
            lines(
              `${places.names[r]} ${shown.key === "sent" || shown.key === "ranks" ? "to" : "and"} ${places.names[c]}`,
              `${write(cell.value)}, ${shown.key === "slow" ? "the most of" : "of"} ${f.count(cell.of, one)}`,
            ),
        };
      },
    }),
  );
}
