/** What a setting of an entry means. */
export interface Meaning {
  /** Its path in the entry; empty for the entry itself. */
  readonly name: string;
  readonly text: string;
}

/**
 * The meanings of the settings of an entry.
 *
 * @param meanings All of them, by path: `limits.text_body`, `providers.NAME.kind`, `models[].id`.
 */
export function meaningsOf(meanings: Readonly<Record<string, string>>, section: string, name: string): Meaning[] {
  const own = [section, name].filter((part) => part !== "").join(".");
  const below = [`${section}.NAME.`, `${section}[].`, `${own}.`, `${own}[].`];
  return Object.entries(meanings).flatMap(([path, text]) => {
    if (path === own) return [{ name: "", text }];
    const start = below.find((each) => path.startsWith(each));
    return start === undefined ? [] : [{ name: path.slice(start.length), text }];
  });
}
