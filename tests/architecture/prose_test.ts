import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { placesOf, proseOf, REPLACED_PHRASES } from "./prose.ts";
import { filesOf, ROOT } from "./source_files.ts";

/** Pages that record the past, list what is generated, or say what the page of a decision says. */
const NOT_READ = /^docs\/(?:decisions|configuration-reference\.md|decisions\.md)/;

/**
 * How often the pages and the messages still have a phrase. These counts only fall: after a correction, lower them.
 * A vendor's own words, which the sandbox repeats, and a prompt to a model are among them.
 */
const REMAINING: Readonly<Record<string, readonly [pages: number, messages: number]>> = {
  "alone": [0, 1],
  "beside": [0, 1],
};

async function pages(): Promise<Map<string, string>> {
  const names = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...await filesOf("docs", ".md")];
  const read = names.filter((name) => !NOT_READ.test(name)).map(async (name) =>
    [name, withoutTableOfWords(proseOf(await Deno.readTextFile(join(ROOT, name))))] as const
  );
  return new Map(await Promise.all(read));
}

/** The table in CONTRIBUTING.md names the phrases. */
function withoutTableOfWords(prose: string): string {
  return prose.replace(/\| Not \| But [^]*?`…` checks names/, "");
}

/** The messages of all folders. */
async function messages(): Promise<Map<string, string>> {
  const text = await Deno.readTextFile(join(ROOT, "tests/messages/messages.txt"));
  return new Map(text.split(/^# /m).slice(1).map((section) => [section.slice(0, section.indexOf("\n")), section]));
}

for (const [index, [what, read]] of ([["pages", pages], ["messages", messages]] as const).entries()) {
  Deno.test(`prose: ${what} use the usual words of the field`, async () => {
    const texts = await read();
    const above: string[] = [];
    for (const phrase of REPLACED_PHRASES) {
      const found = [...texts].flatMap(([name, text]) => placesOf(text, phrase).map((place) => `${name}: ${place}`));
      const max = REMAINING[phrase.name]?.[index] ?? 0;
      if (found.length > max) {
        above.push(`${phrase.name}: ${found.length}, at most ${max}: ${phrase.instead}`, ...found);
      }
    }
    assertEquals(above, []);
  });
}

Deno.test("prose: a phrase is found in texts, and not in code or addresses", () => {
  const [status] = REPLACED_PHRASES;
  assert(status !== undefined);
  assertEquals(placesOf(proseOf("An unknown name\nis 404 `x`. The status is 200 then."), status).length, 1);
  assertEquals(placesOf(proseOf("It fails with 404, `is 404`, [a](is 404 )."), status), []);
});
