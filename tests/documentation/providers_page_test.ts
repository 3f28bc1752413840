import { assertEquals } from "@std/assert";
import { vendorBaseUrl } from "../../src/vendors/upstreams/configured_vendors.ts";
import { PROVIDER_KINDS } from "../../src/vendors/upstreams/kinds.ts";
import { PRESET_NAMES, presetOf, VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { ROOT } from "../architecture/source_files.ts";

const page = await Deno.readTextFile(`${ROOT}docs/providers.md`);
const code = (text: string) => `\`${text}\``;

/** The cells of the table whose first columns have these headings. */
function rowsOf(first: string, second: string): string[][] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.replace(/ +/g, " ").startsWith(`| ${first} | ${second}`));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

const sorted = (rows: readonly (readonly string[])[]) => rows.map((row) => row.join(" | ")).toSorted();

Deno.test("docs/providers.md lists every vendor that a variable enables, with its address and variables", () => {
  const expected = Object.entries(VENDORS).filter(([, vendor]) => vendor.keyNames.length > 0)
    .map(([name, { kind, baseUrl, isPreset, keyNames, pairNames, addressNames = [] }]) => [
      keyNames.map(code).join(", ") + (pairNames ? `, or ${pairNames.map(code).join(" and ")}` : ""),
      code(name),
      baseUrl === null
        ? "of the resource"
        : isPreset
        ? code(baseUrl)
        : kind === name
        ? "the kind's"
        : `the kind's (${code(kind)})`,
      addressNames.map(code).join(", "),
    ]);
  assertEquals(sorted(rowsOf("Key", "Provider")), sorted(expected));
});

Deno.test("docs/providers.md lists every kind, and every preset with its address and its key", () => {
  const kinds = rowsOf("`kind`", "Text").map(([kind = ""]) => kind);
  assertEquals(kinds.toSorted(), PROVIDER_KINDS.map(code).toSorted());
  const presets = PRESET_NAMES.map((name) => {
    const { baseUrl = null, keyNames = [] } = presetOf(name) ?? {};
    return [
      code(name),
      baseUrl === null ? "required: the address of the resource" : code(baseUrl),
      keyNames.length === 0 ? "none" : keyNames.map(code).join(", "),
    ];
  });
  assertEquals(sorted(rowsOf("`kind`", "`base_url`")), sorted(presets));
});

Deno.test("docs/providers.md has the default address of every kind that has one for all accounts", () => {
  const addresses = new Map(rowsOf("`kind`", "Text").map((row) => [row[0], row.at(-1)]));
  for (const kind of PROVIDER_KINDS.filter((each) => each !== "vertex" && each !== "bedrock")) {
    assertEquals(addresses.get(code(kind)), code(vendorBaseUrl(kind)), kind);
  }
});
