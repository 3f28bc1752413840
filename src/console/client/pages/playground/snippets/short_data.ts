/** A longer run of base64 is shortened. */
const MAX_CHARACTERS = 200;
const SHOWN_CHARACTERS = 40;
const DATA = new RegExp(`[A-Za-z0-9+/=_-]{${MAX_CHARACTERS},}`, "g");

/** A text with long data such as pictures shortened, so that it can be shown. */
export function withShortData(text: string): string {
  return text.replace(DATA, (data) => `${data.slice(0, SHOWN_CHARACTERS)}…`);
}
