import { stringify } from "yaml";
import { isAliasName } from "../../catalog/alias.ts";
import { isModelId } from "../../catalog/model.ts";
import { readConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/config_error.ts";

/** A value of the written file: text in which `${NAME}` is a variable, a number, or a map or list of these. */
export type Written = string | number | boolean | null | readonly Written[] | { readonly [name: string]: Written };

/** One provider of a model. */
export interface ImportedServing {
  readonly provider: string;
  readonly model: string;
  readonly weight?: number;
}

/** A model while it is imported. */
export interface ImportedModel {
  readonly id: string;
  fields: Record<string, Written>;
  /** Whether the operator runs its servers, so that no price is expected. */
  isOwn: boolean;
  readonly serves: ImportedServing[];
  fallbacks: string[];
}

/** What an import writes. */
export interface ImportResult {
  readonly yaml: string;
  /** The literal secrets of the source, by the variables that replace them. */
  readonly secrets: ReadonlyMap<string, string>;
  /** What is in the file, in words. */
  readonly carried: string;
  /** What could not be carried: a place in the source, and why. Without secrets. */
  readonly dropped: readonly string[];
  /** Problems of the written file, which an operator must solve. */
  readonly problems: readonly string[];
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MIN_ADMIN_KEY = 16;

/** Collects a configuration, with variables in the place of secrets, and what could not be carried. */
export class ImportedConfig {
  readonly #variableIn: (text: string) => string | null;
  readonly #providers = new Map<string, Record<string, Written>>();
  readonly #identities = new Map<string, string[]>();
  readonly #models = new Map<string, ImportedModel>();
  readonly #patterns = new Map<string, Record<string, Written>>();
  readonly #aliases = new Map<string, string>();
  readonly #accounts: Written[] = [];
  readonly #secrets = new Map<string, string>();
  readonly #names = new Set<string>();
  readonly #dropped: string[] = [];
  #adminKey: string | null = null;

  /** @param variableIn The name of the environment variable that a text of the source stands for; null for none. */
  constructor(variableIn: (text: string) => string | null) {
    this.#variableIn = variableIn;
  }

  /** Notes what could not be carried. Not for values, which may be secret. */
  drop(place: string, why: string): void {
    this.#dropped.push(`${place}: ${why}`);
  }

  /** A text that is not secret: a variable of the source becomes one of ours. */
  text(text: string): string {
    const variable = this.#variableIn(text);
    return variable !== null && VARIABLE.test(variable) ? this.#use(variable) : text.replaceAll("$", "$$$$");
  }

  /** A secret as a variable. The value of a literal one is in {@linkcode ImportResult.secrets}. */
  secret(text: string, suggestedName: string): string {
    const variable = this.#variableIn(text);
    if (variable !== null && VARIABLE.test(variable)) return this.#use(variable);
    const base = suggestedName.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
    for (let serial = 1;; serial++) {
      const name = serial === 1 ? base : `${base}_${serial}`;
      if (this.#secrets.get(name) === text) return this.#use(name);
      if (this.#names.has(name)) continue;
      this.#secrets.set(name, text);
      return this.#use(name);
    }
  }

  /** An address, which is a secret if it has a password in it. */
  address(text: string): string {
    return /^[a-z]+:\/\/[^/]*@/i.test(text) ? this.secret(text, "PROVIDER_ADDRESS") : this.text(text);
  }

  /** A variable that the other program reads on its own. */
  variable(name: string): string {
    return this.#use(name);
  }

  /**
   * Adds a provider, or finds the same one.
   *
   * @param name Of the first such provider; others get a number.
   * @param taken Providers that must not be used, since a model has each of its providers once.
   */
  provider(name: string, fields: Record<string, Written>, taken: ReadonlySet<string> = new Set()): string {
    const identity = JSON.stringify(fields);
    const same = this.#identities.get(identity) ?? [];
    const found = same.find((each) => !taken.has(each));
    if (found !== undefined) return found;
    const base = name.toLowerCase().replaceAll(/[^a-z0-9._-]/g, "-").slice(0, 56);
    let free = base;
    for (let serial = 2; this.#providers.has(free); serial++) free = `${base}-${serial}`;
    this.#providers.set(free, fields);
    this.#identities.set(identity, [...same, free]);
    return free;
  }

  /** The model of an id, which is made valid; a new one if there is none. */
  model(id: string): ImportedModel {
    const valid = isModelId(id)
      ? id
      : id.replaceAll(/[^A-Za-z0-9._:@+~/-]/g, "-").replaceAll(/\/[^A-Za-z0-9@_~]+/g, "/");
    const existing = this.#models.get(valid);
    if (existing) return existing;
    const model: ImportedModel = { id: valid, fields: {}, isOwn: false, serves: [], fallbacks: [] };
    this.#models.set(valid, model);
    return model;
  }

  /** Adds all models that a provider lists. */
  pattern(id: string, fields: Record<string, Written>): void {
    this.#patterns.set(id, fields);
  }

  /** Adds another name of a model, unless it is the model's own. */
  alias(name: string, target: string, place: string): void {
    if (name === target) return;
    if (isAliasName(name)) this.#aliases.set(name, target);
    else this.drop(place, "the name has characters that an alias cannot have");
  }

  /** Adds an account. */
  account(fields: Written): void {
    this.#accounts.push(fields);
  }

  /** Sets the admin key. A literal one that is too short is not carried. */
  adminKey(text: string, suggestedName: string, place: string): void {
    if (this.#variableIn(text) === null && text.length < MIN_ADMIN_KEY) {
      this.drop(place, `it is shorter than ${MIN_ADMIN_KEY} characters; set server.admin_key to another one`);
    } else this.#adminKey = this.secret(text, suggestedName);
  }

  /**
   * Writes the file, and reads it as a gateway would.
   *
   * @param source The name of the source, for the first line.
   */
  finish(source: string): ImportResult {
    this.#dropLostNames();
    for (const { id, fields, isOwn } of this.#models.values()) {
      if (fields.pricing === undefined && !isOwn) {
        this.drop(`the model "${id}"`, 'it has no price, so its requests are free until it has "pricing"');
      }
    }
    const models = [...this.#models.values()].map(({ id, fields, serves, fallbacks }): Written => ({
      id,
      ...fields,
      ...(fallbacks.length > 0 && { fallbacks }),
      serves: serves.map((each) => ({ ...each })),
    }));
    const patterns = [...this.#patterns].map(([id, fields]): Written => ({ id, ...fields }));
    const sections: Record<string, Written> = {
      ...(this.#adminKey !== null && { server: { admin_key: this.#adminKey } }),
      ...(this.#accounts.length > 0 && { accounts: this.#accounts }),
      ...(this.#providers.size > 0 && { providers: Object.fromEntries(this.#providers) }),
      ...(models.length + patterns.length > 0 && { models: [...models, ...patterns] }),
      ...(this.#aliases.size > 0 && { aliases: Object.fromEntries(this.#aliases) }),
    };
    const yaml = `# Imported from ${source}. Every option: docs/configuration.md\n` +
      (Object.keys(sections).length === 0 ? "" : stringify(sections, { lineWidth: 0 }));
    const carried = [
      `${this.#providers.size} providers`,
      `${models.length} models`,
      `${patterns.length} patterns of models`,
      `${this.#aliases.size} aliases`,
      `${this.#accounts.length} accounts`,
    ].join(", ");
    return { yaml, secrets: this.#secrets, carried, dropped: [...new Set(this.#dropped)], problems: problemsOf(yaml) };
  }

  #use(variable: string): string {
    this.#names.add(variable);
    return `\${${variable}}`;
  }

  /** Aliases and fallbacks of models that were not carried. */
  #dropLostNames(): void {
    const exists = (name: string) => this.#models.has(name) || this.#aliases.has(name) || this.#patterns.has(name);
    for (const [name, target] of this.#aliases) {
      if (exists(target)) continue;
      this.#aliases.delete(name);
      this.drop(`the alias "${name}"`, "its model is not carried");
    }
    for (const model of this.#models.values()) {
      const lost = model.fallbacks.filter((name) => !exists(name));
      model.fallbacks = model.fallbacks.filter(exists);
      for (const name of lost) this.drop(`the fallback "${name}" of "${model.id}"`, "that model is not carried");
    }
  }
}

/** Stands for a variable: it is an address and, long enough, a key. */
const placeholderFor = (name: string) => `https://placeholder.example/${name}`;

function problemsOf(yaml: string): readonly string[] {
  try {
    readConfig(yaml, "switchyard.yaml", (name) => yaml.includes(`\${${name}}`) ? placeholderFor(name) : undefined);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
