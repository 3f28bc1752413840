import { assertEquals } from "@std/assert";
import ts from "typescript";
import { parsed, type SourceTrees } from "./exports.ts";
import { sourceTrees } from "./source_trees.ts";

/** The console runs in the browser of whoever reads; the simulated vendors are others' programs. */
const OTHERS = /^src\/(?:console\/client|sandbox)\//;

/** A constant whose type has any text as a key. */
const TABLE = /^(?:Readonly<|Partial<)*Record<string,/;

Deno.test("tables: a value under a text from outside is read by ownValue()", async () => {
  assertEquals(plainReadsIn(await sourceTrees()), []);
});

Deno.test("tables: a read in brackets is found, also of an imported table; a name in quotes is none", () => {
  const trees = parsed(
    new Map([
      ["src/a.ts", 'export const T: Readonly<Record<string, number>> = { a: 1 };\nT[key]; T["a"]; ownValue(T, key);'],
      ["src/b.ts", 'import { T } from "./a.ts";\nconst x = T[key] ?? 0;'],
      ["src/c.ts", "const T: Readonly<Record<Key, number>> = { a: 1 };\nT[key];"],
    ]),
  );
  assertEquals(plainReadsIn(trees), ["src/a.ts: T[key]", "src/b.ts: T[key]"]);
});

/** Reads of a table by a key that can be the name of what every object inherits, such as `constructor`. */
function plainReadsIn(trees: SourceTrees): string[] {
  const own = [...trees].filter(([file]) => file.startsWith("src/") && !OTHERS.test(file));
  const exported = new Set(own.flatMap(([, tree]) => tablesOf(tree)));
  return own.flatMap(([file, tree]) => {
    const tables = new Set([...tablesOf(tree), ...importedBy(tree).filter((name) => exported.has(name))]);
    const reads: string[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isElementAccessExpression(node) && !ts.isStringLiteral(node.argumentExpression)) {
        if (tables.has(node.expression.getText(tree))) reads.push(`${file}: ${node.getText(tree)}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return reads;
  });
}

function tablesOf(tree: ts.SourceFile): string[] {
  const constants = tree.statements.filter(ts.isVariableStatement).flatMap((each) => [
    ...each.declarationList.declarations,
  ]);
  return constants.filter(({ type }) => type !== undefined && TABLE.test(type.getText(tree)))
    .map(({ name }) => name.getText(tree));
}

function importedBy(tree: ts.SourceFile): string[] {
  return tree.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
    const named = importClause?.namedBindings;
    return named !== undefined && ts.isNamedImports(named) ? named.elements.map(({ name }) => name.text) : [];
  });
}
