import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";

/**
 * A decision by the name of a wire format: a comparison, a case, or a table that has all formats as its keys. What
 * differs between formats belongs to `CallerFormat`, `UpstreamFormat` or `PassThrough`.
 */
const DECISIONS: readonly RegExp[] = [
  /[=!]==? "(?:chat|responses|messages|content)"/g,
  /\bcase "(?:chat|responses|messages|content)":/g,
  /Record<(?:Form|Exclude<Form)\b/g,
  /(?:format|codec|form)\.name [=!]==? "/g,
];

/** Where one of these words means another thing than a format. */
const OTHER_MEANINGS: readonly RegExp[] = [
  /\.type [=!]==? "content"/, // a source of the messages format
  /speaks [=!]==? "(?:chat|responses)"/, // a word of the configuration
  /\bname [=!]==? "role"/, // the names of a message's members
];

function decisionsIn(text: string): string[] {
  return text.split("\n").filter((line) =>
    DECISIONS.some((pattern) => line.search(pattern) !== -1) && !OTHER_MEANINGS.some((other) => other.test(line))
  ).map((line) => line.trim());
}

Deno.test("source tree: nothing outside the codecs decides by the name of a wire format", async () => {
  const found: string[] = [];
  for (const file of ["main.ts", ...await sourceFiles("src")]) {
    if (file.startsWith("src/conversation/codecs/") || file === "src/conversation/neutral/reasoning_signature.ts") {
      continue;
    }
    const lines = decisionsIn(await Deno.readTextFile(join(ROOT, file)));
    found.push(...lines.map((line) => `${file}: ${line}`));
  }
  assertEquals(found, []);
});

Deno.test("source tree: the search for decisions by format name finds them", () => {
  assert(decisionsIn('if (turn.format.name === "chat") {').length === 1);
  assert(decisionsIn('    case "messages":').length === 1);
  assert(decisionsIn("const X: Readonly<Record<Form, string>> = {").length === 1);
});
