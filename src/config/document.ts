import { type ErrorCode, parseDocument } from "yaml";
import { ConfigError } from "./config_error.ts";
import {
  type Environment,
  expand,
  holdsBrokenExpression,
  holdsMark,
  type MarkedText,
  markExpressions,
} from "./expansion.ts";
import type { Path, Problems } from "./problems.ts";

/** A section as the file has it. */
export type Section = { [key: string]: unknown };

const MOST_ALIASES = 100;
const DEEPEST = 32;

/** What the parser's codes mean. Its own messages quote the line at fault, which may hold a key: they are not used. */
const SYNTAX: Readonly<Partial<Record<ErrorCode, string>>> = {
  ALIAS_PROPS: "an alias without properties",
  BAD_ALIAS: "a valid alias",
  BAD_DQ_ESCAPE: "a valid escape in double quotes",
  BAD_INDENT: "another indentation",
  BAD_SCALAR_START: "a value that begins with another character, or quotes around it",
  BLOCK_AS_IMPLICIT_KEY: "one key on the line, or quotes around a value with a colon",
  BLOCK_IN_FLOW: "no block inside braces or brackets",
  DUPLICATE_KEY: "each key once",
  MISSING_CHAR: "a closing quote, bracket, comma or colon",
  MULTILINE_IMPLICIT_KEY: "a key on one line",
  MULTIPLE_DOCS: "one document",
  NON_STRING_KEY: "keys of plain text",
  RESOURCE_EXHAUSTION: "a file that is less deeply nested",
  TAB_AS_INDENT: "spaces as indentation, not tabs",
  TAG_RESOLVE_FAILED: "no tag but those of YAML itself",
  UNEXPECTED_TOKEN: "quotes around a value with special characters, or a comma",
};

/**
 * Reads YAML or JSON (which is YAML) and puts the environment's values in.
 *
 * Refused: duplicate keys, several documents, unknown tags, aliases that loop or multiply, keys with an expression.
 *
 * @param problems Takes what the expansion finds; the tree can still be read on.
 * @throws {ConfigError} If it is no YAML, or no map of sections.
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

/** Whether a value is a map. */
export function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string, file: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, stringKeys: true, logLevel: "error" });
  const [first] = [...document.errors, ...document.warnings];
  if (first) {
    const at = first.linePos ? `line ${first.linePos[0].line}` : "the file";
    throw new ConfigError([
      `${file}: ${at}: expected ${SYNTAX[first.code] ?? "valid YAML"}, got what YAML calls ${first.code}`,
    ]);
  }
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error; // thrown for aliases: unresolved, or too many
    throw new ConfigError([
      `${file}: expected aliases of known anchors, at most ${MOST_ALIASES} values by them, got others`,
    ]);
  }
}

interface Walk {
  readonly marked: MarkedText;
  readonly environment: Environment;
  readonly problems: Problems;
  /** The maps and lists that the current value stands in. */
  readonly above: readonly unknown[];
}

function expandTree(value: unknown, path: Path, walk: Walk): unknown {
  if (typeof value === "string") return expandText(value, path, walk);
  if (typeof value !== "object" || value === null) return value;
  if (walk.above.includes(value) || walk.above.length >= DEEPEST) {
    walk.problems.addPlain(path, `a tree of at most ${DEEPEST} levels`, "a deeper one, or an alias of itself");
    return null;
  }
  const inside = { ...walk, above: [...walk.above, value] };
  if (Array.isArray(value)) return value.map((item, index) => expandTree(item, [...path, index], inside));
  const section: Section = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    if (holdsMark(key)) walk.problems.addPlain([...path, "(key)"], "${…} in values only", "a key with it");
    else section[key] = expandTree(item, [...path, key], inside);
  }
  return { ...section };
}

function expandText(value: string, path: Path, { marked, environment, problems }: Walk): string {
  if (holdsBrokenExpression(value)) {
    problems.addPlain(path, "${NAME}, ${NAME:-default}, or $${ for the plain characters", "another form of it");
  }
  const { text, isPrivate, missing } = expand(value, marked.expressions, environment);
  if (isPrivate) problems.keepPrivate(path);
  if (missing.length > 0) {
    problems.addPlain(path, `the environment variable ${missing[0]} to be set`, "nothing");
  }
  return text;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
