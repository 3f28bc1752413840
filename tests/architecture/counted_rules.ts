import ts from "typescript";
import { exportsOf, type SourceTrees } from "./exports.ts";

/** How often the source breaks each rule of CONTRIBUTING.md that old code breaks. */
export type RuleCounts = Readonly<Record<CountedRule, number>>;

/** A rule that is counted. */
export type CountedRule =
  | "non-null assertions"
  | "casts"
  | "casts by way of unknown"
  | "suppressed lints"
  | "functions with more than three parameters"
  | "files over 300 lines"
  | "exports that only tests import"
  | "exported names with two meanings"
  | "test files with setTimeout";

const MAX_LINES = 300;
const MAX_PARAMETERS = 3;

/** Counts what breaks the rules in the files under `src` and `tests`. */
export function countedRules(trees: SourceTrees): RuleCounts {
  const below = (folder: string) =>
    [...trees].filter(([file]) => file.startsWith(folder) && !file.includes("/std/")).map(([, tree]) => tree);
  const tests = below("tests/").map(({ text }) => text);
  const counts: Record<CountedRule, number> = {
    "non-null assertions": 0,
    "casts": 0,
    "casts by way of unknown": 0,
    "suppressed lints": 0,
    "functions with more than three parameters": 0,
    "files over 300 lines": 0,
    "exports that only tests import": 0,
    "exported names with two meanings": 0,
    "test files with setTimeout": 0,
  };
  const exported = new Map<string, number>();
  const mentions = new Map<string, number>();
  const inTests = new Set(tests.flatMap((text) => text.match(/\w+/g) ?? []));
  for (const tree of below("src/")) {
    const { text } = tree;
    if (text.trimEnd().split("\n").length > MAX_LINES) counts["files over 300 lines"]++;
    counts["suppressed lints"] += [...text.matchAll(/deno-lint-ignore|@ts-(?:ignore|expect-error)/g)].length;
    const visit = (node: ts.Node): void => {
      if (ts.isNonNullExpression(node)) counts["non-null assertions"]++;
      if (ts.isAsExpression(node) && !isConst(node.type)) {
        counts.casts++;
        if (ts.isAsExpression(node.expression) && node.expression.type.kind === ts.SyntaxKind.UnknownKeyword) {
          counts["casts by way of unknown"]++;
        }
      }
      if (isDeclaredFunction(node) && node.parameters.length > MAX_PARAMETERS) {
        counts["functions with more than three parameters"]++;
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    for (const name of exportsOf(tree).keys()) exported.set(name, (exported.get(name) ?? 0) + 1);
    for (const word of new Set(text.match(/\w+/g))) mentions.set(word, (mentions.get(word) ?? 0) + 1);
  }
  for (const [name, files] of exported) {
    if (files > 1) counts["exported names with two meanings"]++;
    if (mentions.get(name) === 1 && inTests.has(name)) counts["exports that only tests import"]++;
  }
  for (const text of tests) if (/\bsetTimeout\(/.test(text)) counts["test files with setTimeout"]++;
  return counts;
}

function isConst(type: ts.TypeNode): boolean {
  return ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName) && type.typeName.text === "const";
}

/** A function, method or constructor with a body. What is passed to others has the parameters that they give it. */
function isDeclaredFunction(node: ts.Node): node is ts.FunctionDeclaration | ts.MethodDeclaration {
  return (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node)) &&
    node.body !== undefined;
}
