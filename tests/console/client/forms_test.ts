import { assertEquals } from "@std/assert";
import { parse } from "yaml";
import { CLIENTS, clientSnippet } from "../../../src/console/client/pages/forms/client_snippets.ts";
import { keyLines } from "../../../src/console/client/pages/forms/key_lines.ts";
import { defaultId, modelEntry, type ModelFields } from "../../../src/console/client/pages/forms/model_entry.ts";
import { dividedBy, MODEL_KINDS, modelPriceFields } from "../../../src/console/client/pages/forms/model_prices.ts";
import { EMPTY_SECTION, secondPriceNames } from "../../../src/console/client/pages/forms/model_sections.ts";
import {
  newPrice,
  priceFieldsOf,
  secondFieldsOf,
  withPrices,
  withSecondPrices,
} from "../../../src/console/client/pages/forms/price_entry.ts";
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
import { readModel } from "../../../src/vendors/catalog/model.ts";
import { readProviderConfig } from "../../../src/vendors/upstreams/settings/provider_config.ts";

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
  prices: { prompt: "2.50", completion: "10" },
  ...EMPTY_SECTION,
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

Deno.test("forms: the catalog takes a model of every kind with each price of its form, in the vendors' units", () => {
  for (const kind of MODEL_KINDS) {
    const names = modelPriceFields(kind, {}).map(({ name }) => name);
    const fields = { ...MODEL, kind, perSecond: { "720p": "0.10" }, lengths: "4-15", voices: "alloy, echo" };
    const all = { ...fields, prices: Object.fromEntries(names.map((name) => [name, "3"])) };
    const { pricing, video, text, speech } = readModel({ id: "together/one", ...modelEntry(all) });
    assertEquals(Object.keys(pricing).toSorted(), names.toSorted(), kind);
    assertEquals([video !== null, text, Boolean(speech)], [kind === "video", kind === "text", kind === "speech"]);
    assertEquals(modelEntry({ ...all, isFree: true }).pricing, kind === "video" ? undefined : "free");
  }
  const priced = (kind: typeof MODEL_KINDS[number], prices: ModelFields["prices"]) =>
    readModel({ id: "a/b", ...modelEntry({ ...MODEL, kind, prices }) }).pricing;
  assertEquals(priced("image", { per_image: "0.04", image_output: "40" }), {
    per_image: "0.04",
    image_output: "0.00004",
  });
  assertEquals(priced("speech", { character: "15" }), { character: "0.000015" });
  assertEquals(priced("transcription", { audio_second: "0.006" }), { audio_second: "0.0001" });
  assertEquals(priced("rerank", { search_unit: "2.00" }), { search_unit: "0.002" });
  assertEquals(dividedBy("0.0025", 60n), "0.000041666666666667");
  assertEquals([dividedBy("12", 60n), dividedBy("120", 60n), dividedBy("x", 60n)], ["0.2", "2", "x"]);
});

Deno.test("forms: one price is enough for an image, and the prices of a text are both needed", () => {
  const required = (kind: "text" | "image", prices: ModelFields["prices"]) =>
    modelPriceFields(kind, prices).filter(({ isRequired }) => isRequired).map(({ name }) => name);
  assertEquals(required("text", { prompt: "1" }), ["prompt", "completion"]);
  assertEquals(required("image", {}), ["per_image", "prompt", "image_input", "image_output"]);
  assertEquals(required("image", { per_image: "0.04" }), []);
});

Deno.test("forms: a video has a price by resolution and sound, its modes and its lengths", () => {
  const fields = { ...MODEL, kind: "video", modes: ["text2video", "img2video"], sound: "switch" } as const;
  const perSecond = { "720p": "0.10", "720p_audio": "0.15", "4K": " 0.60 " };
  assertEquals(secondPriceNames({ ...fields, perSecond }), [
    ...["default", "480p", "720p", "720p_audio", "1080p", "2K", "4K", "4K_audio"],
  ]);
  const video = (lengths: string) => modelEntry({ ...fields, perSecond, lengths }).video;
  assertEquals(video("5, 10"), {
    modes: ["text2video", "img2video"],
    audio: "switch",
    price_per_second: { "720p_silent": "0.10", "720p_audio": "0.15", "4K": "0.60" },
    duration: { only: [5, 10] },
  });
  assertEquals(readModel({ id: "a/b", ...modelEntry({ ...fields, perSecond, lengths: "4 – 15" }) }).video?.duration, {
    leastSeconds: 4,
    mostSeconds: 15,
    onlySeconds: null,
    defaultSeconds: 5,
    isOpen: false,
  });
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
    input_cache_read_per_million: "0.3",
    overrides: [{ batch: true }],
  });
});

Deno.test("forms: the prices of a video's seconds change, and its other settings stay", () => {
  const video = { modes: ["text2video"], price_per_second: { "720p_silent": "0.10", default: "0.2" } };
  const entry = { serves: [], pricing: {}, video };
  const fields = secondFieldsOf(entry);
  assertEquals(withSecondPrices(entry, fields), entry);
  const typed = fields.map((field) =>
    field.name === "default" ? { ...field, text: " 0.25" } : { ...field, text: "0.1" }
  );
  assertEquals(withSecondPrices(entry, typed).video, {
    ...video,
    price_per_second: { "720p_silent": "0.10", default: "0.25" },
  });
  assertEquals([secondFieldsOf({ serves: [] }), withSecondPrices({ serves: [] }, [])], [[], { serves: [] }]);
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
