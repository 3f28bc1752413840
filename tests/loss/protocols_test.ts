import { assert, assertEquals, assertMatch } from "@std/assert";
import { FORMATS } from "../support/formats.ts";
import { fieldsOf } from "./protocols_table.ts";

const PAGE = new URL("../../docs/protocols.md", import.meta.url);

const page = await Deno.readTextFile(PAGE);
const fields = new Map(await Promise.all(FORMATS.map(async (format) => [format, await fieldsOf(format)] as const)));

if (Deno.env.has("SWITCHYARD_WRITE_PROTOCOLS")) {
  let text = page;
  for (const [format, written] of fields) {
    text = text.replace(sectionOf(format), () => `<!-- ${format}: start -->\n\n${written}\n\n<!-- ${format}: end -->`);
  }
  await Deno.writeTextFile(PAGE, text);
}

function sectionOf(format: string): RegExp {
  return new RegExp(`<!-- ${format}: start -->([^]*?)<!-- ${format}: end -->`);
}

/** A page without what its formatter adds: columns of equal width, and breaks of lines. */
function plain(text: string): string {
  return text.replaceAll(/-{3,}/g, "---").replaceAll(/\s+/g, " ").trim();
}

for (const format of FORMATS) {
  Deno.test(`docs/protocols.md lists what becomes of each field of ${format} requests`, async () => {
    const [, found] = sectionOf(format).exec(await Deno.readTextFile(PAGE)) ?? [];
    assert(found !== undefined);
    assertEquals(plain(found), plain(fields.get(format) ?? ""), "run: deno task protocols");
  });
}

Deno.test("the lists of protocols tell carried, dropped, refused and emulated fields apart", () => {
  const chat = fields.get("chat") ?? "";
  assertMatch(chat, /Carried in every format:.*`max_tokens`/);
  assertMatch(chat, /Dropped in every format:.*`logit_bias`/);
  assertMatch(chat, /Refused \(400\) in every format:.*`n`/);
  assertMatch(chat, /\| `stop` \| by the gateway \| yes \| yes \|/);
  assertMatch(chat, /\| `seed` \| dropped \| dropped \| yes \|/);
});
