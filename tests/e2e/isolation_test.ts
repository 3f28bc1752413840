import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import OpenAI, { APIError } from "openai";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { type Answer, callerOf } from "../support/gateway_call.ts";
import { atLeast } from "../support/items.ts";
import { startStatefulVendor } from "./stateful_vendor.ts";

const [KEY_A, KEY_B] = [newApiKey(), newApiKey()];
const one = startStatefulVendor("one");
const two = startStatefulVendor("two");
const gateway = await startTestGateway({
  config: {
    accounts: [
      { id: "anna", balance: "25.00", keys: [KEY_A], allow_buckets: ["gs://acme-media/", "s3://b/annas/"] },
      { id: "ben", balance: "25.00", keys: [KEY_B] },
    ],
    providers: {
      one: provider(one.baseUrl, {
        allow_references: [
          "prompt:pmpt_shared",
          "file:file-shared",
          "vector_store:*",
          "container:*",
          "asset:asset://logo",
        ],
        allow_tools: ["code_interpreter", "file_search"],
      }),
      two: provider(two.baseUrl, {}),
    },
    models: [
      { ...textModel("acme/free", ["two"]), pricing: "free" },
      textModel("acme/one", ["one"]),
      textModel("acme/two", ["two"]),
      textModel("acme/both", ["one", "two"]),
      {
        ...textModel("acme/searching", ["two"]),
        pricing: { prompt: "0.000001", completion: "0.000002", web_search: "0.01" },
      },
    ],
  },
});

function provider(base_url: string, allowed: object): object {
  return { kind: "openai", base_url, api_key: "key-of-the-operator", speaks: "both", ...allowed };
}

const [anna, ben] = atLeast(
  [KEY_A, KEY_B].map((key) => {
    const call = callerOf(gateway.address, { authorization: `Bearer ${key}` });
    return (fields: object): Promise<Answer> =>
      call("POST", "/v1/responses", { model: "acme/one", input: "hi", ...fields });
  }),
  2,
);
const vendors = [one, two];
const askedOf = () => vendors.reduce((sum, { asked }) => sum + asked.length, 0);

/** Ids of a reply, whole or streamed. */
async function handedOut(fields: object = {}): Promise<Record<string, string>> {
  const { status, text } = await anna(fields);
  assertEquals(status, 200, text);
  return Object.fromEntries(
    ["resp", "rs", "ci", "msg", "cntr", "cfile"].map((
      kind,
    ) => [kind, new RegExp(`${kind}_\\w+`).exec(text)?.[0] ?? ""]),
  );
}

/** Every request field that refers to an id of a reply. */
function usesOf(ids: Record<string, string>): readonly (readonly [name: string, fields: object])[] {
  const user = (part: object) => ({ input: [{ role: "user", content: [part] }] });
  return [
    ["previous_response_id", { previous_response_id: ids.resp }],
    ["an item_reference", { input: [{ type: "item_reference", id: ids.msg }] }],
    ["reasoning without its content", {
      input: [{ type: "reasoning", id: ids.rs, summary: [] }, { role: "user", content: "x" }],
    }],
    ["a call of a hosted tool", {
      input: [{ type: "code_interpreter_call", id: ids.ci, status: "completed", code: "1" }, {
        role: "user",
        content: "x",
      }],
    }],
    ["a container", { tools: [{ type: "code_interpreter", container: ids.cntr }] }],
    ["files of a container", {
      tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [ids.cfile] } }],
    }],
    ["input_file.file_id", user({ type: "input_file", file_id: ids.cfile })],
    ["input_image.file_id", user({ type: "input_image", file_id: ids.cfile })],
    ["a file in a tool's output", {
      input: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: ids.cfile }] },
      ],
    }],
  ];
}

for (const stream of [false, true]) {
  Deno.test(`ids of a reply belong to the account that received it${stream ? ", streamed" : ""}`, async () => {
    const ids = await handedOut({ stream });
    for (const [name, fields] of usesOf(ids)) {
      const before = askedOf();
      for (const streamed of [false, true]) {
        const refused = await ben({ ...fields, stream: streamed });
        assertEquals(refused.status, 404, `${name}: ${refused.text}`);
        assertEquals(refused.json.error.type, "not_found_error");
      }
      assertEquals(askedOf(), before, name);
      const allowed = await anna({ ...fields, stream });
      assertEquals(allowed.status, 200, `${name}: ${allowed.text}`);
      assertEquals(askedOf(), before + 1);
    }
  });
}

Deno.test("another account's id and an unknown one are rejected with the same message", async () => {
  const ids = await handedOut();
  for (const [name, fields] of usesOf(ids)) {
    if (name === "a container") continue; // its wildcard allows containers without an owner
    const text = JSON.stringify(fields);
    const unknown = JSON.parse(text.replaceAll(/(resp|rs|ci|msg|cntr|cfile)_one\d+/g, "$1_nobodys"));
    const [foreign, none] = [await ben(fields), await ben(unknown)];
    assertEquals([none.status, none.json.error.message], [404, foreign.json.error.message], name);
    assertEquals((await anna(unknown)).json.error.message, foreign.json.error.message);
  }
  const { json } = await ben({ previous_response_id: ids.resp });
  assertEquals([json.error.code, json.error.param], ["previous_response_not_found", "previous_response_id"]);
});

Deno.test("a reply that is not stored returns no response id", async () => {
  const { resp, ci } = await handedOut({ store: false });
  assertEquals((await anna({ previous_response_id: resp })).status, 404);
  const echo = {
    input: [{ type: "code_interpreter_call", id: ci, status: "completed" }, { role: "user", content: "x" }],
  };
  assertEquals((await anna({ ...echo, store: false })).status, 200);
});

Deno.test("items that carry their content need no owner", async () => {
  const input = [
    { type: "message", id: "msg_x", role: "assistant", content: [{ type: "output_text", text: "a", annotations: [] }] },
    { type: "reasoning", id: "rs_x", summary: [], encrypted_content: "gAAAA" },
    { type: "function_call", id: "fc_x", call_id: "c", name: "f", arguments: "{}" },
    { type: "function_call_output", id: "fco_x", call_id: "c", output: "1" },
    { role: "user", content: "x" },
  ];
  assertEquals((await ben({ input })).status, 200);
});

Deno.test("a request goes to the provider that returned its ids, whatever other providers serve the model", async () => {
  for (const [name, vendor] of [["one", one], ["two", two]] as const) {
    const { resp } = await handedOut({ model: `acme/${name}` });
    for (let nth = 0; nth < 6; nth++) {
      const before = vendor.asked.length;
      assertEquals((await anna({ model: "acme/both", previous_response_id: resp })).status, 200);
      assertEquals(vendor.asked.length, before + 1);
    }
    const other = name === "one" ? "two" : "one";
    const pinned = { model: "acme/both", previous_response_id: resp, extra_body: { provider: { type: other } } };
    for (const fields of [pinned, { model: `acme/${other}`, previous_response_id: resp }]) {
      const before = askedOf();
      const { status, json } = await anna(fields);
      assertEquals([status, json.error.param], [400, "previous_response_id"]);
      assertMatch(json.error.message, new RegExp(`belongs to the provider "${name}"`));
      assertEquals(askedOf(), before);
    }
  }
});

const REFUSED: readonly (readonly [name: string, status: number, fields: object])[] = [
  ["prompt.id", 400, { prompt: { id: "pmpt_other" } }],
  ["conversation", 404, { conversation: "conv_1" }],
  ["conversation.id", 404, { conversation: { id: "conv_1" } }],
  ["vector_store_ids", 400, { model: "acme/two", tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
  ["asset://", 400, image("asset://another")],
  ["mm_file://", 400, image("mm_file://1")],
  ["gs://", 400, image("gs://acme-media/a.png")],
];

function image(image_url: string): object {
  return { input: [{ role: "user", content: [{ type: "input_image", image_url }] }] };
}

for (const [name, status, fields] of REFUSED) {
  Deno.test(`${name} that the operator has not allowed reaches no vendor`, async () => {
    const before = askedOf();
    const { status: got, json } = await ben(fields);
    assertEquals([got, typeof json.error.param], [status, "string"], json.error.message);
    assertEquals(askedOf(), before);
  });
}

Deno.test("the references in a provider's allow_references are available to every account", async () => {
  const allowed = [
    { prompt: { id: "pmpt_shared" } },
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-shared" }] }] },
    { tools: [{ type: "file_search", vector_store_ids: ["vs_1", "vs_2"] }] },
    image("asset://logo"),
  ];
  for (const fields of allowed) {
    for (const ask of [anna, ben]) assertEquals((await ask(fields)).status, 200, JSON.stringify(fields));
    const before = one.asked.length;
    assertEquals((await ben({ ...fields, model: "acme/both" })).status, 200);
    assertEquals(one.asked.length, before + 1);
  }
});

Deno.test("an object of a bucket is read only for the account that may read it, and no path escapes its prefix", async () => {
  for (const url of ["gs://acme-media/a.png", "GS://acme-media/b/c.png", "s3://b/annas/a.png"]) {
    assertEquals((await anna(image(url))).status, 200, url);
    assertEquals((await ben(image(url))).status, 400, url);
  }
  const around = [
    "gs://acme-media/",
    "gs://acme-media-secret/a",
    "gs://acme-media/../secret/a",
    "gs://acme-media/%2e%2e/secret/a",
    "gs://acme-media/a\\..\\b",
    "gs://acme-media//a",
    "gs://acme-media/*",
    "s3://b/annas/../bens/a",
    "s3://b/a",
    "gs://ACME-media/a",
    "s3://acme-media/a.png",
  ];
  for (const url of around) assertEquals((await anna(image(url))).status, 400, url);
});

Deno.test("a hosted tool needs a price on the model or permission on the provider", async () => {
  const web = { tools: [{ type: "web_search" }] };
  for (const model of ["acme/one", "acme/two"]) {
    const before = askedOf();
    const { status, json } = await anna({ ...web, model });
    assertEquals([status, json.error.param], [400, "tools[0]"]);
    assertMatch(json.error.message, /"web_search"/);
    assertEquals(askedOf(), before);
  }
  for (const model of ["acme/searching", "acme/free"]) assertEquals((await anna({ ...web, model })).status, 200);
  assertEquals((await anna({ tools: [{ type: "code_interpreter", container: { type: "auto" } }] })).status, 200);
  const before = one.asked.length;
  const run = { model: "acme/both", tools: [{ type: "code_interpreter", container: { type: "auto" } }] };
  for (let nth = 0; nth < 4; nth++) assertEquals((await anna(run)).status, 200);
  assertEquals(one.asked.length, before + 4);
});

Deno.test("the official client continues from its own response, and gets 404 for another account's", async () => {
  const client = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${gateway.address}/v1`, maxRetries: 0 });
  const first = await client(KEY_A).responses.create({ model: "acme/one", input: "hi" });
  const second = await client(KEY_A).responses.create({
    model: "acme/one",
    input: "go on",
    previous_response_id: first.id,
    stream: true,
  });
  const types: string[] = [];
  for await (const event of second) types.push(event.type);
  assertEquals([types[0], types.at(-1)], ["response.created", "response.completed"]);
  const foreign = client(KEY_B).responses.create({ model: "acme/one", input: "hi", previous_response_id: first.id });
  const error = await assertRejects(() => foreign, APIError);
  assertEquals([error.status, error.code, error.param], [404, "previous_response_not_found", "previous_response_id"]);
});

Deno.test("the chat format rejects references to objects of the operator's account", async () => {
  const call = callerOf(gateway.address, { authorization: `Bearer ${KEY_B}` });
  const user = (part: object) => [{ role: "user", content: [part] }];
  const questions: readonly (readonly [number, object])[] = [
    [404, { messages: user({ type: "file", file: { file_id: "file-of-anna" } }) }],
    [404, { messages: [{ role: "system", content: "fileid://file-of-anna" }, { role: "user", content: "x" }] }],
    [404, {
      messages: [{ role: "assistant", content: null, audio: { id: "audio_1" } }, { role: "user", content: "x" }],
    }],
    [400, { messages: user({ type: "image_url", image_url: { url: "gs://acme-media/a.png" } }) }],
    [400, { messages: user({ type: "image_url", image_url: { url: "asset://another" } }) }],
    [400, { messages: user({ type: "text", text: "x" }), web_search_options: {} }],
    [400, { messages: user({ type: "text", text: "x" }), google: { cached_content: "cachedContents/x" } }],
  ];
  for (const [expected, fields] of questions) {
    const before = askedOf();
    const { status, text } = await call("POST", "/v1/chat/completions", { model: "acme/one", ...fields });
    assertEquals([status, askedOf()], [expected, before], `${JSON.stringify(fields)} ${text}`);
  }
});

Deno.test.afterAll(async () => {
  await gateway.stop();
  for (const vendor of vendors) await vendor.stop();
  assert(vendors.every(({ asked }) => asked.length > 0));
});
