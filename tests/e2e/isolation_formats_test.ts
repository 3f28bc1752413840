import { assertEquals, assertMatch } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { atLeast } from "../support/items.ts";

/** A vendor of the messages and content formats that accepts every request. */
function startVendor() {
  const asked: { path: string; body: string }[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const body = await request.text();
    asked.push({ path: pathname, body });
    if (pathname.endsWith(":countTokens")) return Response.json({ totalTokens: 5 });
    if (pathname.endsWith("/count_tokens")) return Response.json({ input_tokens: 5 });
    if (pathname.includes("generateContent")) {
      const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
      const content = { role: "model", parts: [{ text: "hello" }] };
      return Response.json({ candidates: [{ content, finishReason: "STOP" }], usageMetadata });
    }
    return JSON.parse(body).stream ? streamOf(asked.length) : Response.json(messageOf(asked.length));
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, asked, stop: () => server.shutdown() };
}

const OUTPUT = { type: "code_execution_output" };
const USAGE = { input_tokens: 5, output_tokens: 3 };

function blocksOf(nth: number) {
  const content = { type: "code_execution_result", content: [{ ...OUTPUT, file_id: `file_${nth}` }] };
  return [
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "code_execution",
      input: { container: { id: "container_model" } },
    },
    { type: "code_execution_tool_result", tool_use_id: "srvtoolu_1", content },
    {
      type: "tool_use",
      id: "toolu_1",
      name: "f",
      input: { container: { id: "container_model" }, file_id: "file_model" },
    },
  ];
}

function messageOf(nth: number) {
  return {
    id: `msg_${nth}`,
    type: "message",
    role: "assistant",
    model: "m",
    content: blocksOf(nth),
    container: { id: `container_${nth}`, expires_at: "2027-01-01T00:00:00Z" },
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: USAGE,
  };
}

function streamOf(nth: number): Response {
  const { content, container, ...message } = messageOf(nth);
  const events = [
    { type: "message_start", message: { ...message, content: [], container: null } },
    ...content.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null, container }, usage: USAGE },
    { type: "message_stop" },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

const [KEY_A, KEY_B] = [newApiKey(), newApiKey()];
const vendor = startVendor();
const common = { api_key: "key-of-the-operator", allow_tools: ["code_execution"] };
const gateway = await startTestGateway({
  config: {
    accounts: [
      { id: "anna", balance: "25.00", keys: [KEY_A], allow_buckets: ["gs://acme-media/"] },
      { id: "ben", balance: "25.00", keys: [KEY_B] },
    ],
    providers: {
      messages: { kind: "anthropic", base_url: vendor.url, ...common },
      content: { kind: "google", base_url: vendor.url, allow_references: ["file:files/shared"], ...common },
    },
    models: [textModel("acme/messages", ["messages"]), textModel("acme/content", ["content"]), {
      ...textModel("acme/grounded", ["content"]),
      pricing: { ...PRICING, web_search: "0.01" },
    }],
  },
});

const [anna, ben] = atLeast(
  [KEY_A, KEY_B].map((key) => callerOf(gateway.address, { authorization: `Bearer ${key}` })),
  2,
);
type Caller = typeof anna;

const ask = (caller: Caller, fields: object) =>
  caller("POST", "/msgcompat/v1/messages", {
    model: "acme/messages",
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    ...fields,
  }, { "msg-version": "2023-06-01" });
const document = (file_id: string) => ({
  messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id } }] }],
});
const upload = (file_id: string) => ({
  messages: [{ role: "user", content: [{ type: "container_upload", file_id }] }],
});

for (const stream of [false, true]) {
  Deno.test(`containers and files of a messages reply belong to their account${stream ? ", streamed" : ""}`, async () => {
    const { text } = await ask(anna, { stream });
    const container = /container_\d+/.exec(text)![0];
    const file = /file_\d+/.exec(text)![0];
    const uses = [{ container }, { container: { id: container } }, document(file), upload(file)];
    for (const fields of uses) {
      const before = vendor.asked.length;
      const refused = await ask(ben, { ...fields, stream });
      assertEquals([refused.status, refused.json.error.type], [404, "not_found_error"], JSON.stringify(fields));
      assertEquals(vendor.asked.length, before);
      assertEquals((await ask(anna, { ...fields, stream })).status, 200);
    }
    for (const fields of [{ container: "container_model" }, document("file_model")]) {
      assertEquals((await ask(anna, fields)).status, 404, "what a model writes hands out nothing");
    }
  });
}

Deno.test("a messages request offers no hosted tool without a price, and no servers of third parties", async () => {
  const offers = [
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { mcp_servers: [{ type: "url", url: "https://example.com", name: "x" }] },
    { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] },
    { container: { skills: [{ type: "custom", skill_id: "skill_1" }] } },
  ];
  for (const fields of offers) {
    const before = vendor.asked.length;
    const { status, text } = await ask(anna, fields);
    assertEquals([status, vendor.asked.length], [400, before], text);
  }
  const free = [{ type: "code_execution_20250825", name: "code_execution" }, { type: "bash_20250124", name: "bash" }];
  assertEquals((await ask(anna, { tools: free })).status, 200);
});

const file = (fileUri: string) => ({ contents: [{ parts: [{ fileData: { fileUri, mimeType: "image/png" } }] }] });
const generate = (caller: Caller, body: object, verb = "generateContent", model = "acme/content") =>
  caller("POST", `/gencompat/v1beta/models/${model}:${verb}`, body);
const createCache = (caller: Caller, body: object) =>
  caller("POST", "/gencompat/v1beta/cachedContents", { model: "acme/content", ttl: "600s", ...body });

const URIS: readonly (readonly [uri: string, anna: number, ben: number])[] = [
  ["gs://acme-media/a.png", 200, 400],
  ["gs://acme-media/../other/a.png", 400, 400],
  ["gs://other/a.png", 400, 400],
  ["s3://acme-media/a.png", 400, 400],
  ["files/of-somebody", 404, 404],
  ["https://generativelanguage.googleapis.com/v1beta/files/of-somebody", 404, 404],
  ["https://generativelanguage.googleapis.com/v1beta/files/shared", 200, 200],
  ["files/shared", 200, 200],
  ["asset://x", 400, 400],
  ["https://www.youtube.com/watch?v=abc", 200, 200],
];

for (const [uri, ...expected] of URIS) {
  Deno.test(`fileUri ${uri} answers ${expected} to two accounts, in either spelling, to generate and to count`, async () => {
    const snake = { contents: [{ parts: [{ file_data: { file_uri: uri, mime_type: "image/png" } }] }] };
    for (const [nth, caller] of [anna, ben].entries()) {
      for (const body of [file(uri), snake]) {
        const before = vendor.asked.length;
        const generated = await generate(caller, body);
        assertEquals(generated.status, expected[nth], generated.text);
        if (expected[nth] !== 200) {
          assertEquals((await generate(caller, body, "countTokens")).status, expected[nth]);
          const inner = { generateContentRequest: { model: "models/acme/content", ...body } };
          assertEquals((await generate(caller, inner, "countTokens")).status, expected[nth]);
          const cached = await createCache(caller, body);
          assertEquals(cached.status, expected[nth], cached.text);
          assertEquals(vendor.asked.length, before);
        }
      }
    }
  });
}

Deno.test("a bucket and a file of another vendor are rejected for models of other formats as well", async () => {
  for (const uri of ["gs://acme-media/a.png", "https://generativelanguage.googleapis.com/v1beta/files/x"]) {
    const before = vendor.asked.length;
    const part = { type: "image_url", image_url: { url: uri } };
    const body = { model: "acme/content", messages: [{ role: "user", content: [part] }] };
    const { status, text } = await ben("POST", "/v1/chat/completions", body);
    assertMatch(String(status), /^40[04]$/, text);
    const source = { type: "url", url: uri };
    const messages = [{ role: "user", content: [{ type: "image", source }] }];
    const headers = { "msg-version": "2023-06-01" };
    const asked = { model: "acme/content", max_tokens: 9, messages };
    assertMatch(String((await ben("POST", "/msgcompat/v1/messages", asked, headers)).status), /^40[04]$/);
    const counted = { model: "acme/content", messages };
    assertMatch(
      String((await ben("POST", "/msgcompat/v1/messages/count_tokens", counted, headers)).status),
      /^40[04]$/,
    );
    assertEquals(vendor.asked.length, before);
  }
});

Deno.test("a content request offers no hosted tool without a price, nor does cached content", async () => {
  const contents = [{ parts: [{ text: "hi" }] }];
  for (const tool of [{ googleSearch: {} }, { google_search: {} }, { googleMaps: {} }, { retrieval: {} }]) {
    const before = vendor.asked.length;
    assertEquals((await generate(anna, { contents, tools: [tool] })).status, 400);
    assertEquals((await createCache(anna, { contents, tools: [tool] })).status, 400);
    assertEquals(vendor.asked.length, before);
  }
  const free = { contents, tools: [{ codeExecution: {} }, { urlContext: {} }] };
  assertEquals((await generate(anna, free)).status, 200);
  const grounded = await generate(
    anna,
    { contents, tools: [{ googleSearch: {} }] },
    "generateContent",
    "acme/grounded",
  );
  assertEquals(grounded.status, 200);
});

Deno.test.afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
