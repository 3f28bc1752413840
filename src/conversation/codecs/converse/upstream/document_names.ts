const MAX_CHARACTERS = 180;

/**
 * Names of documents as the vendor accepts them: letters, digits, single spaces, hyphens and brackets, and each name
 * once in a request. Source: Amazon Bedrock API reference, "DocumentBlock".
 */
export class DocumentNames {
  /** The next number to try for each name. */
  readonly #next = new Map<string, number>();

  /** @param name With its extension, which the format states; null for a document without a name. */
  unique(name: string | null): string {
    const own = (name ?? "").replace(/\.[A-Za-z0-9]{1,5}$/, "").replace(/[^A-Za-z0-9\s()[\]-]/g, "-")
      .replace(/\s+/g, " ").slice(0, MAX_CHARACTERS).trim() || "document";
    let number = this.#next.get(own) ?? 1;
    let unique = number === 1 ? own : `${own} ${number}`;
    while (number > 1 && this.#next.has(unique)) unique = `${own} ${++number}`;
    this.#next.set(own, number + 1);
    if (unique !== own) this.#next.set(unique, 2);
    return unique;
  }
}
