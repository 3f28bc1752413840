import * as z from "zod";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import type { ReadContext } from "../../platform/lib/settings/settings.ts";
import { ConfigError } from "./config_error.ts";
import { nearestWord } from "../../platform/lib/text/nearest_word.ts";
import { isSecretPath, type Path, pathText, SECRET_FIELDS, shownText } from "./setting_path.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** The most problems that are reported at once. */
const MAX_PROBLEMS = 100;

/** Reads a value. Throws {@linkcode z.ZodError} if the value is not valid. */
export type Reader<T> = (value: unknown, context: ReadContext) => T;

/** Collects the problems of a configuration, so that all are reported at once. Each path keeps its first problem. */
export class Problems {
  readonly #file: string;
  readonly #lines = new Map<string, string>();
  readonly #privatePaths = new Set<string>();
  readonly #origins = new Map<string, string>();
  readonly #originsBelow = new Map<string, string>();
  /** The problems that were added, also those at a path that has one. */
  #count = 0;

  /** @param file The name of the file in each line. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Marks a value as from the environment, so that it is never printed. */
  keepPrivate(path: Path): void {
    this.#privatePaths.add(pathText(path));
  }

  /** The paths of values from expressions, as text. */
  get privatePaths(): ReadonlySet<string> {
    return this.#privatePaths;
  }

  /** Sets the origin that is printed for an entry from outside the file and everything below it. */
  setOriginBelow(path: Path, origin: string): void {
    this.#originsBelow.set(pathText(path), origin);
  }

  /** Sets the origin that is printed for a value from outside the file: `environment: PORT`. */
  setOrigin(path: Path, origin: string): void {
    this.#origins.set(pathText(path), origin);
  }

  /**
   * Adds a problem.
   *
   * @param expected A noun phrase.
   * @param value The value at the path. It is printed only if it cannot be a secret.
   */
  add(path: Path, expected: string, value: unknown): void {
    this.addPlain(path, expected, this.#shown(path, value));
  }

  /** Adds a problem with a corrected value, under the same rule for secrets. */
  addCorrection(path: Path, expected: string, corrected: string, value: unknown): void {
    const shown = this.#shown(path, corrected);
    this.add(path, shown.startsWith('"') ? `${shown}, ${expected}` : expected, value);
  }

  /**
   * Adds a problem with a text for the value.
   *
   * @throws {ConfigError} If there are {@linkcode MAX_PROBLEMS} already: a file with more is of another kind, and the
   * nearest name is looked for in each.
   */
  addPlain(path: Path, expected: string, got: string): void {
    if (this.#count >= MAX_PROBLEMS) {
      throw new ConfigError([...this.#lines.values(), `${this.#file}: there are more problems than these`]);
    }
    this.#count++;
    const place = pathText(path);
    if (this.#lines.has(place)) return;
    const origin = this.#origins.get(place) ?? this.#originBelow(place);
    const where = origin ?? (place === "" ? this.#file : `${this.#file}: ${place}`);
    this.#lines.set(place, `${where}: expected ${expected}, got ${got}`);
  }

  /** Reads the value at a path; null, with its problems added, if the reader throws. */
  read<T>(path: Path, value: unknown, reader: Reader<T>): T | null {
    try {
      return reader(value, { error: expectationOf });
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      for (const issue of error.issues) this.#addIssue(path, value, issue);
      return null;
    }
  }

  /** Reads a section or a setting by its schema. An empty value is none. */
  readBy<T>(path: Path, value: unknown, schema: z.ZodType<T>): T | null {
    return this.read(path, value ?? undefined, (given, context) => schema.parse(given, context));
  }

  /**
   * Ends the collection.
   *
   * @throws {ConfigError} If there are problems.
   */
  throwIfAny(): void {
    if (this.#lines.size > 0) throw new ConfigError([...this.#lines.values()]);
  }

  /** The origin of the entry that contains a place, followed by the rest of the path; undefined if there is none. */
  #originBelow(place: string): string | undefined {
    for (const [entry, origin] of this.#originsBelow) {
      const rest = place.slice(entry.length);
      if (place.startsWith(entry) && (rest === "" || rest.startsWith(".") || rest.startsWith("["))) {
        return origin + rest;
      }
    }
    return undefined;
  }

  #addIssue(base: Path, value: unknown, issue: z.core.$ZodIssue): void {
    const path = [...base, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) this.addUnknown([...path, key], issue.message.split(", "));
      return;
    }
    const branch = issue.code === "invalid_union" ? branchOf(issue.errors) : undefined;
    if (branch !== undefined) { for (const each of branch) this.#addIssue(path, valueAt(value, issue.path), each); }
    else if (issue.code === "invalid_key") this.addPlain(path, elementAt(issue.issues, 0).message, "an invalid name");
    else this.add(path, issue.message, valueAt(value, issue.path));
  }

  /** Adds an unknown field, with the field that was probably meant. */
  addUnknown(path: Path, known: readonly string[]): void {
    const key = String(path.at(-1));
    const nearest = nearestWord(key, known);
    const meant = nearest === null ? known.join(", ") : `did you mean "${nearest}"?`;
    this.addPlain(path, `a known field (${meant})`, shownText(key));
  }

  #shown(path: Path, value: unknown): string {
    if (value === undefined) return "nothing";
    if (value === null) return "an empty value";
    if (Array.isArray(value)) return `a list of ${value.length}`;
    if (typeof value === "object") return "a section";
    const isPrivate = isSecretPath(path) || path.some((part) => SECRET_FIELDS.has(part)) ||
      this.#privatePaths.has(pathText(path)) ||
      (path[0] === "store" && String(value).includes("@")); // the address of a database has a password
    if (typeof value === "string") return isPrivate ? `text of ${value.length} characters` : shownText(value);
    return isPrivate ? `a ${typeof value}` : String(value);
  }
}

/** Of a value with several permitted types, the issues of the type that it has; undefined if it has none of them. */
function branchOf(branches: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  return branches.find((issues) => issues.every(({ code, path }) => code !== "invalid_type" || path.length > 0));
}

function valueAt(value: unknown, path: Path): unknown {
  let found: unknown = value;
  for (const part of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[part];
  }
  return found;
}

/** The expectation for issues of zod itself. A message in the schema takes precedence. */
function expectationOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return ownValue(TYPE_WORDS, String(issue.expected)) ?? "a different type of value";
    case "invalid_value":
      return choiceOf((issue.values as unknown[]).map(String), issue.input);
    case "unrecognized_keys":
      return issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape).join(", ") : "no such field";
    case "too_small":
      return issue.origin === "array" ? `a list of at least ${issue.minimum}` : `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    default:
      return "a valid value";
  }
}

function choiceOf(values: readonly string[], input: unknown): string {
  const nearest = typeof input === "string" ? nearestWord(input, values) : null;
  return nearest === null ? `one of ${values.join(", ")}` : `a known value (did you mean "${nearest}"?)`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text in quotes",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section",
  record: "a section",
};
