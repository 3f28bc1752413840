import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { formattedReference, problemsOfTexts, REFERENCE_PAGE } from "../../scripts/reference/page.ts";
import { allSettings } from "../../scripts/reference/settings.ts";
import { ROOT } from "../architecture/source_files.ts";

Deno.test("configuration reference: every setting has a text, a unit where it is a number, and a valid example", () => {
  assertEquals(problemsOfTexts(), []);
});

Deno.test("configuration reference: the page is that of `deno task reference`", async () => {
  const page = await Deno.readTextFile(join(ROOT, REFERENCE_PAGE));
  assert(page === await formattedReference(), "run: deno task reference");
});

Deno.test("configuration reference: the search for settings finds nested ones, lists and maps", () => {
  const paths = new Set(allSettings().map(({ path }) => path));
  const expected = [
    "server.admin_keys[].role",
    "store",
    "accounts[].keys[].budget.per",
    "providers.NAME.timeouts.idle",
    "models[].video.duration.only",
    "models[].refresh",
    "aliases.NAME.model",
    "limits.vendor_polling.per_second",
    "request_log.capture.body",
    "console",
  ];
  assertEquals(expected.filter((path) => !paths.has(path)), []);
});
