import { assertEquals } from "@std/assert";
import { parse } from "yaml";
import { CLIENTS, clientSnippet } from "../../../src/console/client/pages/forms/client_snippets.ts";
import { keyLines } from "../../../src/console/client/pages/forms/key_lines.ts";
import { defaultId, modelEntry, type ModelFields } from "../../../src/console/client/pages/forms/model_entry.ts";
import { newPrice, priceFieldsOf, withPrices } from "../../../src/console/client/pages/forms/price_entry.ts";
import {
  freeName,
  OTHER_VENDOR,
  providerEntry,
  type ProviderFields,
  providerInFile,
  VENDOR_GROUPS,
} from "../../../src/console/client/pages/forms/provider_entry.ts";
import { usableModels } from "../../../src/console/client/pages/forms/usable_models.ts";
import { yamlText } from "../../../src/console/client/pages/forms/yaml_text.ts";
import type { ListedModel } from "../../../src/console/client/shapes.ts";
import { readModel } from "../../../src/catalog/model.ts";
import { readProviderConfig } from "../../../src/upstreams/provider_config.ts";

const PROVIDER: ProviderFields = { vendor: "openai", name: "", key: "sk-1", secretKey: "", address: "" };
const MODEL: ModelFields = {
  provider: "together",
  vendorModel: "meta/llama 4",
  id: "",
  kind: "text",
  takesImages: true,
  context: "128 000",
  maxOutput: "8,192",
  isFree: false,
  input: "2.50",
  output: "10",
  cacheRead: "",
};

Deno.test("forms: the configuration takes the provider of every vendor that can be chosen", () => {
  for (const vendor of Object.values(VENDOR_GROUPS).flat()) {
    const fields = { ...PROVIDER, vendor, secretKey: "secret", address: "https://vendor.example/v1" };
    readProviderConfig(providerEntry(fields));
    readProviderConfig(providerInFile(fields));
  }
  assertEquals(providerEntry({ ...PROVIDER, vendor: "groq" }), { kind: "groq", api_key: "sk-1" });
  assertEquals(providerEntry({ ...PROVIDER, vendor: OTHER_VENDOR, key: "", address: " http://gpu:8000/v1 " }), {
    kind: "openai",
    base_url: "http://gpu:8000/v1",
  });
  assertEquals(providerInFile({ ...PROVIDER, vendor: "kling" }), {
    kind: "kling",
    api_key: "${KLING_ACCESS_KEY}",
    secret_key: "${KLING_SECRET_KEY}",
  });
});

Deno.test("forms: a provider has the name of its vendor, or that with the next number", () => {
  assertEquals(freeName("openai", []), "openai");
  assertEquals(freeName("openai", ["openai", "openai-2"]), "openai-3");
});

Deno.test("forms: the catalog takes a model, whose prices are for a million", () => {
  assertEquals(defaultId(MODEL), "together/meta/llama-4");
  const entry = modelEntry(MODEL);
  const { pricing, contextLength, serves } = readModel({ id: defaultId(MODEL), ...entry });
  assertEquals([pricing, contextLength], [{ prompt: "0.0000025", completion: "0.00001" }, 128_000]);
  assertEquals(serves, [{ provider: "together", model: "meta/llama 4", weight: 1 }]);
  const embedding = { ...MODEL, kind: "embedding", vendorModel: "embed-1" } as const;
  assertEquals(modelEntry(embedding), {
    context_length: 128_000,
    embedding: {},
    pricing: { prompt_per_million: "2.50" },
    serves: [{ provider: "together" }],
  });
  assertEquals(modelEntry({ ...MODEL, isFree: true }).pricing, "free");
});

Deno.test("forms: prices keep their unit, and those that did not change their digits", () => {
  const entry = {
    serves: [],
    pricing: { prompt: "0.00000250", completion_per_million: "10", per_image: "0.04", overrides: [{ batch: true }] },
  };
  const fields = priceFieldsOf(entry);
  assertEquals(fields.map(({ name, text }) => [name, text]), [
    ["prompt", "2.50"],
    ["completion", "10"],
    ["per_image", "0.04"],
  ]);
  assertEquals(withPrices(entry, fields), entry);
  const changed = fields.map((field) => field.name === "per_image" ? { ...field, text: "" } : { ...field, text: "3" });
  assertEquals(withPrices(entry, [...changed, { ...newPrice("input_cache_read"), text: "0.3" }]).pricing, {
    prompt: "0.000003",
    completion_per_million: "3",
    input_cache_read: "0.0000003",
    overrides: [{ batch: true }],
  });
});

Deno.test("forms: what is shown as a part of a file is the same YAML", () => {
  const value = {
    models: [{ id: "together/x", pricing: { prompt: "2.50" }, architecture: { input_modalities: ["text", "image"] } }],
    aliases: { fast: "together/x", yes: "a: b", empty: "" },
    embedding: {},
    list: [],
    none: null,
  };
  assertEquals(parse(yamlText(value)), value);
  assertEquals(yamlText({ api_key: "${OPENAI_API_KEY}" }), "api_key: ${OPENAI_API_KEY}\n");
});

Deno.test("forms: a new key has a line for each setting, and the models that it may use, the cheapest first", () => {
  assertEquals(
    keyLines({ rpm: 5, budget: { amount: "2", per: "day" }, models: ["a/*", "b"], metadata: { team: "x" } }),
    [
      { title: "Requests per minute", text: "5" },
      { title: "Budget", text: "2 USD per day" },
      { title: "Models", text: "a/*, b" },
      { title: "Metadata", text: "team=x" },
    ],
  );
  const model = (id: string, prompt: string, output = "text") =>
    ({ id, pricing: { prompt }, architecture: { output_modalities: [output] } }) as unknown as ListedModel;
  const models = [model("a/one", "3"), model("a/two", "1"), model("b/three", "0.1"), model("a/image", "0", "image")];
  assertEquals(usableModels(models, ["a/*"]), ["a/two", "a/one"]);
  assertEquals(usableModels(models, null), ["b/three", "a/two", "a/one"]);
});

Deno.test("forms: the first request of each client names the gateway and the model, and no key", () => {
  for (const client of CLIENTS) {
    const text = clientSnippet(client, { model: "acme/one", baseUrl: "https://gateway.example" });
    assertEquals([client, text.includes("https://gateway.example"), text.includes("acme/one")], [client, true, true]);
    assertEquals(text.includes("sk-sy-"), false);
  }
});
