/** Names, such as those of providers, whose first mention is to be logged. Their number is bounded. */
export class OnceFor {
  readonly #seen = new Set<string>();

  /** Whether the name was not given before. Above 1,000 names it is false for new ones. */
  isFirst(name: string): boolean {
    if (this.#seen.has(name) || this.#seen.size >= 1_000) return false;
    this.#seen.add(name);
    return true;
  }
}
