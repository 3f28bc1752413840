import * as z from "zod";
import { isAliasName } from "../catalog/alias.ts";
import { elementAt } from "../lib/element_at.ts";
import type { ReadContext } from "../lib/settings.ts";
import { ConfigError } from "./config_error.ts";
import { nearestWord } from "../lib/nearest_word.ts";

/** The path of a value: `["providers", "openai", "api_key"]`. */
export type Path = readonly PropertyKey[];

/** Reads a value. Throws {@linkcode z.ZodError} if the value is not valid. */
export type Reader<T> = (value: unknown, context: ReadContext) => T;

/** Fields whose values are never printed, wherever they are. */
const SECRET_FIELDS = new Set<PropertyKey>([
  "api_key",
  "secret_key",
  "client_secret",
  "service_account",
  "session_token",
  "keys",
  "admin_key",
  "key",
  "webhook_secret",
  "headers",
]);

/**
 * Whether values at a path are never shown: a known secret, or a field whose name says that it is one. A list of keys
 * can contain keys with settings; of these, only the field `key` is secret.
 */
export function isSecretPath(path: Path): boolean {
  return path.some((part, index) => {
    if (/(^|_)keys$/.test(String(part))) return typeof path[index + 1] !== "number" || index + 2 >= path.length;
    return SECRET_FIELDS.has(part) || /(^|_)(key|secret|token|password)$/.test(String(part));
  });
}

/** Collects the problems of a configuration, so that all are reported at once. Each path keeps its first problem. */
export class Problems {
  readonly #file: string;
  readonly #lines = new Map<string, string>();
  readonly #privatePaths = new Set<string>();
  readonly #origins = new Map<string, string>();
  readonly #originsBelow = new Map<string, string>();

  /** @param file The name of the file in each line. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Marks a value as from the environment, so that it is never printed. */
  keepPrivate(path: Path): void {
    this.#privatePaths.add(pathText(path));
  }

  /** Whether a value is from an expression. */
  isPrivate(path: Path): boolean {
    return this.#privatePaths.has(pathText(path));
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

  /** Adds a problem with a text for the value. */
  addPlain(path: Path, expected: string, got: string): void {
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
    const isPrivate = path.some((part) => SECRET_FIELDS.has(part)) || this.#privatePaths.has(pathText(path)) ||
      (path[0] === "store" && String(value).includes("@")); // the address of a database has a password
    if (typeof value === "string") return isPrivate ? `text of ${value.length} characters` : shownText(value);
    return isPrivate ? `a ${typeof value}` : String(value);
  }
}

/** Of a value with several permitted types, the issues of the type that it has; undefined if it has none of them. */
function branchOf(branches: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  return branches.find((issues) => issues.every(({ code, path }) => code !== "invalid_type" || path.length > 0));
}

/** A path in the usual notation: `accounts[0].keys[1]`. A part that could be a misplaced secret is hidden. */
function pathText(path: Path): string {
  let text = "";
  for (const [index, part] of path.entries()) {
    if (typeof part === "number") text += `[${part}]`;
    else {
      const isShown = canBeShown(String(part)) || (index === 1 && path[0] === "aliases" && isModelName(String(part)));
      const name = isShown ? String(part) : "(hidden)";
      text += text === "" ? name : `.${name}`;
    }
  }
  return text;
}

function shownText(value: string): string {
  return canBeShown(value) ? `"${value}"` : `text of ${value.length} characters`;
}

/** Whether a text is short and consists of ordinary words. Text that resembles a key or a password is not printed. */
function canBeShown(value: string): boolean {
  if (value.length > 48 || !/^[\w .:/,+${}*-]*$/.test(value) || value.includes("sk-")) return false;
  return !(value.match(/[\w-]{16,}/g) ?? []).some((run) => run.length >= 24 || /\d/.test(run));
}

/**
 * Whether a text has the form of a model name. Such names contain dates and can be long, but consist of short words:
 * `claude-sonnet-5-20260630`.
 */
function isModelName(value: string): boolean {
  return isAliasName(value) && !value.includes("sk-") && !/[A-Za-z0-9]{16,}/.test(value);
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
      return TYPE_WORDS[String(issue.expected)] ?? "a different type of value";
    case "invalid_value":
      return `one of ${(issue.values as unknown[]).join(", ")}`;
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

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text in quotes",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section",
  record: "a section",
};
