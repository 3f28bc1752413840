import { assertEquals } from "@std/assert";
import { ALL_VENDORS } from "../../src/vendors/upstreams/configured_vendors.ts";
import { hostsOf, type Vendor } from "../../src/vendors/upstreams/vendor.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

/** The rows of vendors. */
const TABLE = ["src/vendors/upstreams/vendors.ts", "src/vendors/upstreams/configured_vendors.ts"];
/** Simulated vendors, and the console, whose texts show what clients and configurations name. */
const OTHERS = /^src\/(?:sandbox|console\/client)\//;
/** What else has the same text: addresses of files in callers' requests, and AWS's variables of a bucket. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "src/conversation/parts/request/media_address.ts": ["generativelanguage.googleapis.com"],
  "src/platform/files/s3/bucket_error.ts": ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  "src/config/sections/storage_sections.ts": [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
  ],
};
/** Comments, and what the reference says of a setting. */
const COMMENT = /^\s*(?:\/\/|\/?\*|(?:example|text|otherwise): )/;

function variablesOf(vendor: Vendor): readonly string[] {
  const { keyNames, pairNames = [], addressNames = [], regionNames = [], imports = {} } = vendor;
  const { sessionTokenName = [], reportKeyName = [] } = vendor;
  const imported = Object.values(imports).flatMap(({ keyName }) => keyName ?? []);
  return [keyNames, pairNames, addressNames, regionNames, sessionTokenName, reportKeyName, imported].flat();
}

/** The lines of the source without comments and imports, by `file:line`. */
async function linesOf(path: string): Promise<(readonly [place: string, line: string])[]> {
  const lines = (await Deno.readTextFile(ROOT + path)).split("\n");
  return lines.map((line, index) => [`${path}:${index + 1}`, line] as const)
    .filter(([, line]) => !COMMENT.test(line) && !line.startsWith("import"));
}

/** Finds texts as whole words: `api.x.ai`, not the end of another host or variable. */
function finderOf(texts: readonly string[]): RegExp {
  return new RegExp(`(?<![\\w.-])(?:${texts.map((text) => RegExp.escape(text)).join("|")})(?![\\w-])`, "g");
}

Deno.test("vendors: an address and a variable of a vendor are written in its row only", async () => {
  const hosts = ALL_VENDORS.flatMap(([, vendor]) => hostsOf(vendor)).filter((host) => host !== "localhost");
  const finder = finderOf([...hosts, ...ALL_VENDORS.flatMap(([, vendor]) => variablesOf(vendor))]);
  const found: string[] = [];
  for (const path of await sourceFiles("src")) {
    if (TABLE.includes(path) || OTHERS.test(path)) continue;
    for (const [place, line] of await linesOf(path)) {
      const written = (line.match(finder) ?? []).filter((text) => !ALLOWED[path]?.includes(text));
      found.push(...written.map((text) => `${place}: ${text}`));
    }
  }
  assertEquals(found, []);
});

Deno.test("vendors: no address is written twice in the table", async () => {
  const lines = (await Promise.all(TABLE.map(linesOf))).flat();
  const urls = lines.flatMap(([, line]) => [...line.matchAll(/"(https?:\/\/[^"]+)"/g)].map(([, url = ""]) => url));
  const hosts = lines.flatMap(([, line]) => [...line.matchAll(/"((?:[a-z0-9-]+\.)+[a-z]{2,})"/g)]).map((
    [, host = ""],
  ) => host);
  const written = [...urls.map((url) => new URL(url).host), ...hosts];
  assertEquals(written.filter((each, index) => written.indexOf(each) !== index), []);
});
