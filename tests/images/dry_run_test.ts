import { assertEquals, assertMatch } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { imageFile, type ImageGateway, imageModel, startImageGateway } from "./image_gateway.ts";
import { startStubVendor } from "./stub_vendor.ts";

const DRY_RUN_HEADER = { "x-service-dry-run": "true" };
const REQUEST = { model: "sandbox/grok-1", prompt: "a fox", quality: "low" };

const gateway = await startImageGateway({
  balance: "0.50",
  models: [
    imageModel("sandbox/shared-1", { edits: true }, [], {
      pricing: { per_image: "0.02" },
      serves: [{ provider: "one", weight: 1 }, { provider: "two", weight: 3 }],
    }),
    imageModel("sandbox/dear-1", { series: "reference" }, ["xai"], {
      pricing: { per_image: "0.60" },
      fallbacks: ["sandbox/grok-1"],
    }),
  ],
});

async function answerOf(answering: Promise<Response>) {
  const answer = await answering;
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) };
}

const generate = (change: Record<string, unknown> = {}, headers: Record<string, string> = DRY_RUN_HEADER) =>
  answerOf(gateway.post("/v1/images/generations", { ...REQUEST, ...change }, headers));

async function edit(fields: Record<string, string>, headers: Record<string, string> = DRY_RUN_HEADER) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ prompt: "a fox", quality: "low", ...fields })) form.append(name, value);
  form.append("image", new File([await imageFile()], "a.png"));
  return await answerOf(gateway.post("/v1/images/edits", form, headers));
}

/** Every lasting effect of a request. */
const effectsIn = async ({ sandbox, balance, files }: ImageGateway) => [
  sandbox.requests.length,
  await balance(),
  [...Deno.readDirSync(files)].flatMap(({ name, isDirectory }) =>
    isDirectory ? [...Deno.readDirSync(`${files}/${name}`)].map((each) => each.name) : []
  ).filter((name) => name.endsWith(".png")),
];

Deno.test("a dry run of a generation returns providers, estimate and balance, and has no effect", async () => {
  const before = await effectsIn(gateway);
  const { status, json } = await generate({ n: 3 });
  assertEquals(status, 200);
  assertEquals(json, {
    dry_run: true,
    model: "sandbox/grok-1",
    mode: "generate",
    providers: ["xai"],
    estimate: { images: 3, image_cost: "0.1800000000", cost: 0.18 },
    dropped: [],
    balance_covers: true,
    admitted: true,
    refused_by: null,
  });
  assertEquals(await effectsIn(gateway), before);
});

Deno.test("a dry run of an edit names the dropped fields, and the possible providers, the likeliest first", async () => {
  const before = await effectsIn(gateway);
  const { json, headers } = await edit({ model: "sandbox/shared-1", input_fidelity: "high", n: "2" });
  assertEquals([json.mode, json.providers, json.dropped, headers.get("x-service-dropped")], [
    "edit",
    ["two", "one"],
    ["input_fidelity"],
    "input_fidelity",
  ]);
  assertEquals(json.estimate, { images: 2, image_cost: "0.0400000000", cost: 0.04 });
  const pinned = await edit({ model: "sandbox/shared-1" }, { ...DRY_RUN_HEADER, "x-service-provider-type": "one" });
  assertEquals(pinned.json.providers, ["one"]);
  assertEquals(await effectsIn(gateway), before);
});

Deno.test("a dry run reports a balance that is too low, where a request is 402", async () => {
  const expensive = await generate({ model: "sandbox/dear-1", n: 1 });
  assertEquals([expensive.status, expensive.json.balance_covers, expensive.json.estimate.image_cost], [
    200,
    false,
    "0.6000000000",
  ]);
  assertEquals((await generate({ model: "sandbox/dear-1" }, {})).status, 402);
  assertEquals((await generate({ n: 8 })).json.balance_covers, true);
  assertEquals((await generate({ n: 9 })).json.balance_covers, false);
});

const INVALID_FIELDS: readonly Record<string, unknown>[] = [
  { prompt: "" },
  { quality: "huge" },
  { n: 11 },
  { size: "1x1" },
  { model: "sandbox/nothing" },
  { extra_body: { provider: { type: "nobody" } } },
  { input_images: ["@@"] },
  { input_images: ["http://10.0.0.1/a.png"] },
];

for (const change of INVALID_FIELDS) {
  Deno.test(`a dry run rejects what a generation rejects: ${JSON.stringify(change)}`, async () => {
    const [tried, asked] = [await generate(change), await generate(change, {})];
    assertEquals(asked.status >= 400 && asked.status < 500, true, asked.text);
    assertEquals([tried.status, tried.json.error.message], [asked.status, asked.json.error.message]);
  });
}

Deno.test("a dry run downloads a reference once, and none that the balance does not cover", async () => {
  await using files = startStubVendor(async () => new Response(await imageFile()));
  const input_images = [`${files.address}/a.png`];
  assertEquals((await generate({ input_images })).json.balance_covers, true);
  assertEquals(files.requestedPaths.length, 1);
  assertEquals((await generate({ input_images, n: 9 })).json.balance_covers, false);
  assertEquals(files.requestedPaths.length, 1);
});

Deno.test("a dry run downloads no reference for a key at its limit of requests", async () => {
  await using files = startStubVendor(async () => new Response(await imageFile()));
  const key = newApiKey();
  const limited = await startImageGateway({
    config: { accounts: [{ id: "demo", balance: "25.00", keys: [{ key, rpm: 1 }] }] },
  });
  const authorization = `Bearer ${key}`;
  const body = { ...REQUEST, input_images: [`${files.address}/a.png`] };
  const dryRun = async () =>
    (await answerOf(limited.post("/v1/images/generations", body, { ...DRY_RUN_HEADER, authorization }))).json;
  assertEquals([(await dryRun()).admitted, files.requestedPaths.length], [true, 1]);
  assertEquals((await answerOf(limited.post("/v1/images/generations", REQUEST, { authorization }))).status, 200);
  const { admitted, balance_covers, refused_by } = await dryRun();
  assertEquals([admitted, balance_covers, refused_by.limit, files.requestedPaths.length], [false, true, "rpm", 1]);
  await limited.stop();
});

Deno.test("any other value of X-Service-Dry-Run is 400, and false generates images", async () => {
  const { status, json } = await generate({}, { "x-service-dry-run": "1" });
  assertEquals(status, 400);
  assertMatch(json.error.message, /X-Service-Dry-Run/);
  assertEquals((await edit({ model: "sandbox/shared-1" }, { "x-service-dry-run": "yes" })).status, 400);
  assertEquals((await generate({}, { "x-service-dry-run": "false" })).json.data.length, 1);
});

Deno.test({
  name: "the gateway of the dry runs stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
