import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { callerOf } from "../support/gateway_call.ts";
import { startTestGateway } from "../support/gateway.ts";

const OTHER_KEY = newApiKey();
const LIMITED_KEY = newApiKey();
const SECOND_KEY = newApiKey();

async function withGateway(
  isolates: number,
  use: (gateway: Awaited<ReturnType<typeof startTestGateway>>, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({
    isolates,
    config: {
      files: `${folder}/files`,
      accounts: [
        { id: "demo", balance: "25.00", keys: [OTHER_KEY, { key: LIMITED_KEY, endpoints: ["messages"] }] },
      ],
    },
  });
  try {
    await use(gateway, folder);
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

function clientOf(address: string, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 });
}

function formOf(parts: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) form.append(name, value);
  return form;
}

for (const isolates of [1, 2]) {
  Deno.test(`files: the client of OpenAI stores, lists, reads and deletes a file, with ${isolates} threads`, async () => {
    await withGateway(isolates, async ({ address }, folder) => {
      const client = clientOf(address, OTHER_KEY);
      const text = `${"x".repeat(3_000_000)}\n`;
      const file = await client.files.create({
        file: await toFile(new TextEncoder().encode(text), "ä in.jsonl"),
        purpose: "batch",
        expires_after: { anchor: "created_at", seconds: 3_600 },
      });
      assertMatch(file.id, /^file-[0-9a-f]{28}$/);
      assertEquals([file.bytes, file.filename, file.purpose], [text.length, "ä in.jsonl", "batch"]);
      assertEquals(file.expires_at, file.created_at + 3_600);
      const image = await client.files.create({ file: await toFile(new Uint8Array(1), "a.png"), purpose: "vision" });
      const all = [];
      for await (const each of client.files.list({ limit: 1 })) all.push(each.id);
      assertEquals(all, [image.id, file.id]);
      assertEquals((await client.files.list({ purpose: "batch" })).data.map(({ id }) => id), [file.id]);
      assertEquals(await client.files.retrieve(file.id), file);
      const content = await client.files.content(file.id);
      assertEquals(await content.text(), text);
      assertEquals(content.headers.get("content-type"), "application/octet-stream");
      assertEquals(content.headers.get("x-content-type-options"), "nosniff");
      assertEquals(content.headers.get("content-security-policy"), "sandbox");
      assertEquals(await client.files.delete(file.id), { id: file.id, object: "file", deleted: true });
      await assertRejects(() => client.files.retrieve(file.id), OpenAI.NotFoundError);
      assertEquals(Array.from(Deno.readDirSync(`${folder}/files`)).filter(({ isFile }) => isFile).length, 1);
    });
  });
}

Deno.test("files: the client of OpenAI uploads a file in parts", async () => {
  await withGateway(1, async ({ address }) => {
    const client = clientOf(address, OTHER_KEY);
    const upload = await client.uploads.create({
      filename: "in.jsonl",
      purpose: "batch",
      bytes: 6,
      mime_type: "text/jsonl",
    });
    assertEquals([upload.status, upload.file], ["pending", null]);
    const [one, two] = [
      await client.uploads.parts.create(upload.id, { data: await toFile(new TextEncoder().encode("one"), "blob") }),
      await client.uploads.parts.create(upload.id, { data: await toFile(new TextEncoder().encode("two"), "blob") }),
    ];
    assertEquals([one.object, one.upload_id], ["upload.part", upload.id]);
    const { status, file } = await client.uploads.complete(upload.id, { part_ids: [two.id, one.id] });
    assertEquals(status, "completed");
    assert(file);
    assertEquals(await (await client.files.content(file.id)).text(), "twoone");
    const second = await client.uploads.create({ filename: "b", purpose: "batch", bytes: 6, mime_type: "text/jsonl" });
    assertEquals((await client.uploads.cancel(second.id)).status, "cancelled");
    await assertRejects(() => client.uploads.complete(second.id, { part_ids: [one.id] }), OpenAI.BadRequestError);
  });
});

Deno.test("files: another key gets 404 as for a file that does not exist, and a key may be limited", async () => {
  await withGateway(1, async ({ address, adminKey }) => {
    const { id } = await clientOf(address, OTHER_KEY).files.create({
      file: await toFile(new TextEncoder().encode("{}"), "in.jsonl"),
      purpose: "user_data",
    });
    const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });
    const { json: { secret } } = await admin("POST", "/admin/v1/accounts/demo/keys", { name: "second" });
    const call = callerOf(address, { authorization: `Bearer ${secret}` });
    const none = `file-${"0".repeat(28)}`;
    for (const path of ["", "/content"]) {
      const [foreign, missing] = [
        await call("GET", `/v1/files/${id}${path}`),
        await call("GET", `/v1/files/${none}${path}`),
      ];
      assertEquals([foreign.status, foreign.json], [404, missing.json]);
    }
    assertEquals((await call("DELETE", `/v1/files/${id}`)).status, 404);
    assertEquals((await call("GET", "/v1/files")).json.data, []);
    const limited = callerOf(address, { authorization: `Bearer ${LIMITED_KEY}` });
    assertEquals((await limited("GET", "/v1/files")).status, 403);
    assertEquals((await callerOf(address, {})("GET", "/v1/files")).status, 401);
  });
});

Deno.test("files: invalid forms are refused with the field, and leave nothing", async () => {
  await withGateway(1, async ({ address }, folder) => {
    const file = new File(["{}"], "in.jsonl");
    const cases: [Record<string, string | File>, string][] = [
      [{ file }, "purpose"],
      [{ file, purpose: "batch_output" }, "purpose"],
      [{ purpose: "batch" }, "file"],
      [{ purpose: "batch", file: "text" }, "file"],
      [{ file, purpose: "batch", "expires_after[seconds]": "3600" }, "expires_after.anchor"],
      [
        { file, purpose: "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "59" },
        "expires_after.seconds",
      ],
    ];
    for (const [parts, field] of cases) {
      const response = await fetch(`${address}/v1/files`, {
        method: "POST",
        headers: { authorization: `Bearer ${OTHER_KEY}` },
        body: formOf(parts),
      });
      assertEquals([response.status, (await response.json()).error.param], [400, field]);
    }
    const left = Array.from(Deno.readDirSync(`${folder}/files`)).filter(({ isFile }) => isFile);
    assertEquals(left, []);
    const call = callerOf(address, { authorization: `Bearer ${OTHER_KEY}` });
    for (const query of ["limit=0", "limit=10001", "order=up", "purpose=evals", "page=2", "limit=1&limit=2"]) {
      assertEquals((await call("GET", `/v1/files?${query}`)).status, 400, query);
    }
  });
});

for (const isolates of [1, 2]) {
  Deno.test(`files: an account stores no more than its room, and others are not touched, with ${isolates} threads`, async () => {
    const folder = await Deno.makeTempDir();
    const gateway = await startTestGateway({
      isolates,
      config: {
        files: `${folder}/files`,
        limits: { account_files: 10_000 },
        accounts: [
          { id: "demo", balance: "25.00", keys: [OTHER_KEY] },
          { id: "second", balance: "25.00", keys: [SECOND_KEY] },
        ],
      },
    });
    try {
      const client = clientOf(gateway.address, OTHER_KEY);
      const store = async (by: OpenAI, bytes: number) =>
        await by.files.create({ file: await toFile(new Uint8Array(bytes), "a.bin"), purpose: "user_data" });
      const results = await Promise.allSettled(Array.from({ length: 6 }, () => store(client, 4_000)));
      const kept = results.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
      assertEquals(kept.length, 2, "those that arrive together exceed the room of the account");
      const refused = results.find((result) => result.status === "rejected")?.reason;
      assertEquals([refused.status, refused.param], [400, "file"]);
      assertMatch(refused.message, /expected at most \d+ bytes, which is what the account can still store/);
      const upload = { filename: "b", purpose: "user_data" as const, mime_type: "text/plain", bytes: 3_000 };
      const announced = await assertRejects(() => client.uploads.create(upload), OpenAI.APIError);
      assertEquals([announced.status, announced.param], [400, "bytes"]);
      await store(clientOf(gateway.address, SECOND_KEY), 9_000);

      await client.files.delete(`${kept[0]?.id}`);
      const opened = await client.uploads.create(upload);
      await assertRejects(() => store(client, 4_000), OpenAI.APIError);
      await client.uploads.cancel(opened.id);
      await store(client, 4_000);
    } finally {
      await gateway.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
