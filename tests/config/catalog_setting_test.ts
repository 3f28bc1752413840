import { assertEquals } from "@std/assert";
import { configFile } from "../../src/entry/cli/init/files.ts";
import type { VendorAnswers } from "../../src/entry/cli/init/vendor_answers.ts";
import { INIT_VENDORS, type InitVendor } from "../../src/entry/cli/init/vendors.ts";
import { type Config, readLayers } from "../../src/config/config.ts";
import { itemAt } from "../support/items.ts";
import { configOf, problemsOf } from "./support.ts";

const PROVIDERS = `
providers:
  openai: { kind: openai, api_key: k }
  local: { kind: ollama }
`;
const OWN = `
models:
  - { id: local/a, pricing: free, serves: [{ provider: local }] }
  - { id: openai/gpt-6-sol, pricing: { prompt: "0.001" }, serves: [{ provider: openai }] }
`;
const idsOf = ({ models }: Config) => models.map(({ id }) => id);
const builtIn = idsOf(configOf(PROVIDERS));

Deno.test("catalog: built_in adds the built-in models to a section models, in which an own model wins", () => {
  assertEquals(idsOf(configOf(PROVIDERS + OWN)), ["local/a", "openai/gpt-6-sol"]);
  const config = configOf(`catalog: built_in\n${PROVIDERS}${OWN}`);
  assertEquals(idsOf(config), [
    "local/a",
    "openai/gpt-6-sol",
    ...builtIn.filter((id) => id !== "openai/gpt-6-sol"),
  ]);
  assertEquals(config.models.find(({ id }) => id === "openai/gpt-6-sol")?.prices.pricing, { prompt: "0.001" });
  // They get the prices of the price source; the own model keeps its price.
  assertEquals(config.builtInIds.includes("openai/gpt-6-sol"), false);
  assertEquals(config.builtInIds.length, builtIn.length - 1);
  assertEquals(idsOf(configOf(`catalog: built_in\n${PROVIDERS}`)), builtIn);
  assertEquals(problemsOf(`catalog: all\n${PROVIDERS}`), [
    'switchyard.yaml: catalog: expected built_in, or nothing, got "all"',
  ]);
});

Deno.test("catalog: built_in: models of the store are added too, and each setting has its owner", () => {
  const stored = {
    providers: { anthropic: { kind: "anthropic", api_key: "k" } },
    models: { "openai/gpt-6-luna": { pricing: { prompt: "0.002" }, serves: [{ provider: "openai" }] } },
  };
  const text = `catalog: built_in\n${PROVIDERS}${OWN}`;
  const { config, tree } = readLayers({ text, file: "switchyard.yaml", env: () => undefined, stored });
  const ids = idsOf(config);
  assertEquals(ids.length, new Set(ids).size);
  assertEquals(ids.some((id) => id.startsWith("anthropic/")), true);
  assertEquals(
    ["local/a", "openai/gpt-6-luna", itemAt(config.builtInIds, 0)].map((id) => tree.ownerOf("models", id)),
    ["file", "store", "built_in"],
  );
  assertEquals(config.builtInIds.includes("openai/gpt-6-luna"), false);
});

Deno.test("init: the models of two vendors are those of each, for every pair", () => {
  const answers = (vendor: InitVendor): VendorAnswers => ({
    vendor,
    key: { variable: vendor.keyName, value: "k" },
    address: vendor.addressName === null ? null : "https://bedrock-runtime.us-east-1.amazonaws.com",
    models: vendor.models === "named" ? ["m"] : [],
    price: null,
  });
  const written = (...vendors: readonly InitVendor[]) => {
    const settings = { project: "example", admin: "owner", account: "default", balance: "1", port: "0" };
    const text = configFile({ vendors: vendors.map(answers), ...settings });
    const config = configOf(text, {
      ...Object.fromEntries(vendors.map(({ keyName }) => [keyName, "/dev/null"])),
      SWITCHYARD_OWNER_KEY: "an-admin-key-of-tests",
      SWITCHYARD_KEY: "an-api-key-of-tests-1",
    });
    return [...idsOf(config), ...config.modelPatterns.map(({ id }) => id)].sort();
  };
  // A service account's key is a file, which these texts do not have.
  const vendors = INIT_VENDORS.filter(({ hasProject }) => !hasProject);
  const alone = new Map(vendors.map((vendor) => [vendor, written(vendor)]));
  for (const one of vendors) {
    for (const other of vendors) {
      if (one.name >= other.name) continue;
      const both = [...alone.get(one) ?? [], ...alone.get(other) ?? []].sort();
      assertEquals(written(one, other), both, `${one.name} and ${other.name}`);
    }
  }
});
