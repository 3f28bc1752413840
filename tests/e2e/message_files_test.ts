import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

const OTHER_KEY = newApiKey();
const THIRD_KEY = newApiKey();
const MANY_READS = { requests: 100_000, per: 1, burst: 10_000 };
const LIMITED_KEY = newApiKey();

interface Stage {
  readonly gateway: TestGateway;
  readonly client: Anthropic;
  readonly call: GatewayCall;
}

function clientOf(address: string, apiKey: string): Anthropic {
  return new Anthropic({ baseURL: `${address}/msgcompat`, apiKey, maxRetries: 0 });
}

async function withStage(
  { isolates = 1, limits = {} }: { readonly isolates?: number; readonly limits?: object },
  use: (stage: Stage) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const keys = [OTHER_KEY, THIRD_KEY, { key: LIMITED_KEY, endpoints: ["messages"] }];
  const gateway = await startTestGateway({
    isolates,
    config: {
      files: `${folder}/files`,
      limits: { reads: MANY_READS, ...limits },
      accounts: [{ id: "demo", balance: "25.00", keys }],
    },
  });
  const { address } = gateway;
  try {
    await use({
      gateway,
      client: clientOf(address, OTHER_KEY),
      call: callerOf(address, { "x-api-key": OTHER_KEY, "anthropic-version": "2023-06-01" }),
    });
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

for (const isolates of [1, 2]) {
  Deno.test(`message files: the client of Anthropic stores, lists, reads and deletes, with ${isolates} threads`, async () => {
    await withStage({ isolates }, async ({ client, call }) => {
      const text = "x".repeat(3_000_000);
      const file = await client.beta.files.upload({
        file: await toFile(new TextEncoder().encode(text), "ä.txt", { type: "text/plain; charset=utf-8" }),
        expires_in_seconds: 3_600,
        betas: ["files-api-2025-04-14"],
      });
      assertMatch(file.id, /^file_[0-9a-f]{28}$/);
      assertEquals([file.type, file.filename, file.mime_type, file.size_bytes, file.downloadable], [
        "file",
        "ä.txt",
        "text/plain",
        text.length,
        false,
      ]);
      assertEquals(Date.parse(file.expires_at ?? "") - Date.parse(file.created_at), 3_600_000);
      const others: string[] = [];
      for (let n = 0; n < 4; n++) {
        others.unshift((await client.files.upload({ file: await toFile(new Uint8Array(n + 1), "a.bin") })).id);
      }
      const listed: string[] = [];
      for await (const { id } of client.beta.files.list({ limit: 2 })) listed.push(id);
      assertEquals(listed, [...others, file.id]);
      assertEquals((await client.beta.files.list({ ids: [file.id, "file_none"] })).data.map(({ id }) => id), [file.id]);
      const before = await call("GET", `/msgcompat/v1/files?limit=2&before_id=${file.id}`);
      assertEquals(before.json.data.map(({ id }: { id: string }) => id), others.slice(2));
      assertEquals([before.json.has_more, before.json.first_id], [true, others[2]]);
      assertEquals(await client.beta.files.retrieveMetadata(file.id), file);
      const stored = await call("GET", `/v1/files/${file.id.replace("file_", "file-")}/content`);
      assertEquals(stored.text, text);
      const deleted = await client.beta.files.delete(file.id);
      assertEquals([deleted.id, deleted.type], [file.id, "file_deleted"]);
      await assertRejects(() => client.beta.files.retrieveMetadata(file.id), Anthropic.NotFoundError);
    });
  });
}

Deno.test("message files: only results of the gateway can be downloaded", async () => {
  await withStage({}, async ({ client, call }) => {
    const { id } = await client.files.upload({ file: await toFile(new Uint8Array(9), "a.bin") });
    const error = await assertRejects(() => client.files.download(id), Anthropic.BadRequestError);
    assertEquals(error.errorCode, "file_not_downloadable");
    const params = { model: "sandbox/chat-1", max_tokens: 9, messages: [{ role: "user" as const, content: "Hello" }] };
    const batch = await client.messages.batches.create({ requests: [{ custom_id: "a", params }] });
    const look = async () => (await client.files.list()).data.find(({ downloadable }) => downloadable);
    const results = await stateOf("the results are a file", look, (found) => found !== undefined);
    assert(results !== undefined);
    assertEquals([results.mime_type, results.filename], [
      "application/jsonl",
      `${batch.id.replace("msgbatch", "batch")}_output.jsonl`,
    ]);
    assertEquals(JSON.parse(await (await client.files.download(results.id)).text()).custom_id, "a");
    const { headers } = await call("HEAD", `/msgcompat/v1/files/${results.id}/content`);
    assertEquals(headers.get("content-security-policy"), "sandbox");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
  });
});

Deno.test("message files: other keys, ids of other forms and wrong fields are refused", async () => {
  await withStage({}, async ({ gateway, client, call }) => {
    const { id } = await client.files.upload({ file: await toFile(new Uint8Array(9), "a.bin") });
    const digits = id.replace("file_", "");
    for (const path of [`/msgcompat/v1/files/file-${digits}`, `/v1/files/${id}`, "/msgcompat/v1/files/none"]) {
      assertEquals((await call("GET", path)).status, 404, path);
    }
    assertEquals((await call("GET", `/v1/files/file-${digits}`)).status, 200);
    const other = clientOf(gateway.address, THIRD_KEY);
    await assertRejects(() => other.files.retrieveMetadata(id), Anthropic.NotFoundError);
    await assertRejects(() => other.files.delete(id), Anthropic.NotFoundError);
    assertEquals((await other.files.list()).data, []);
    await assertRejects(() => clientOf(gateway.address, LIMITED_KEY).files.list(), Anthropic.PermissionDeniedError);
    for (const query of ["limit=0", "limit=1001", "scope_id=x", "after_id=a&before_id=b"]) {
      const { status, json } = await call("GET", `/msgcompat/v1/files?${query}`);
      assertEquals([status, json.error?.type], [400, "invalid_request_error"], query);
    }
    const file = await toFile(new Uint8Array(9), "a.bin");
    const error = await assertRejects(
      () => client.files.upload({ file, expires_in_seconds: 5 }),
      Anthropic.BadRequestError,
    );
    assertMatch(error.message, /expires_in_seconds/);
    assertEquals((await client.files.list()).data.length, 1);
    const { status, json } = await call("POST", "/msgcompat/v1/files", {});
    assertEquals([status, json.type], [415, "error"]);
  });
});

Deno.test("message files: an account without room gets the vendor's code", async () => {
  await withStage({ limits: { account_files: "1MB" } }, async ({ client }) => {
    const file = await toFile(new Uint8Array(2_000_000), "a.bin");
    const error = await assertRejects(() => client.files.upload({ file }), Anthropic.BadRequestError);
    assert(error.errorCode === "storage_quota_exceeded");
    assertEquals((await client.files.list()).data, []);
  });
});
