import { join } from "node:path";
import { formattedMarkdown } from "../formatted_markdown.ts";

const ROOT = join(import.meta.dirname ?? ".", "../..");
const FOLDER = "docs/decisions";

/** The page with the index, by its path in the repository. */
export const DECISIONS_PAGE = "docs/decisions.md";

const HEAD = `# Decisions

Decisions about behavior and structure that could have been made differently, with their reasons: one file per decision,
with date, status, context, decision, consequences and alternatives. A decision that is replaced stays, and names the
one that replaces it. A new one takes the next free number; some numbers were never used.
\`npx -y deno@2.9.6 task decisions\` writes this page.
`;

/**
 * The page with the index of all decisions, in the order of their numbers.
 *
 * @throws {Error} If a file has no number and title in its first line, or no date.
 */
export async function formattedIndex(): Promise<string> {
  const names = (await Array.fromAsync(Deno.readDir(join(ROOT, FOLDER)))).map(({ name }) => name).sort();
  const rows = await Promise.all(names.map(async (name) => {
    const text = await Deno.readTextFile(join(ROOT, FOLDER, name));
    const [, number, title] = /^# (\d{4}): (.+)\n/.exec(text) ?? [];
    const [, date] = /^- Date: (\S+)$/m.exec(text) ?? [];
    if (title === undefined || date === undefined || !name.startsWith(`${number}-`)) {
      throw new Error(`${FOLDER}/${name} does not begin with its number and title, and its date`);
    }
    return `| [${number}](decisions/${name}) | ${date} | ${title} |`;
  }));
  return await formattedMarkdown(`${HEAD}\n| number | date | decision |\n| - | - | - |\n${rows.join("\n")}\n`);
}
