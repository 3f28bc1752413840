import { bareModelName } from "../../platform/names/bare_model_name.ts";
import type { CatalogFacts } from "../facts/model_facts.ts";
import { isSameModel } from "./families/fact_entry.ts";

/** A model that a vendor answered with in the place of the one that was requested. */
export interface AnsweringModel {
  /** The vendor's name of it. */
  readonly name: string;
  /** What is known of it. */
  readonly entry: CatalogFacts;
}

/** A name that a reply gives, for a request of another model. */
export interface OtherAnswer {
  /** The provider's name. */
  readonly provider: string;
  /** The vendor's name of the requested model. */
  readonly asked: string;
  /** The vendor's name of the model that answered. */
  readonly answering: string;
}

/** The names of one requested model that are kept. A vendor that sends more is not believed. */
const MAX_NAMES = 16;

/**
 * The models with which one provider's vendor answers in the place of others. The facts of a requested model are those
 * of the model that answered last, if it is known.
 */
export class AnsweringModels {
  readonly #current = new Map<string, AnsweringModel>();
  readonly #names = new Map<string, Set<string>>();
  /** The last name that was found to be the requested model's own, by requested model. */
  readonly #own = new Map<string, string>();

  /**
   * Creates an empty one.
   *
   * @param onNew Called once for each pair of a requested model and another name.
   */
  constructor(readonly onNew: (asked: string, answering: string) => void) {}

  /** Whether a name in a reply is that of the requested model, with or without a date or a version. */
  isOwn(asked: string, name: string, id: string): boolean {
    if (this.#own.get(asked) === name) return true;
    if (this.#names.get(asked)?.has(name)) return false;
    if (!isSameModel(asked, name) && !isSameModel(id, name)) return false;
    this.#own.set(asked, name);
    return true;
  }

  /** The vendor answered a request for a model with that model. */
  noteOwn(asked: string): void {
    if (this.#current.size > 0) this.#current.delete(asked);
  }

  /**
   * The vendor answered a request for a model with another one.
   *
   * @param entry What is known of the other one; null for a model that is not known, whose facts do not apply.
   */
  noteOther(asked: string, answering: string, entry: CatalogFacts | null): void {
    let names = this.#names.get(asked);
    if (names === undefined) this.#names.set(asked, names = new Set());
    const isNew = !names.has(answering);
    if (isNew && names.size >= MAX_NAMES) return;
    names.add(answering);
    if (entry === null) this.noteOwn(asked);
    else this.#current.set(asked, { name: answering, entry });
    if (isNew) this.onNew(asked, answering);
  }

  /** The known model that answered the last request for a model; null if it was the requested one, or none has. */
  current(asked: string): AnsweringModel | null {
    return this.#current.size === 0 ? null : this.#current.get(asked) ?? null;
  }

  /** Whether replies to requests for a model have had other names. */
  hasOthers(asked: string): boolean {
    return this.#names.size > 0 && this.#names.has(asked);
  }

  /** All other names that replies to requests for a model have had. */
  namesFor(asked: string): Iterable<string> {
    return this.#names.get(asked) ?? NO_NAMES;
  }
}

const NO_NAMES: readonly string[] = [];

const NAME = /^[A-Za-z0-9][\w.:@/+-]{0,127}$/;

/** The vendor's name of a model in a reply; null for anything else. Longer texts are no name. */
export function readModelName(value: unknown): string | null {
  return typeof value === "string" && value.length <= 134 && NAME.test(value) ? bareModelName(value) : null;
}
