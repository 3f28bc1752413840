/** From this length on, the words are searched first. In short texts the expression alone is as fast. */
const MIN_LONG_CHARACTERS = 16_384;

/**
 * A search for an expression in texts of any length. In a long text, such as an event with a picture, the words of the
 * expression are searched first: the platform finds a word in a twentieth of the time that an expression takes.
 */
export class WordSearch {
  /**
   * @param pattern Without the flags `g` and `y`.
   * @param words Each text that the pattern matches has one of them.
   */
  constructor(readonly pattern: RegExp, readonly words: readonly string[]) {}

  /** Whether a text matches. */
  test(text: string): boolean {
    if (text.length >= MIN_LONG_CHARACTERS && !this.words.some((word) => text.includes(word))) return false;
    return this.pattern.test(text);
  }
}
