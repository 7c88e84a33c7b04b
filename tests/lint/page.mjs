// Checks the page's TypeScript with the compiler, Prettier and ESLint: node page.mjs SOURCES WEB [--fix]
//
// WEB holds the installed packages, and the tsconfig.json that names the tables. --fix fixes what can be fixed.
// All types are checked, and columns that tables name in texts. Prettier and ESLint check the 30 files that changed last and a seventh of the others; in the
// full set all files.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [sources, web, fix] = process.argv.slice(2);
const required = createRequire(join(web, "package.json"));
const prettier = required("prettier"), { ESLint } = required("eslint"), typescript = required("typescript-eslint"), compiler = required("typescript");

const FORMAT = { printWidth: 140 };
/* Rules that the compiler or the page's style make unnecessary: `!` after a checked bound, a number in a template, an arrow function that
 * returns the result of a void call. */
const RULES = {
  "@typescript-eslint/no-non-null-assertion": "off",
  "@typescript-eslint/no-confusing-void-expression": "off",
  "@typescript-eslint/no-meaningless-void-operator": "off",
  "@typescript-eslint/no-invalid-void-type": "off",
  "@typescript-eslint/restrict-template-expressions": "off",
  "@typescript-eslint/use-unknown-in-catch-callback-variable": "off",
  eqeqeq: "error",
};

const files = readdirSync(sources, { recursive: true }).filter((name) => name.endsWith(".ts")).map((name) => join(sources, name)).sort();
const recent = join(dirname(fileURLToPath(import.meta.url)), "recent.py");
const named = execFileSync("python3", [recent, "--latest=30", ".ts", relative(".", sources)], { encoding: "utf8" }).split("\n").filter(Boolean).map((name) => resolve(name));
const due = fix ? files : files.filter((file) => named.includes(resolve(file)));
const wrong = [];

for (const file of due) {
  const text = readFileSync(file, "utf8"), options = { ...FORMAT, filepath: file };
  if (await prettier.check(text, options)) continue;
  if (fix) writeFileSync(file, await prettier.format(text, options));
  else wrong.push(`${relative(".", file)}: is not as Prettier has it`);
}

/* One program for the compiler's diagnostics and for ESLint's type-aware rules. */
const { options, fileNames } = compiler.getParsedCommandLineOfConfigFile(join(web, "tsconfig.json"), {}, { ...compiler.sys, onUnRecoverableConfigFileDiagnostic: (said) => { throw new Error(said.messageText); } });
const program = compiler.createProgram(fileNames, options);
for (const { file, start, messageText } of compiler.getPreEmitDiagnostics(program)) {
  const place = file ? `${relative(".", file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1}: ` : "";
  wrong.push(place + compiler.flattenDiagnosticMessageText(messageText, "\n"));
}

/* Columns in texts, such as grid(table, {}, "rank; idle_ns: idle"), must be of the table in an earlier argument; part() has the table's name instead. */
const checker = program.getTypeChecker(), HOW = /^\w+<(name|narrow|kernel( narrow)?|(bar|percent)( [\w-]+)?|bytes|memory|significant|flop|kind|spare)>(: |$)/;
const { symbol: definitions } = program.getSourceFiles().find(({ fileName }) => fileName.endsWith("/definitions.d.ts"));
const tables = checker.getDeclaredTypeOfSymbol(definitions.exports.get("Tables"));
function checkColumns(node, file) {
  const place = compiler.isCallExpression(node) ? { __proto__: null, grid: 0, columns: 0, part: 0, filtered: 1, tableSection: 2 }[node.expression.getText().split("<")[0]] : undefined;
  const isPart = place !== undefined && node.expression.getText() === "part";
  if (place !== undefined && (!isPart || compiler.isStringLiteral(node.arguments[0]))) {
    const [table, ...items] = node.arguments.slice(place).filter((_, i) => !isPart || i !== 1), known = checker.getTypeAtLocation(table).getProperty("columns");
    const columns = known && checker.getTypeOfSymbolAtLocation(known, table).getNumberIndexType().getProperty("name");
    const names = columns ? checker.getTypeOfSymbolAtLocation(columns, table) : checker.getTypeOfSymbol(tables.getProperty(table.text));
    const own = ((checker.getBaseConstraintOfType(names) ?? names).types ?? [names]).map(({ value }) => value);
    const check = (item) => {
      if (compiler.isBinaryExpression(item)) return check(item.right); // condition && "rank"
      if (compiler.isConditionalExpression(item)) return [item.whenTrue, item.whenFalse].forEach(check);
      if (compiler.isArrayLiteralExpression(item)) return item.elements.forEach(check);
      if (compiler.isArrowFunction(item)) return check(item.body); // what depends on the job
      if (compiler.isBlock(item)) return item.statements.filter(compiler.isReturnStatement).forEach(({ expression }) => check(expression));
      if (compiler.isSpreadElement(item)) return check(item.expression);
      if (compiler.isParenthesizedExpression(item)) return check(item.expression);
      if (!compiler.isStringLiteral(item)) return;
      for (const each of item.text.split("; "))
        if (!own.includes(each.split(/[<:]/)[0]) || (each.includes("<") && !HOW.test(each))) wrong.push(`${relative(".", file.fileName)}:${file.getLineAndCharacterOfPosition(item.getStart()).line + 1}: no column ${each}`);
    };
    items.forEach(check);
  }
  compiler.forEachChild(node, (child) => checkColumns(child, file));
}
for (const name of files) checkColumns(program.getSourceFile(name), program.getSourceFile(name));

/* With wrong types, ESLint would remove casts that are needed. */
if (fix && wrong.length > 0) {
  console.log(`${wrong.join("\n")}\nnothing was fixed: first make the page compile (build the target definitions_text)`);
  process.exit(1);
}

const eslint = new ESLint({
  cwd: sources,
  fix: fix !== undefined,
  overrideConfigFile: true,
  overrideConfig: typescript.config({
    files: ["**/*.ts"],
    extends: [...typescript.configs.strictTypeChecked],
    languageOptions: { parserOptions: fix ? { project: join(web, "tsconfig.json"), tsconfigRootDir: sources } : { programs: [program] } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: RULES,
  }),
});
const results = await eslint.lintFiles(due);
if (fix) await ESLint.outputFixes(results);
for (const { filePath, messages } of results)
  for (const { line, ruleId, message } of messages) wrong.push(`${relative(".", filePath)}:${line}: ${message} (${ruleId})`);

for (const each of wrong) console.error(each);
console.log(`${program.getRootFileNames().length} files of the page, ${results.length} of them under ESLint, ${wrong.length} problems`);
if (files.length === 0 || results.length === 0 || wrong.length > 0) {
  console.error(`to fix what can be: node ${relative(".", process.argv[1])} ${sources} ${web} --fix`);
  process.exit(1);
}
