import type { Alias } from "./alias.ts";

/** An alias with a `*`, split at it. */
interface Pattern {
  readonly alias: Alias;
  readonly before: string;
  readonly after: string;
}

/** The result of matching a name with an alias pattern. */
export interface PatternMatch {
  readonly alias: Alias;
  /**
   * Names of the model, of which the first existing one is used: the target with the text that `*` matched, then with
   * the whole name. `"gpt-*": openai/*` thus maps `gpt-6` to `openai/gpt-6`.
   */
  readonly targets: readonly string[];
}

/** Matches names with the aliases that contain a `*`. */
export class AliasPatterns {
  /** Longest first, then in the operator's order. */
  readonly #patterns: readonly Pattern[];

  /** @param aliases All aliases; those without a `*` are ignored. */
  constructor(aliases: readonly Alias[]) {
    this.#patterns = aliases.filter(({ name }) => name.includes("*")).map((alias) => {
      const star = alias.name.indexOf("*");
      return { alias, before: alias.name.slice(0, star), after: alias.name.slice(star + 1) };
    }).toSorted((one, other) => other.alias.name.length - one.alias.name.length);
  }

  /** The aliases that match a name, longest first. */
  *matches(name: string): Generator<PatternMatch> {
    for (const { alias, before, after } of this.#patterns) {
      if (name.length < before.length + after.length || !name.startsWith(before) || !name.endsWith(after)) continue;
      const matched = name.slice(before.length, name.length - after.length);
      yield { alias, targets: [withStar(alias.model, matched), withStar(alias.model, name)] };
    }
  }
}

function withStar(target: string, text: string): string {
  return target.replace("*", () => text);
}
