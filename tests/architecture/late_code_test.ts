import { assertEquals } from "@std/assert";
import { join } from "node:path";
import ts from "typescript";
import { ROOT, sourceFiles } from "./source_files.ts";

/** What loads code only if descriptors are free. Its argument is the function that loads. */
const LOADERS = new Set(["Late", "lazyRoutes", "lazyRoutesAt"]);
/**
 * Code that does not run in a serving gateway: commands and their checks, and the console in a browser. And what reads
 * the limit of descriptors, which is no module.
 */
const OTHERS = /^src\/(?:entry\/(?:cli|doctor)|console\/client)\/|^src\/platform\/lib\/process\/descriptors\.ts$/;

/** The lines with an `import()` that a failure for want of descriptors would end for good. */
function bareImportsIn(text: string): number[] {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.ESNext, true);
  const found: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && !isLate(node)) {
      found.push(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether the function around an `import()` is the argument of a loader. */
function isLate(node: ts.Node): boolean {
  let around = node.parent;
  while (!ts.isFunctionLike(around) && !ts.isSourceFile(around)) around = around.parent;
  const { parent } = around;
  if (parent === undefined || !(ts.isNewExpression(parent) || ts.isCallExpression(parent))) return false;
  return ts.isIdentifier(parent.expression) && LOADERS.has(parent.expression.text);
}

Deno.test("code is loaded late only if descriptors are free", async () => {
  const found: string[] = [];
  for (const path of await sourceFiles("src")) {
    if (OTHERS.test(path)) continue;
    const text = await Deno.readTextFile(join(ROOT, path));
    if (text.includes("import(")) found.push(...bareImportsIn(text).map((line) => `${path}:${line}`));
  }
  assertEquals(found, []);
});

Deno.test("the search for late code finds imports outside of loaders, and in functions within them", () => {
  const text = [
    'const late = new Late(() => import("./a.ts"));',
    'const made = new Late(async () => new (await import("./a.ts")).A());',
    'lazyRoutesAt([], async () => { return (await import("./b.ts")).routes(); });',
    'const bare = async () => await import("./c.ts"); // bare',
    'const { d } = await import("./d.ts"); // bare',
    'lazyRoutesAt([], async () => ({ later: async () => await import("./e.ts") })); // bare',
    'type F = typeof import("./f.ts");',
  ];
  const expected = text.flatMap((line, index) => line.endsWith("// bare") ? [index + 1] : []);
  assertEquals(bareImportsIn(text.join("\n")), expected);
});

/** The helper itself, and what tells a query of the database's package from a promise. */
const MAY_TEST_PROMISES = ["src/platform/lib/basics/maybe_promise.ts", "src/platform/store/postgres/answering_pool.ts"];

Deno.test("whether a value is there yet is asked in one place", async () => {
  const found: string[] = [];
  for (const path of await sourceFiles("src")) {
    if (MAY_TEST_PROMISES.includes(path)) continue;
    if ((await Deno.readTextFile(join(ROOT, path))).includes("instanceof Promise")) found.push(path);
  }
  assertEquals(found, []);
});
