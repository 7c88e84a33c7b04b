"""Checks that every table and column named in the C code exists: columns.py DEFINITIONS, a file
written by definitions.c. Runs in the root of the project.

- A string literal passed as a parameter or member called table, column or ..._column is a name. A
  non-literal value must itself be called column, so that its literals are checked at their origin.
- A column belongs to the table given next to it: a literal in the same call or row, or the table a
  variable was looked up as. If the table is unknown, any table may have the column.
- A mention of "overlap.rank" or "overlap.rank.comm_ns" in any string must exist.
"""
import re
import sys
import tempfile
from pathlib import Path

from common import files, finish, prove

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|^[ \t]*#[ \t]*include[^\n]*|"((?:\\.|[^"\\\n])*)"'
                   r"|'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|\d[\w.]*|->|\S", re.S | re.M)
COLUMN = re.compile(r"(columns?|\w+_column)$")
MENTION = re.compile(r"(?<![\w./])([a-z]+)\.([a-z_]+)(?:\.([a-z_0-9]+))?(?!\w)")
# Names there are those of other formats, or of the last version.
ELSEWHERE = ("src/readers/", "tools/synth/", "src/table/renamed.c")
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Literal(str):
    """A string literal with its line number; other tokens are plain str."""
    line = 0


class Group(list):
    """The tokens between a pair of brackets."""

    def __init__(self, opening):
        super().__init__()
        self.opening = opening


def parse(text):
    """Returns the tokens of a file, with bracketed parts as nested Groups."""
    stack = [Group("")]
    for match in TOKEN.finditer(text):
        token = match[0]
        if match[1] is not None:
            stack[-1].append(Literal(match[1]))
            stack[-1][-1].line = text.count("\n", 0, match.start()) + 1
        elif token in CLOSING:
            stack[-1].append(Group(token))
            stack.append(stack[-1][-1])
        elif token == CLOSING.get(stack[-1].opening):
            stack.pop()
        elif not token.startswith(("/*", "//")) and "include" not in token:
            stack[-1].append(token)
    return stack[0]


def each(nodes):
    """Yields (siblings, index, node) for every node, in textual order."""
    for i, node in enumerate(nodes):
        yield nodes, i, node
        if isinstance(node, Group):
            yield from each(node)


def literals(nodes):
    return [node for _, _, node in each(nodes) if isinstance(node, Literal)]


def parts(nodes, mark=","):
    """Splits the nodes at the marks."""
    found = [[]]
    for node in nodes:
        if node == mark and not isinstance(node, (Literal, Group)):
            found.append([])
        else:
            found[-1].append(node)
    return found


def last_word(nodes):
    words = [node for node in nodes if isinstance(node, str) and not isinstance(node, Literal)
             and node.isidentifier()]
    return words[-1] if words else ""


def places_of(tree):
    """Names of the string parameters of functions and string members of types; "" for others."""
    found = {}
    for around, i, node in each(tree):
        if not isinstance(node, Group) or i == 0:
            continue
        if node.opening == "(":
            key, declared = around[i - 1], [[part] for part in parts(node)]
        elif node.opening == "{" and "struct" in around[max(i - 2, 0):i]:
            key = last_word(around[i + 1:i + 2])
            declared = [parts(part) for part in parts(node, ";") if part]
        else:
            continue
        names = [last_word(part) if "char" in of_one[0] and "*" in part else ""
                 for of_one in declared for part in of_one]
        if isinstance(key, str) and any(name == "table" or COLUMN.match(name) for name in names):
            found[key] = names
    return found


def rows_of(around, i):
    """Returns the type or variable that an initialiser belongs to, and its rows; (None, []) if the
    node is no initialiser."""
    start = i - 1
    while start > 0 and isinstance(around[start - 1], Group) and around[start - 1].opening == "[":
        start -= 1
    if i < 2 or around[i - 1] != "=" or start < 2:
        return None, []
    name, kind = around[start - 1], around[start - 2]
    rows = [node for node in around[i] if isinstance(node, Group) and node.opening == "{"]
    return name if isinstance(kind, Group) else kind, rows or [around[i]]


class Check:
    """The defined tables, the problems found, and the numbers of names checked."""

    def __init__(self, definitions):
        self.tables = {name: set(re.findall(r'"(\w+)"', columns)) for name, columns
                       in re.findall(r'^  "([\w.]+)":(.*);$', definitions, re.M)}
        self.columns = set().union(*self.tables.values())
        self.rooms = {name.split(".")[0] for name in self.tables}
        self.path, self.problems = "", []
        self.n = {"tables": 0, "columns of tables": 0, "columns alone": 0, "mentions": 0}

    def expect(self, kind, holds, text, problem):
        self.n[kind] += 1
        if not holds:
            self.problems.append(f"{self.path}:{text.line}: {problem}")

    def mentions(self, text):
        for room, table, column in MENTION.findall(text):
            name = f"{room}.{table}"
            if room in self.rooms:
                self.expect("mentions", name in self.tables and
                            (not column or column in self.tables[name]), text,
                            f"{'.'.join(filter(None, (name, column)))} does not exist")

    def column(self, text, table):
        if table in self.tables:
            self.expect("columns of tables", text in self.tables[table], text,
                        f"{table} has no column {text}")
        else:
            self.expect("columns alone", text in self.columns, text, f"no table has {text}")

    def found_as(self, nodes, scope):
        """Returns the table that an expression denotes, or None."""
        if nodes[:1] == ["tm_tables_find"]:
            return next(iter(literals(nodes)), None)
        return scope.get(nodes[0]) if nodes and isinstance(nodes[0], str) else None

    def given(self, names, values, scope):
        """Checks values against the names of their positions: arguments of a call, or a row."""
        beside = [text for name, value in zip(names, values) if name == "table"
                  for text in literals(value)]
        beside += filter(None, (self.found_as(value, scope) for value in values))
        for name, value in zip(names, values):
            texts = literals(value)
            for text in texts:
                if name == "table":
                    self.expect("tables", text in self.tables, text, f"there is no table {text}")
                elif COLUMN.match(name):
                    self.column(text, beside[0] if beside else None)
            if COLUMN.match(name) and not texts and value and value != ["NULL"] and \
                    not COLUMN.match(last_word(value)):
                self.problems.append(f"{self.path}: {' '.join(map(str, value))} is a column: its "
                                     "name must say so")

    def file(self, path, tree, known):
        self.path, known, scope = path, {**known, **places_of(tree)}, {}
        for around, i, node in each(tree):
            if isinstance(node, Literal):
                self.mentions(node)
            elif isinstance(node, Group) and node.opening == "{":
                if around is tree:
                    scope = {}  # start of a function
                kind, rows = rows_of(around, i)
                for row in rows if kind in known else []:
                    self.given(known[kind], parts(row), scope)
            elif isinstance(node, Group) and node.opening == "(" and i > 0:
                self.given(known.get(around[i - 1], []) if isinstance(around[i - 1], str) else [],
                           parts(node), scope)
            elif node == "=" and i > 0:
                self.assigned(around, i, scope)

    def assigned(self, around, i, scope):
        """Handles NAME = value: records the table that a variable now denotes; checks the columns
        that an array lists."""
        start = i - 1
        while start > 0 and isinstance(around[start], Group):
            start -= 1
        value = parts(parts(around[i + 1:], ";")[0])[0]
        scope[str(around[start])] = self.found_as(value, scope) if len(value) <= 2 else None
        if COLUMN.match(str(around[start])) and "char" in around[max(start - 6, 0):start]:
            for node in value:
                for text in literals([node]) if getattr(node, "opening", "{") == "{" else []:
                    self.column(text, None)


def check(root, definitions):
    result = Check(definitions)
    trees = {path: parse(Path(root, path).read_text(encoding="utf-8")) for path in files(root)
             if not path.as_posix().startswith(ELSEWHERE)}
    known = {}
    for path, tree in trees.items():
        if path.suffix == ".h":
            known.update(places_of(tree))
    for path, tree in trees.items():
        result.file(path, tree, known)
    result.problems += [f"found no {what}: the check itself is broken"
                        for what, n in result.n.items() if n == 0]
    return result.problems, sum(result.n.values())


def prove_that_it_fails():
    definitions = """  "a.good": | "rank" | "own_ns";\n  "b.good": | "host";\n"""
    header = ("tm_table *tm_tables_find(const tm_tables *tables, const char *table);\n"
              "const tm_cell *tm_table_cell(const tm_table *t, size_t row, const char *column);\n"
              "int64_t sum(const facts *f, const char *table, const char *column);\n")
    bad = """
typedef struct figure { const char *table, *column; int how; } figure;
static const figure figures[] = {{"a.good", "rank", 1}, {"a.good", "host", 2}};
static const struct { const char *what, *own_column; } causes[] = {{"wrnog", "wrong_a"}};
void f(const tm_table *given, const char *name) { /* "wrong" */
    const tm_table *own = tm_tables_find(x, "a.good"), *other = tm_tables_find(x, "wrong_table");
    static const char *const columns[2] = {"host", "wrong_b"}; strcmp(name, "wrong");
    tm_table_cell(own, row(own), which ? "own_ns" : "host"); sum(f, "b.good", "host");
    tm_table_cell(given, 0, "wrong_c"); tm_table_cell(given, 0, columns[name[0]]);
    sum(f, "b.good", "rank"); sum(f, "b.good", name); sum(given, table, causes[0].own_column);
    puts("of b.good.host, a.good, b.good.rank and a.wrong, but x.json"); }
void g(const tm_table *own) { tm_table_cell(own, 0, "host"); }
"""
    with tempfile.TemporaryDirectory() as root:
        for path, text in (("include/x.h", header), ("src/bad.c", bad), ("tools/synth/s.c", bad)):
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_text(text, encoding="utf-8")
        prove(check(root, definitions)[0], [
            "bad.c:3: a.good has no column host", "bad.c:4: no table has wrong_a",
            "bad.c:6: there is no table wrong_table", "bad.c:7: no table has wrong_b",
            "bad.c:8: a.good has no column host", "bad.c:9: no table has wrong_c",
            "bad.c:10: b.good has no column rank", "bad.c: name is a column",
            "bad.c:11: b.good.rank does not exist", "bad.c:11: a.wrong does not exist"])
        Path(root, "src/bad.c").write_text("", encoding="utf-8")
        prove(check(root, definitions)[0], [
            "found no tables", "found no columns of tables", "found no columns alone",
            "found no mentions"])


if __name__ == "__main__":
    prove_that_it_fails()
    finish(*(lambda result: (result[0], "names", result[1]))(
        check(".", Path(sys.argv[1]).read_text(encoding="utf-8"))))
