/** SQL: queries over the tables and events of a store, in a served page. */
import { tableFrom, type Job, type Table } from "../data";
import { fill, h } from "../dom";
import { csvOf, download, grid } from "../grid";
import { ask, isServed } from "../served";
import { controls, empty, heading, link, note, select } from "../ui";
import { href, type View } from "../view";

const LONGEST = 4000; // maximum number of characters of a statement, because the server limits the length of a request

const EXAMPLES: readonly (readonly [statement: string, title: string])[] = [
  [
    "SELECT rank, step, begin_ns, duration_ns, exposed_ns, name\nFROM events WHERE exposed_ns > 0\nORDER BY exposed_ns DESC LIMIT 20",
    "most exposed communication",
  ],
  [
    "SELECT name, count(*) AS calls, sum(duration_ns) AS total_ns\nFROM events WHERE role = 'compute'\nGROUP BY name ORDER BY total_ns DESC LIMIT 20",
    "kernels by total time",
  ],
  [
    "SELECT rank, step, count(*) AS kernels, max(duration_ns) AS longest_ns\nFROM events WHERE role = 'compute'\nGROUP BY rank, step ORDER BY rank, step",
    "kernels by rank and step",
  ],
];

/* For a row with a rank and a begin, returns their place on the timeline. */
function placeOf(job: Job, table: Table, row: number): string | undefined {
  const of = (name: string) => table.rows[row]![table.columns.findIndex((column) => (column.name as string) === name)] ?? null,
    [rank, begin, duration] = [of("rank"), of("begin_ns"), of("duration_ns")];
  if (typeof rank !== "number" || typeof begin !== "string" || !/^\d+$/.test(begin) || job.begin === null) return undefined;
  const from = Number(BigInt(begin) - job.begin),
    length = Math.max(1, Number(duration ?? 1));
  return href("timeline", { rank, t: `${Math.max(0, from - length)}-${from + 2 * length}`, mark: `${from}-${from + length}`, lanes: rank });
}

function draw(box: HTMLElement, job: Job, { table, more }: ReturnType<typeof tableFrom>): void {
  const save = () => download("query.csv", "text/csv", csvOf(table, table.all));
  fill(
    box,
    controls(
      more && h("span", { role: "status" }, `The first ${table.n} rows; tmerge query has all.`),
      h("button", { click: save }, "Save as CSV"),
    ),
    grid(table, { label: "Rows of the query", link: (row) => placeOf(job, table, row) }),
  );
}

export const sql: View = {
  id: "sql",
  title: "SQL",
  needs: [],
  shown: isServed,
  render(root, context) {
    const { job, params } = context,
      box = h("div"),
      text = h("textarea.statement", { "aria-label": "Statement", spellcheck: false, on: { keydown: onKey } });
    let turn = 0;
    function onKey(e: KeyboardEvent): void {
      if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      run();
    }
    function run(): void {
      const own = ++turn;
      context.set({ text: text.value || null });
      fill(box, empty("Reading …"));
      ask("sql", { text: encodeURIComponent(text.value) }).then(
        (bytes) => own === turn && draw(box, job, tableFrom(new TextDecoder().decode(bytes))),
        (error: Error) => own === turn && fill(box, h("p.note.wrong", { role: "status" }, `${error.message}.`)),
      );
    }
    text.maxLength = LONGEST;
    text.value = params.get("text") ?? EXAMPLES[0]![0];
    root.append(
      heading("SQL", "One SELECT over the tables and the events of this store. A row with rank and begin_ns leads to the timeline."),
      controls(
        select("Example", [["", "choose …"], ...EXAMPLES], "", (statement) => statement && ((text.value = statement), run())),
        h("button", { title: "Ctrl+Enter", click: run }, "Run"),
        link("Names of tables and columns", "tables"),
      ),
      text,
      note("events has one row for each event; a table is written as in Tables, for example collectives.instance."),
      box,
    );
    if (params.has("text")) run();
  },
};
