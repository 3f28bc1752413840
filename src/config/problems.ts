import * as z from "zod";
import { isAliasName } from "../catalog/alias.ts";
import type { ReadContext } from "../lib/settings.ts";
import { ConfigError } from "./config_error.ts";
import { nearestWord } from "./unknown_key.ts";

/** Where a value stands: `["providers", "openai", "api_key"]`. */
export type Path = readonly PropertyKey[];

/** A capability's reader: throws {@linkcode z.ZodError} when it refuses. */
export type Reader<T> = (value: unknown, context: ReadContext) => T;

/** Fields whose values are never shown, wherever they stand. */
const SECRET_FIELDS = new Set<PropertyKey>(["api_key", "secret_key", "keys", "admin_key", "webhook_secret", "headers"]);

/** The mistakes of one configuration, gathered so that all are told at once. One line for each place, the first. */
export class Problems {
  readonly #file: string;
  readonly #lines = new Map<string, string>();
  readonly #privatePaths = new Set<string>();
  readonly #origins = new Map<string, string>();

  /** @param file How the file is called in every line. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Marks a value as taken from the environment: it is never shown. */
  keepPrivate(path: Path): void {
    this.#privatePaths.add(pathText(path));
  }

  /** Says that a value does not stand in the file but comes from elsewhere: `environment: PORT`. */
  setOrigin(path: Path, origin: string): void {
    this.#origins.set(pathText(path), origin);
  }

  /** `expected` is a noun phrase, `value` what stands there; shown only as far as it can hold no secret. */
  add(path: Path, expected: string, value: unknown): void {
    this.addPlain(path, expected, this.#shown(path, value));
  }

  /** As {@linkcode Problems.add}, with a better value named, which is shown only as far as the value there may be. */
  addCorrection(path: Path, expected: string, corrected: string, value: unknown): void {
    const shown = this.#shown(path, corrected);
    this.add(path, shown.startsWith('"') ? `${shown}, ${expected}` : expected, value);
  }

  /** As {@linkcode Problems.add}, with the words for what stands there. */
  addPlain(path: Path, expected: string, got: string): void {
    const place = pathText(path);
    if (this.#lines.has(place)) return;
    const origin = this.#origins.get(place);
    const where = origin ?? (place === "" ? this.#file : `${this.#file}: ${place}`);
    this.#lines.set(place, `${where}: expected ${expected}, got ${got}`);
  }

  /** Runs a capability's reader over the value at a path. Gives null, with its problems noted, when it refuses. */
  read<T>(path: Path, value: unknown, reader: Reader<T>): T | null {
    try {
      return reader(value, { error: expectationOf });
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      for (const issue of error.issues) this.#addIssue(path, value, issue);
      return null;
    }
  }

  /** @throws {ConfigError} If anything was noted. */
  throwIfAny(): void {
    if (this.#lines.size > 0) throw new ConfigError([...this.#lines.values()]);
  }

  #addIssue(base: Path, value: unknown, issue: z.core.$ZodIssue): void {
    const path = [...base, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) this.addUnknown([...path, key], issue.message.split(", "));
      return;
    }
    if (issue.code === "invalid_key") this.addPlain(path, issue.issues[0].message, "another name");
    else this.add(path, issue.message, valueAt(value, issue.path));
  }

  /** A field that does not exist, with the one that was likely meant. */
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
    const isPrivate = path.some((part) => SECRET_FIELDS.has(part)) || this.#privatePaths.has(pathText(path));
    if (typeof value === "string") return isPrivate ? `text of ${value.length} characters` : shownText(value);
    return isPrivate ? `a ${typeof value}` : String(value);
  }
}

/** A path as people write it: `accounts[0].keys[1]`. A part that could be a misplaced secret is left out. */
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

/** Short everyday words only: nothing that looks like a key, that holds a password, or that fills more than a line. */
function canBeShown(value: string): boolean {
  if (value.length > 48 || !/^[\w .:/,+${}*-]*$/.test(value) || value.includes("sk-")) return false;
  return !(value.match(/[\w-]{16,}/g) ?? []).some((run) => run.length >= 24 || /\d/.test(run));
}

/**
 * Names of models hold dates and run longer than other words, but are made of short ones: `claude-sonnet-5-20260630`.
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

/** The expectation behind zod's own kinds of issue; a schema's own words come before it. */
function expectationOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_WORDS[String(issue.expected)] ?? "another kind of value";
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
