import { type Document, isScalar, parseDocument, visit } from "yaml";
import { ConfigError } from "./config_error.ts";
import {
  type Environment,
  expand,
  holdsBrokenExpression,
  holdsMark,
  type MarkedText,
  markExpressions,
} from "./expansion.ts";
import type { Problems } from "./problems.ts";
import { isSection, type Section } from "./section.ts";
import type { Path } from "./setting_path.ts";
import { syntaxProblem } from "./syntax_problem.ts";

const MAX_ALIASES = 100;
const MAX_DEPTH = 32;

/**
 * Reads YAML or JSON (a subset of YAML) and expands the environment's values.
 *
 * Refused: duplicate keys, several documents, unknown tags, aliases that loop or multiply, keys with an expression.
 *
 * @param problems Takes the problems of the expansion. The tree is usable in spite of them.
 * @throws {ConfigError} If the text is not valid YAML, or not a map of sections.
 */
export function readDocument(text: string, file: string, environment: Environment, problems: Problems): Section {
  const plain = text.replace(/^\ufeff/, "");
  if (holdsMark(plain)) {
    throw new ConfigError([`${file}: expected text, got the private-use character U+E000 or U+E001`]);
  }
  const marked = markExpressions(plain);
  const parsed = parse(marked.text, file) ?? {};
  const tree = expandTree(parsed, [], { marked, environment, problems, above: [] });
  if (!isSection(tree)) throw new ConfigError([`${file}: expected a map of sections, got ${kindOf(tree)}`]);
  return tree;
}

function parse(text: string, file: string): unknown {
  // The parser compares each key with all others of its map, which takes a minute for 80,000 of them.
  const options = { prettyErrors: false, stringKeys: true, uniqueKeys: false, logLevel: "error" } as const;
  const document = parseDocument(text, options);
  const [first] = [...document.errors, ...document.warnings];
  if (first) {
    const { code, message, pos } = first;
    throw new ConfigError([syntaxProblem(file, text, { code, message, offset: pos[0] })]);
  }
  const repeated = repeatedKeyIn(document);
  if (repeated !== null) {
    const fault = { code: "DUPLICATE_KEY", message: "", offset: repeated } as const;
    throw new ConfigError([syntaxProblem(file, text, fault)]);
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error; // The parser throws this for aliases: unresolved, or too many.
    throw new ConfigError([
      `${file}: expected aliases of defined anchors, with at most ${MAX_ALIASES} values, got other aliases`,
    ]);
  }
}

/** Where a key begins that its map has already; null if there is none. */
function repeatedKeyIn(document: Document.Parsed): number | null {
  let found: number | null = null;
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        const value = isScalar(key) ? key.value : key;
        if (keys.has(value)) {
          found = isScalar(key) ? key.range?.[0] ?? 0 : 0;
          return visit.BREAK;
        }
        keys.add(value);
      }
    },
  });
  return found;
}

interface Walk {
  readonly marked: MarkedText;
  readonly environment: Environment;
  readonly problems: Problems;
  /** The maps and lists that contain the current value. */
  readonly above: readonly unknown[];
}

function expandTree(value: unknown, path: Path, walk: Walk): unknown {
  if (typeof value === "string") return expandText(value, path, walk);
  if (typeof value !== "object" || value === null) return value;
  if (walk.above.includes(value) || walk.above.length >= MAX_DEPTH) {
    walk.problems.addPlain(path, `a tree of at most ${MAX_DEPTH} levels`, "a deeper tree, or an alias of itself");
    return null;
  }
  const inside = { ...walk, above: [...walk.above, value] };
  if (Array.isArray(value)) return value.map((item, index) => expandTree(item, [...path, index], inside));
  const section: Section = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    if (holdsMark(key)) walk.problems.addPlain([...path, "(key)"], "${…} in values only", "a key with an expression");
    else section[key] = expandTree(item, [...path, key], inside);
  }
  return { ...section };
}

function expandText(value: string, path: Path, { marked, environment, problems }: Walk): string {
  if (holdsBrokenExpression(value)) {
    problems.addPlain(path, "${NAME}, ${NAME:-default}, or $${ for the plain characters", "an invalid expression");
  }
  const { text, isPrivate, missing } = expand(value, marked.expressions, environment);
  if (isPrivate) problems.keepPrivate(path);
  if (missing.length > 0) {
    problems.addPlain(path, `the environment variable ${missing[0]} to be set, or to be in .env`, "nothing");
  }
  return text;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
