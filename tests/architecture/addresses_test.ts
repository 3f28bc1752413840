import { assertEquals } from "@std/assert";
import { ROOT, sourceFiles } from "./source_files.ts";

/** An address of the gateway at the start of a string, or behind a value in one. */
const ADDRESS =
  /["'`}](?:\/(?:msgcompat|gencompat|admin|files|console|docs|webhook-receivers)(?=[/"'`?#])|\/v1\/\w|\/(?:healthz|readyz|metrics|openapi\.json)["'`?])/;
/**
 * The tables themselves; addresses of vendors, also of simulated ones, and of clients that files of others name; the
 * console, which is a client in a browser; and what clients send in the place of an address, which is rewritten.
 */
const OTHERS =
  /^src\/(?:platform\/endpoints\/|vendors\/upstreams\/|sandbox\/|vendors\/reconciliation\/|console\/client\/|entry\/cli\/import\/|entry\/app\/routing\/rewrite_rules\.ts)/;
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
/** What the reference page says about a setting. */
const SETTING_TEXT = /^(?: *|.*[{,] )(?:text|otherwise): "/;

Deno.test("addresses of endpoints are written in their tables only", async () => {
  const found: string[] = [];
  for (const path of await sourceFiles("src")) {
    if (OTHERS.test(path)) continue;
    for (const [index, line] of (await Deno.readTextFile(ROOT + path)).split("\n").entries()) {
      if (ADDRESS.test(line) && !COMMENT.test(line) && !SETTING_TEXT.test(line) && !line.startsWith("import")) {
        found.push(`${path}:${index + 1}`);
      }
    }
  }
  assertEquals(found, []);
});
