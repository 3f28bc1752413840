import { assert, assertEquals, assertMatch } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { Buffer } from "node:buffer";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/account_money.ts";
import { present } from "../support/items.ts";

const SECOND_KEY = newApiKey();
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n");
const TEXT = Buffer.from('The "first" line\nand ä second\n');
const MODELS = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];

interface Stage extends TestGateway {
  readonly call: GatewayCall;
  readonly client: OpenAI;
  /** Stores a file with the key of the account and returns its id. */
  store(bytes: Uint8Array, name: string): Promise<string>;
  /** What the vendor received last, as JSON. */
  received(): string;
}

async function withGateway(isolates: number, use: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const key = newApiKey();
  const gateway = await startTestGateway({
    isolates,
    config: { files: `${folder}/files`, accounts: [{ id: "demo", balance: "25.00", keys: [key, SECOND_KEY] }] },
  });
  try {
    const { address, sandbox } = gateway;
    const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
    const headers = { authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" };
    await use({
      ...gateway,
      client,
      call: callerOf(address, headers),
      store: async (bytes, name) =>
        (await client.files.create({ file: await toFile(bytes, name), purpose: "user_data" })).id,
      received: () => JSON.stringify(present(sandbox.requests.at(-1), "request to the vendor").body),
    });
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A request that names a file, in each format: its path, its body, and the field of the file. */
interface Naming {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly field: string;
}

type Name = (model: string, id: string, kind: "image" | "document") => Naming;

const FORMATS: Readonly<Record<string, Name>> = {
  chat: (model, id) => ({
    path: "/v1/chat/completions",
    body: {
      model,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }, { type: "file", file: { file_id: id } }] }],
    },
    field: "messages[0].content[1].file.file_id",
  }),
  responses: (model, id, kind) => ({
    path: "/v1/responses",
    body: {
      model,
      store: false,
      input: [{ role: "user", content: [{ type: kind === "image" ? "input_image" : "input_file", file_id: id }] }],
    },
    field: "input[0].content[0].file_id",
  }),
  messages: (model, id, kind) => ({
    path: "/msgcompat/v1/messages",
    body: {
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: [{ type: kind, source: { type: "file", file_id: id } }] }],
    },
    field: "messages[0].content[0].source.file_id",
  }),
  content: (model, id) => ({
    path: `/gencompat/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }, { fileData: { fileUri: `files/${id}` } }] }] },
    field: "contents[0].parts[1].fileData.fileUri",
  }),
};

for (const isolates of [1, 2]) {
  for (const [format, name] of Object.entries(FORMATS)) {
    Deno.test(`request files: a ${format} request names a file, which any vendor gets inline, with ${isolates} threads`, async () => {
      await withGateway(isolates, async ({ call, store, received, logLines }) => {
        const [image, pdf, text] = [
          await store(PNG, "a.png"),
          await store(PDF, "b.pdf"),
          await store(TEXT, "c.txt"),
        ];
        for (const model of MODELS) {
          const send = async (id: string, kind: "image" | "document") => {
            const { path, body } = name(model, id, kind);
            const answer = await call("POST", path, body);
            assertEquals([answer.status, answer.status === 200 ? "" : answer.text], [200, ""]);
            assert(!received().includes("file-"), "no vendor gets the id");
            return { answer, sent: received() };
          };
          assert((await send(image, "image")).sent.includes(PNG.toString("base64")));
          assert((await send(pdf, "document")).sent.includes(PDF.toString("base64")));
          const { answer, sent } = await send(text, "document");
          const isInline = sent.includes(TEXT.toString("base64")) ||
            sent.includes(JSON.stringify(String(TEXT)).slice(1, -1));
          assert(isInline, sent);
          const id = present(answer.headers.get("x-service-request-id") ?? undefined, "id of the request");
          const lines = () => logLines.filter((line) => line.includes(id) && line.includes('"request"'));
          await eventually(() => lines().length > 0); // a thread sends it with others
          assertEquals(lines().length, 1, "a request is logged once");
        }
      });
    });
  }

  Deno.test(`request files: a stream, a repeat and a large file are answered, with ${isolates} threads`, async () => {
    await withGateway(isolates, async ({ client, call, store, received }) => {
      const id = await store(TEXT, "notes.md");
      const content = [{ type: "file", file: { file_id: id } } as const];
      const model = "sandbox/chat-1";
      const stream = await client.chat.completions.create({
        model,
        messages: [{ role: "user", content }],
        stream: true,
      });
      let reply = "";
      for await (const chunk of stream) reply += chunk.choices[0]?.delta.content ?? "";
      assert(reply !== "");
      assert(received().includes("notes.md:"));

      const { path, body } = present(FORMATS.chat, "format")(model, id, "document");
      const repeat = () => call("POST", path, body, { "idempotency-key": "same" });
      const [first, second] = [await repeat(), await repeat()];
      assertEquals([first.status, second.json], [200, first.json]);

      const large = Buffer.concat([PDF, Buffer.alloc(3_000_000, "%")]);
      const largeId = await store(large, "large.pdf");
      const response = await client.responses.create({
        model: "sandbox/messages-1",
        store: false,
        input: [{ role: "user", content: [{ type: "input_file", file_id: largeId }] }],
      });
      assertEquals(response.status, "completed");
      assert(received().includes(large.toString("base64")));
    });
  });

  Deno.test(`request files: a file of another key, one that is too large and one of another kind are refused, with ${isolates} threads`, async () => {
    await withGateway(isolates, async ({ address, call, store, sandbox }) => {
      const other = callerOf(address, { authorization: `Bearer ${SECOND_KEY}`, "anthropic-version": "2023-06-01" });
      const id = await store(PNG, "a.png");
      const large = await store(new Uint8Array(37_500_001), "large.bin");
      const unknown = await store(Uint8Array.of(0, 1, 2, 255), "x.bin");
      const empty = await store(new Uint8Array(0), "empty.txt");
      const before = sandbox.requests.length;
      for (const name of Object.values(FORMATS)) {
        const refused = async (by: GatewayCall, file: string, status: number, message: RegExp) => {
          const { path, body, field } = name("sandbox/chat-1", file, "document");
          const answer = await by("POST", path, body);
          assertEquals([path, answer.status], [path, status]);
          assert(answer.json.error.message.includes(`"${field}"`), answer.text);
          assertMatch(answer.json.error.message, message);
        };
        await refused(other, id, 404, /the key has no file with this id/);
        await refused(call, id.replace(/.$/, (digit) => digit === "0" ? "1" : "0"), 404, /the key has no file/);
        await refused(call, large, 413, /has 37500001 bytes, .* at most 37500000 bytes together/);
        await refused(call, unknown, 400, /the type of the file is unknown/);
        await refused(call, empty, 400, /the file is empty/);
      }
      const image = await call("POST", "/v1/responses", {
        model: "sandbox/chat-1",
        input: [{ role: "user", content: [{ type: "input_image", file_id: await store(PDF, "b.pdf") }] }],
      });
      assertMatch(
        image.json.error.message,
        /expected the id of an image, got that of a file of the type application\/pdf/,
      );
      const tool = await call("POST", "/v1/responses", {
        model: "sandbox/chat-1",
        input: "Hi",
        tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [id] } }],
      });
      assertEquals(tool.status, 400);
      assertMatch(tool.json.error.message, /tools\[0\]\.container\.file_ids.*content of a message only/);
      assertEquals(sandbox.requests.length, before, "nothing was sent to a vendor");
    });
  });
}

Deno.test("request files: tokens are counted with the file", async () => {
  await withGateway(1, async ({ call, store, received }) => {
    const id = await store(Buffer.from("word ".repeat(1_000)), "long.txt");
    const { body } = present(FORMATS.messages, "format")("sandbox/messages-1", id, "document");
    const { max_tokens: _, ...counted } = body;
    const tokens = await call("POST", "/msgcompat/v1/messages/count_tokens", counted);
    assertEquals(tokens.status, 200);
    assert(received().includes("word word"));
    const parts = { contents: [{ parts: [{ file_data: { file_uri: id } }] }] };
    const path = "/gencompat/v1beta/models/sandbox/content-1:countTokens";
    const digits = id.slice("file-".length);
    const spelled = [`file_${digits}`, `files/${digits}`, `https://gateway.example/gencompat/v1beta/files/${digits}`]
      .map((uri) => ({ contents: [{ parts: [{ fileData: { mimeType: "text/plain", fileUri: uri } }] }] }));
    for (const each of [parts, { generateContentRequest: parts }, ...spelled]) {
      const content = await call("POST", path, each);
      assertEquals(content.status, 200);
      assert(received().includes(Buffer.from("word word").toString("base64").slice(0, 8)));
    }
  });
});

Deno.test("request files: a line of a batch names a file", async () => {
  await withGateway(1, async ({ client, call, store, received }) => {
    const id = await store(PNG, "a.png");
    const content = [{ type: "file", file: { file_id: id } }];
    const line = (customId: string) => ({
      custom_id: customId,
      body: { model: "sandbox/messages-1", messages: [{ role: "user", content }] },
    });
    const batch = { endpoint: "/v1/chat/completions", completion_window: "24h" };
    const created = await call("POST", "/v1/batches", { ...batch, requests: [line("one")] });
    assertEquals([created.status, created.json.status], [202, "in_progress"]);
    const deadline = performance.now() + 60_000;
    let ended;
    do ended = await client.batches.retrieve(created.json.id); while (
      ended.status !== "completed" && performance.now() < deadline
    );
    assertEquals([ended.status, ended.request_counts?.completed], ["completed", 1]);
    assert(received().includes(PNG.toString("base64")));
    const large = Buffer.concat([PDF, Buffer.alloc(2_000_000, "%")]);
    const requests = [{
      ...line("two"),
      body: {
        ...line("two").body,
        messages: [{ role: "user", content: [{ type: "file", file: { file_id: await store(large, "l.pdf") } }] }],
      },
    }];
    const refused = await call("POST", "/v1/batches", { ...batch, requests });
    assertEquals(refused.json.status, "failed");
    assertMatch(refused.json.errors.data[0].message, /files of a request may have at most 2000000 bytes together/);
  });
});
