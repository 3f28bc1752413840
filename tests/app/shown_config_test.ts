import { assertEquals } from "@std/assert";
import { allSettings } from "../../scripts/reference/settings.ts";
import { shownConfig } from "../../src/entry/app/operators/shown_config.ts";
import { openConfigSource } from "../../src/config/load_config.ts";
import { isObject } from "../../src/conversation/neutral/wire_value.ts";

/** Entries that an operator names have no defaults of their own. */
const NAMED = /^(?:accounts|providers|models|aliases)\b/;

Deno.test("every setting of the reference is shown with a value and an owner, also if nobody has set it", () => {
  const { tree } = openConfigSource({ path: undefined, env: () => undefined }).load({});
  const { settings } = shownConfig({ tree, path: null, version: 0, isReadOnly: false });
  const missing = allSettings().map(({ path }) => path).filter((path) => !NAMED.test(path) && !isShown(settings, path));
  assertEquals(missing, []);
});

/** Whether a setting has a value, or is a part of one that is not set. */
function isShown(settings: unknown, path: string): boolean {
  const [section = "", name = "", ...inner] = path.replace(/\[\].*$/, "").split(".");
  const entry = memberOf(memberOf(settings, section), name);
  if (!isObject(entry) || typeof entry.owner !== "string") return false;
  let value = entry.value;
  for (const part of inner) {
    if (value === null) return true;
    if (!isObject(value) || !Object.hasOwn(value, part)) return false;
    value = value[part];
  }
  return value !== undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
