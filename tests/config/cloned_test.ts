import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { readPlainLayers } from "../../src/config/config.ts";
import { VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { placeOf, readCodeBlocks } from "../documentation/samples/code_blocks.ts";
import { completedText, isConfiguration } from "../documentation/samples/configurations.ts";

/** The environments whose values a configuration keeps: proxies with every kind of exception. */
const ENVIRONMENTS: readonly Readonly<Record<string, string>>[] = [
  {},
  { HTTPS_PROXY: "http://me:secret@proxy.internal:3128", HTTP_PROXY: "proxy.internal" },
  { HTTP_PROXY: "http://proxy:1", NO_PROXY: "127.0.0.1" },
  { HTTP_PROXY: "http://proxy:1", NO_PROXY: "localhost,127.0.0.0/8,::1,[2001:db8::/32],10.1.2.3:444,.internal,*" },
];

/** The settings that pages show, alone and together with each environment. */
const BLOCKS = (await readCodeBlocks()).filter(isConfiguration);

/** Reads a configuration as the thread that reads it does. */
function loadedFrom(text: string, variables: Readonly<Record<string, string>>): unknown {
  return readPlainLayers({ text, file: "switchyard.yaml", env: (name) => variables[name], stored: {} });
}

/** A value for each variable that a text names. */
function namedVariables(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => [name, `value-of-${name}`]));
}

/** The places of values that a message to another thread would lose or change. */
function lostIn(value: unknown, path = ""): string[] {
  if (typeof value === "function" || typeof value === "symbol") return [`${path}: a ${typeof value}`];
  if (typeof value !== "object" || value === null) return [];
  if (value instanceof Set || value instanceof Map) {
    return [...value].flatMap((each, n) => lostIn(each, `${path}[${n}]`));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) {
    return [`${path}: a ${value.constructor.name}`];
  }
  return Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([name, { get, value: inner }]) =>
    get === undefined ? lostIn(inner, `${path}.${name}`) : [`${path}.${name}: a getter`]
  );
}

function assertIsPlain(loaded: unknown, place: string): void {
  assertEquals(lostIn(loaded), [], place);
  assertEquals(structuredClone(loaded), loaded, place);
}

Deno.test("every configuration that a page shows equals its structured clone, with every kind of proxy", () => {
  assert(BLOCKS.length > 15, `${BLOCKS.length} blocks`);
  for (const block of BLOCKS) {
    const [text, named] = [completedText(block), namedVariables(block.text)];
    for (const variables of ENVIRONMENTS) assertIsPlain(loadedFrom(text, { ...named, ...variables }), placeOf(block));
  }
});

Deno.test("the configuration of the environment alone equals its structured clone, with every vendor", () => {
  const keys = Object.values(VENDORS).map(({ keyNames: [name = ""] }) => [name, `value-of-${name}`]);
  assertIsPlain(loadedFrom("", { ...Object.fromEntries(keys), ...ENVIRONMENTS.at(-1) }), "environment");
});

Deno.test("proxies from any text of NO_PROXY equal their structured clone", () => {
  const entry = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.domain(),
    fc.tuple(fc.ipV4(), fc.nat(32)).map(([address, bits]) => `${address}/${bits}`),
    fc.tuple(fc.ipV6(), fc.nat(128)).map(([address, bits]) => `${address}/${bits}`),
    fc.string(),
  );
  fc.assert(fc.property(fc.array(entry), (entries) => {
    assertIsPlain(loadedFrom("", { HTTP_PROXY: "proxy:1", NO_PROXY: entries.join(",") }), entries.join());
  }));
});
