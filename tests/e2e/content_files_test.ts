import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ApiError, GoogleGenAI } from "@google/genai";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

const KEY = newApiKey();
const OTHER_KEY = newApiKey();
const LIMITED_KEY = newApiKey();
const MANY_READS = { requests: 100_000, per: 1, burst: 10_000 };
const UPLOAD = "/gencompat/upload/v1beta/files";

interface Stage {
  readonly gateway: TestGateway;
  readonly folder: string;
  readonly client: GoogleGenAI;
  readonly call: GatewayCall;
  /** Opens an upload, and returns its path. */
  start(bytes: number, file?: object): Promise<string>;
  /** Sends a command to an upload. */
  send(
    path: string,
    command: string,
    fields?: { readonly offset?: number; readonly text?: string },
  ): ReturnType<GatewayCall>;
}

function clientOf(address: string, apiKey: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${address}/gencompat` } });
}

async function withStage(
  { isolates = 1, limits = {} }: { readonly isolates?: number; readonly limits?: object },
  use: (stage: Stage) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const keys = [KEY, OTHER_KEY, { key: LIMITED_KEY, endpoints: ["generate_content"] }];
  const gateway = await startTestGateway({
    isolates,
    config: {
      files: `${folder}/files`,
      limits: { reads: MANY_READS, ...limits },
      accounts: [{ id: "demo", balance: "25.00", keys }],
    },
  });
  const { address } = gateway;
  const call = callerOf(address, { "x-goog-api-key": KEY });
  try {
    await use({
      gateway,
      folder,
      client: clientOf(address, KEY),
      call,
      async start(bytes, file = {}) {
        const { status, headers, text } = await call("POST", UPLOAD, { file }, {
          "x-goog-upload-protocol": "resumable",
          "x-goog-upload-command": "start",
          "x-goog-upload-header-content-length": String(bytes),
          "x-goog-upload-header-content-type": "text/plain",
        });
        assertEquals([status, headers.get("x-goog-upload-status")], [200, "active"], text);
        return (headers.get("x-goog-upload-url") ?? "").replace(address, "");
      },
      send: (path, command, { offset = 0, text = "" } = {}) =>
        call("POST", path, text, { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) }),
    });
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

for (const isolates of [1, 2]) {
  Deno.test(`content files: the client of Google stores, lists, reads and deletes, with ${isolates} threads`, async () => {
    await withStage({ isolates }, async ({ client, call, folder }) => {
      // More than one chunk of the client.
      const text = "0123456789".repeat(1_000_000);
      const file = await client.files.upload({
        file: new Blob([text], { type: "text/plain" }),
        config: { displayName: "The ä" },
      });
      assertMatch(file.name ?? "", /^files\/[0-9a-f]{28}$/);
      assertEquals([file.displayName, file.mimeType, file.sizeBytes, file.state, file.source], [
        "The ä",
        "text/plain",
        String(text.length),
        "ACTIVE",
        "UPLOADED",
      ]);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
      assertEquals(file.sha256Hash, digest.toBase64());
      assertEquals((await call("GET", new URL(file.uri ?? "").pathname)).json.name, file.name);
      await Deno.writeTextFile(`${folder}/small.json`, "{}");
      const others: (string | undefined)[] = [];
      for (let n = 0; n < 4; n++) others.unshift((await client.files.upload({ file: `${folder}/small.json` })).name);
      assertEquals((await client.files.get({ name: others[0] ?? "" })).displayName, "small.json");
      const listed: (string | undefined)[] = [];
      for await (const { name } of await client.files.list({ config: { pageSize: 2 } })) listed.push(name);
      assertEquals(listed, [...others, file.name]);
      const { name = "" } = file;
      const id = name.replace("files/", "");
      for (const path of ["/gencompat/v1beta/files/", "/gencompat/download/v1beta/files/"]) {
        const { headers, text: found } = await call("GET", `${path}${id}:download?alt=media`);
        assertEquals([found.length, headers.get("x-content-type-options")], [text.length, "nosniff"]);
      }
      await client.files.download({ file: name, downloadPath: `${folder}/out.txt` });
      assertEquals(await Deno.readTextFile(`${folder}/out.txt`), text);
      await client.files.delete({ name });
      assertEquals((await assertRejects(() => client.files.get({ name }), ApiError)).status, 404);
    });
  });
}

Deno.test("content files: an upload goes on where it was broken off, and its end can be repeated", async () => {
  await withStage({}, async ({ call, start, send }) => {
    const path = await start(9, { display_name: "nine" });
    assertMatch(path, /^\/gencompat\/upload\/v1beta\/files\?upload_id=upload_[0-9a-f]{28}&/);
    const first = await send(path, "upload", { text: "four" });
    assertEquals([first.status, first.headers.get("x-goog-upload-status")], [200, "active"]);
    const again = await send(path, "upload", { text: "four" });
    assertEquals([again.status, again.json.error.status], [409, "ABORTED"]);
    assertMatch(again.json.error.message, /4 bytes/);
    const { headers } = await send(path, "query");
    assertEquals(headers.get("x-goog-upload-size-received"), "4");
    const early = await send(path, "finalize");
    assertEquals([early.status, early.json.error.status], [400, "INVALID_ARGUMENT"]);
    const last = await send(path, "upload, finalize", { offset: 4, text: "-five" });
    assertEquals([last.status, last.headers.get("x-goog-upload-status")], [200, "final"], last.text);
    assertEquals([last.json.file.displayName, last.json.file.sizeBytes], ["nine", "9"]);
    for (const command of ["finalize", "query"]) assertEquals((await send(path, command)).json, last.json);
    assertEquals((await call("GET", `/gencompat/v1/${last.json.file.name}:download`)).text, "four-five");
    const cancelled = await start(9);
    assertEquals((await send(cancelled, "cancel")).headers.get("x-goog-upload-status"), "cancelled");
    assertEquals((await send(cancelled, "upload", { text: "four" })).status, 400);
    const empty = await send(await start(0), "finalize");
    assertEquals([empty.status, empty.json.file?.sizeBytes], [200, "0"], empty.text);
  });
});

Deno.test("content files: the address of an upload needs no key, while the key that opened it is valid", async () => {
  await withStage({}, async ({ gateway, start }) => {
    const path = await start(4);
    const send = async (to: string, command: string, headers: Readonly<Record<string, string>> = {}) => {
      const fields = { "x-goog-upload-command": command, "x-goog-upload-offset": "0", ...headers };
      const body = command.startsWith("upload") ? "four" : null;
      const response = await fetch(gateway.address + to, { method: "POST", headers: fields, body });
      return { status: response.status, text: await response.text() };
    };
    const other = path.replace(/upload_token=[^&]+/, "upload_token=other");
    assertEquals((await send(other, "upload")).status, 401);
    assertEquals((await send(path.replace(/&upload_token=[^&]+/, ""), "upload")).status, 401);
    assertEquals((await send(path, "upload", { "x-goog-api-key": "sk-other" })).status, 401);
    assertEquals((await send(path, "start")).status, 401);
    const last = await send(path, "upload, finalize");
    assertEquals([last.status, JSON.parse(last.text).file.sizeBytes], [200, "4"]);
    const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
    assertEquals((await admin("POST", "/admin/v1/accounts/demo/suspend")).status, 200);
    assertEquals((await send(path, "query")).status, 401);
  });
});

Deno.test("content files: wrong uploads, other keys and ids of other forms are refused", async () => {
  await withStage({ limits: { account_files: "1MB" } }, async ({ call, start, send, client, gateway }) => {
    const fields = {
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": "9",
    };
    const cases: [object, object, string][] = [
      [{ "x-goog-upload-command": "begin" }, {}, "x-goog-upload-command"],
      [{ "x-goog-upload-protocol": "multipart" }, {}, "x-goog-upload-protocol"],
      [{ "x-goog-upload-header-content-length": "many" }, {}, "x-goog-upload-header-content-length"],
      [{ "x-goog-upload-header-content-length": "900000000" }, {}, "x-goog-upload-header-content-length"],
      [{ "x-goog-upload-header-content-length": "2000000" }, {}, "x-goog-upload-header-content-length"],
      [{}, { name: "files/mine" }, "file.name"],
      [{}, { displayName: 1 }, "file.displayName"],
      [{}, { displayName: "x".repeat(256) }, "file.displayName"],
    ];
    for (const [more, file, field] of cases) {
      const { status, json } = await call("POST", UPLOAD, { file }, { ...fields, ...more });
      assertEquals([status, json.error?.details?.[0].fieldViolations[0].field], [400, field], JSON.stringify(json));
    }
    assertEquals((await send(`${UPLOAD}?upload_id=none`, "upload", { text: "x" })).status, 404);
    const path = await start(4);
    assertEquals((await send(path, "upload", { text: "five." })).status, 400);
    const withOther = await call("POST", path, "four", {
      "x-goog-api-key": OTHER_KEY,
      "x-goog-upload-command": "upload, finalize",
      "x-goog-upload-offset": "0",
    });
    assertEquals(withOther.status, 404);
    const { json: { file: { name } } } = await send(path, "upload, finalize", { text: "four" });
    const digits = name.replace("files/", "");
    const version = { "anthropic-version": "2023-06-01" };
    assertEquals((await call("GET", `/v1/files/file-${digits}`)).json.filename, "file");
    assertEquals((await call("GET", `/msgcompat/v1/files/file_${digits}`, undefined, version)).status, 200);
    for (const other of [`/v1/files/${digits}`, `/gencompat/v1beta/files/file-${digits}`]) {
      assertEquals((await call("GET", other)).status, 404, other);
    }
    const other = clientOf(gateway.address, OTHER_KEY);
    for (const use of [other.files.get({ name }), other.files.delete({ name })]) {
      assertEquals((await assertRejects(() => use, ApiError)).status, 404);
    }
    assertEquals((await other.files.list()).page, []);
    const limited = clientOf(gateway.address, LIMITED_KEY);
    assertEquals((await assertRejects(() => limited.files.list(), ApiError)).status, 403);
    assertEquals((await client.files.list()).pageLength, 1);
  });
});

Deno.test("content files: a batch of a file that the client stored, with results that it downloads", async () => {
  await withStage({}, async ({ client, folder }) => {
    const request = { contents: [{ parts: [{ text: "Hello" }] }] };
    const lines = ["a", "b"].map((key) => JSON.stringify({ key, request })).join("\n");
    const file = await client.files.upload({
      file: new Blob([lines]),
      config: { mimeType: "application/jsonl", displayName: "in" },
    });
    const { name = "" } = await client.batches.create({ model: "sandbox/messages-1", src: file.name ?? "" });
    const look = () => client.batches.get({ name });
    const job = await stateOf("the batch has ended", look, ({ state = "" }) => !/PENDING|RUNNING/.test(state));
    assertEquals(job.state, "JOB_STATE_SUCCEEDED");
    const { fileName = "" } = job.dest ?? {};
    const results = await client.files.get({ name: fileName });
    assertEquals([results.source, results.mimeType], ["GENERATED", "application/jsonl"]);
    assert(results.downloadUri !== undefined);
    await client.files.download({ file: fileName, downloadPath: `${folder}/out.jsonl` });
    const found = (await Deno.readTextFile(`${folder}/out.jsonl`)).trimEnd().split("\n").map((each) =>
      JSON.parse(each)
    );
    assertEquals(found.map(({ key }) => key), ["a", "b"]);
  });
});

Deno.test("content files: a request names a file by its uri, or by its name", async () => {
  await withStage({}, async ({ client, gateway }) => {
    const file = new Blob(["The lighthouse is red"], { type: "text/plain" });
    const { uri = "", name = "", mimeType = "" } = await client.files.upload({ file });
    for (const fileUri of [uri, name]) {
      const contents = [{ role: "user", parts: [{ text: "What color?" }, { fileData: { fileUri, mimeType } }] }];
      const { text } = await client.models.generateContent({ model: "sandbox/messages-1", contents });
      assert(text !== undefined);
      const sent = JSON.stringify(gateway.sandbox.requests.at(-1)?.body);
      assert(!sent.includes(fileUri) && !sent.includes(name.replace("files/", "")));
    }
  });
});
