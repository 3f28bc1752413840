import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { formattedReference, problemsOfTexts, REFERENCE_PAGE } from "../../scripts/reference/page.ts";
import { expectationOf } from "../../scripts/reference/values.ts";
import { allSettings } from "../../scripts/reference/settings.ts";
import { openConfigSource } from "../../src/config/load_config.ts";
import { isLive } from "../../src/config/tree/plain_tree.ts";
import { isSecretPath } from "../../src/config/tree/setting_path.ts";
import { isSecretSetting } from "../../src/platform/lib/settings/setting.ts";
import { ROOT } from "../architecture/source_files.ts";

Deno.test("configuration reference: every setting has a text, a unit where it is a number, and a valid example", () => {
  assertEquals(problemsOfTexts(), []);
});

Deno.test("configuration reference: the page is that of `deno task reference`", async () => {
  const page = await Deno.readTextFile(join(ROOT, REFERENCE_PAGE));
  assert(page === await formattedReference(), "run: deno task reference");
});

Deno.test("configuration: what a setting expects does not begin with the word that a problem puts before it", () => {
  const twice = allSettings().filter(({ schema }) => expectationOf(schema).startsWith("expected"));
  assertEquals(twice.map(({ path }) => path), []);
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

Deno.test("configuration: what takes effect without a restart is what the entries of the settings say", () => {
  const { tree } = openConfigSource({ path: undefined, env: () => undefined }).load({});
  const wrong = allSettings().filter(({ path, isLive: isSaidLive }) => {
    const [section = "", name = ""] = path.replaceAll("[]", "").split(".");
    return isLive(tree, section, name) !== isSaidLive;
  });
  assertEquals(wrong.map(({ path }) => path), []);
  const restarts = ["limits.memory", "limits.vendor_polling.first", "server.port", "store", "retention.tasks"];
  const live = ["limits.text_body", "server.admin_key", "server.admin_keys[].key", "models[].refresh", "logs.level"];
  const found = new Map(allSettings().map((setting) => [setting.path, setting.isLive]));
  assertEquals(restarts.map((path) => found.get(path)), restarts.map(() => false));
  assertEquals(live.map((path) => found.get(path)), live.map(() => true));
});

Deno.test("configuration: docs/configuration.md names the settings that differ from their section", async () => {
  const page = await Deno.readTextFile(join(ROOT, "docs/configuration.md"));
  const rows = page.slice(page.indexOf("| Takes effect immediately")).split("\n\n", 1).join().split("\n").slice(2);
  const [, limits = "", server = ""] = rows;
  const namesIn = (text = "") => [...text.matchAll(/`(?:\w+\.)?(\w+)`/g)].map(([, name = ""]) => name);
  const differing = (section: string, isSaidLive: boolean) => [
    ...new Set(
      allSettings().filter(({ path, isLive }) => path.startsWith(`${section}.`) && isLive === isSaidLive)
        .map(({ path }) => path.split(/[.[]/)[1]),
    ),
  ];
  assertEquals(namesIn(limits.split("|")[2]), differing("limits", false));
  assertEquals(namesIn(server.split("|")[1]), differing("server", true));
});

Deno.test("configuration: the value of a setting that is a secret is never shown, because of its name", () => {
  const secrets = allSettings().filter(({ schema }) => isSecretSetting(schema)).map(({ path }) => path);
  const parts = (path: string) => path.replaceAll("[]", ".0").split(".").map((part) => part === "0" ? 0 : part);
  assertEquals(secrets.filter((path) => !isSecretPath(parts(path))), []);
  assert(secrets.includes("server.admin_key") && secrets.length > 10, secrets.join());
});
