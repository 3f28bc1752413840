import { counted } from "../../../platform/lib/text/counted.ts";
import { stringify } from "yaml";
import { isAliasName } from "../../../vendors/catalog/alias_name.ts";
import { isModelId } from "../../../vendors/catalog/model_name.ts";
import type { ModelUse } from "../../../vendors/prices/model_use.ts";
import { problemsOf, type ValueKind } from "./written_check.ts";
import { numberIn } from "../../../vendors/prices/source_values.ts";

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
  /** What it is for; all of its providers must serve that. */
  readonly use: ModelUse;
  fields: Record<string, Written>;
  /** Whether it has a price, or needs none. */
  isPriced: boolean;
  readonly serves: ImportedServing[];
  fallbacks: string[];
}

/** What an import writes. */
export interface ImportResult {
  /** Whether there is a model in the file. A gateway would offer its built-in models in the place of none. */
  readonly hasModels: boolean;
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
  /** The variables in the file. */
  readonly #variables = new Map<string, ValueKind>();
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

  /** The name of the variable that a text of the source stands for; null for a literal text. */
  variableIn(text: string): string | null {
    const variable = this.#variableIn(text);
    return variable !== null && VARIABLE.test(variable) ? variable : null;
  }

  /** A text that is not secret: a variable of the source becomes one of ours. */
  text(text: string): string {
    return this.#plain(text, "address or secret");
  }

  /** A name without blanks, such as that of a region or of a tenant. */
  name(text: string): string {
    return this.#plain(text, "name");
  }

  /** The version of an API of Azure: a date, with or without `-preview`. */
  version(text: string): string {
    return this.#plain(text, "version");
  }

  /** A whole number, rounded down, or a variable of one; null for anything else. */
  wholeNumber(value: unknown): number | string | null {
    const number = numberIn(value);
    if (number !== null) return Math.floor(number);
    const variable = typeof value === "string" ? this.variableIn(value) : null;
    return variable === null ? null : this.#use(variable, "number");
  }

  /** The text of a key file of Google as a variable. */
  keyFile(text: string, suggestedName: string): string {
    return this.secret(text, suggestedName, "key file");
  }

  /** A secret as a variable. The value of a literal one is in {@linkcode ImportResult.secrets}. */
  secret(text: string, suggestedName: string, kind: ValueKind = "address or secret"): string {
    const variable = this.variableIn(text);
    if (variable !== null) return this.#use(variable, kind);
    const base = suggestedName.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
    for (let serial = 1;; serial++) {
      const name = serial === 1 ? base : `${base}_${serial}`;
      if (this.#secrets.get(name) === text) return this.#use(name, kind);
      if (this.#variables.has(name)) continue;
      this.#secrets.set(name, text);
      return this.#use(name, kind);
    }
  }

  /** An address, which is a secret if it has a password in it. */
  address(text: string): string {
    return /^[a-z]+:\/\/[^/]*@/i.test(text) ? this.secret(text, "PROVIDER_ADDRESS") : this.text(text);
  }

  /**
   * A variable that the other program reads on its own.
   *
   * @param otherwise Its value where it is not set. Default: the gateway does not start without it.
   */
  variable(name: string, kind: ValueKind = "address or secret", otherwise: string | null = null): string {
    const used = this.#use(name, kind);
    return otherwise === null ? used : `\${${name}:-${otherwise}}`;
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

  /** The model of an id, which is made valid; a new one of this use if there is none. */
  model(id: string, use: ModelUse): ImportedModel {
    const valid = modelIdOf(id);
    const existing = this.#models.get(valid);
    if (existing) return existing;
    const model: ImportedModel = { id: valid, use, fields: {}, isPriced: false, serves: [], fallbacks: [] };
    this.#models.set(valid, model);
    return model;
  }

  /**
   * A new model, with a number in its id if the id is in use.
   *
   * @param reserved Ids of models that are still to come.
   */
  newModel(id: string, use: ModelUse, reserved: ReadonlySet<string> = new Set()): ImportedModel {
    const valid = modelIdOf(id);
    let free = valid;
    for (let serial = 2; this.#models.has(free) || reserved.has(free); serial++) free = `${valid}-${serial}`;
    return this.model(free, use);
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
    for (const { id, isPriced } of this.#models.values()) {
      if (!isPriced) {
        this.drop(`the model "${id}"`, 'it has no price, so it is written as "pricing: free" until you replace that');
      }
    }
    const models = [...this.#models.values()].map(({ id, fields, serves, fallbacks }): Written => ({
      id,
      ...(fields.pricing === undefined && fields.video === undefined && { pricing: "free" }),
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
    const yaml = `# Imported from ${source}. Every setting: docs/configuration-reference.md\n` +
      (Object.keys(sections).length === 0 ? "" : stringify(sections, { lineWidth: 0, aliasDuplicateObjects: false }));
    const carried = [
      counted(this.#providers.size, "provider"),
      counted(models.length, "model"),
      counted(patterns.length, "pattern of models", "patterns of models"),
      counted(this.#aliases.size, "alias", "aliases"),
      counted(this.#accounts.length, "account"),
    ].join(", ");
    return {
      hasModels: models.length + patterns.length > 0,
      yaml,
      secrets: this.#secrets,
      carried,
      dropped: [...new Set(this.#dropped)],
      problems: problemsOf(yaml, this.#variables),
    };
  }

  #plain(text: string, kind: ValueKind): string {
    const variable = this.variableIn(text);
    return variable === null ? text.replaceAll("$", "$$$$") : this.#use(variable, kind);
  }

  #use(variable: string, kind: ValueKind): string {
    if (!this.#variables.has(variable)) this.#variables.set(variable, kind);
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

/** A text as a valid id of a model: other characters become hyphens. */
export function modelIdOf(id: string): string {
  return isModelId(id) ? id : id.replaceAll(/[^A-Za-z0-9._:@+~/-]/g, "-").replaceAll(/\/[^A-Za-z0-9@_~]+/g, "/");
}
