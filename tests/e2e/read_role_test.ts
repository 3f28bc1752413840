import { assert, assertEquals } from "@std/assert";
import { CONFIG_ENDPOINTS, OPERATOR_ENDPOINTS, REQUEST_ENDPOINTS } from "../../src/platform/endpoints/operators.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { ConsoleBrowser } from "../console/browser.ts";
import { textModel } from "../support/gateway.ts";
import { startVideoGateway, VALID_BODY, type VideoGateway } from "../support/video_gateway.ts";
import { ROOT } from "../webhooks/certificates.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { stateOf, untilSo } from "../support/patience.ts";

const [READ, OWNER, CAPTURED] = [newApiKey(), newApiKey(), newApiKey()];

/** What no key with the role `read` may see. Each was sent by a caller, or is a secret of the configuration. */
const MARKS = {
  prompt: "mark-of-a-prompt-7f3a91",
  metadata: "mark-of-metadata-1c22aa",
  callbackQuery: "mark-of-a-query-55aa77",
  cached: "mark-of-a-cached-text-90bb12",
  vendorKey: "mark-of-a-vendor-key-66bb88",
  vendorHeader: "mark-of-a-vendor-header-77cc99",
  sentAsModel: "sk-proj-mark0of0a0key0sent0as0model0",
  captureKey: "mark-of-the-key-of-bodies-31dd",
};

Deno.test("a key with the role read sees no prompt, no signed address and no secret, at any address for operators", async () => {
  const caFile = await Deno.makeTempFile();
  await Deno.writeTextFile(caFile, ROOT);
  const vendor = quotingVendor();
  const receiver = startReceiver(async ({ body }, connection) => {
    // It refuses, and quotes the whole event.
    const head = `HTTP/1.1 422 Unprocessable\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    await connection.write(body);
  });
  const gateway = await startVideoGateway({
    config: {
      server: {
        port: 0,
        admin_key: OWNER,
        admin_keys: [{ name: "dashboard", key: READ, role: "read" }],
        shutdown_grace: 1,
      },
      accounts: [{ id: "demo", balance: "25.00", keys: [{ key: CAPTURED, capture: "all" }] }],
      egress: { allow: ["127.0.0.1/32"], ca_file: caFile },
      request_log: { capture: { secret_key: MARKS.captureKey } },
    },
    added: {
      providers: {
        quoting: {
          kind: "openai",
          base_url: `http://127.0.0.1:${vendor.addr.port}/v1`,
          api_key: MARKS.vendorKey,
          headers: { "x-gateway": MARKS.vendorHeader },
        },
      },
      models: [textModel("sandbox/quoting", ["quoting"])],
    },
  });
  try {
    const filled = await fill(gateway, receiver.port);
    const secrets = [...Object.values(MARKS), ...filled.secrets];
    const paths = pathsOf(filled.ids);
    const visitor = new ConsoleBrowser(gateway.address);
    assertEquals((await visitor.signIn(READ)).status, 201);
    const found: string[] = [];
    let answered = 0;
    for (const path of paths) {
      const direct = await textOf(gateway.address + path, { authorization: `Bearer ${READ}` });
      const byConsole = await textOf(`${gateway.address}/console/api${path}`, {
        "sec-fetch-site": "same-origin",
        cookie: visitor.cookie,
      });
      if (direct.status === 200) answered++;
      assertEquals([path, byConsole.status], [path, direct.status]);
      for (const [name, { text }] of Object.entries({ direct, byConsole })) {
        for (const secret of secrets) if (text.includes(secret)) found.push(`${name} ${path}: ${secret}`);
      }
    }
    assertEquals(found, []);
    // Reading what callers wrote leaves an entry with the owner's name.
    const isRead = ({ path, actor }: AuditEntry) => path.endsWith("/request") && actor === "default";
    const request = `/admin/v1/deliveries/${filled.ids.task}/request`;
    const own = await gateway.call("GET", request, undefined, { authorization: `Bearer ${OWNER}` });
    assert(own.text.includes(MARKS.prompt));
    const audit = await gateway.call("GET", "/admin/v1/audit", undefined, { authorization: `Bearer ${OWNER}` });
    assertEquals(audit.json.data.filter(isRead).length, 1);
    assertEquals(audit.text.includes(MARKS.prompt), false);
    assert(answered > 20, `${answered} of ${paths.length} were answered`);
  } finally {
    await gateway.stop();
    await vendor.shutdown();
    await receiver.stop();
    await Deno.remove(caFile);
  }
});

interface AuditEntry {
  readonly path: string;
  readonly actor: string;
}

/** A vendor that refuses every request, and quotes it. */
function quotingVendor() {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const message = `Cannot process "${await request.text()}"`;
    return Response.json({ error: { message, type: "invalid_request_error", code: "bad_prompt" } }, { status: 400 });
  });
}

interface Filled {
  /** The signed addresses and the secrets that the gateway made. */
  readonly secrets: readonly string[];
  /** The values of a parameter of a path, by its name, and of `id` by the path before it. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

/** Fills the store with a request of each kind. */
async function fill({ call, logLines }: VideoGateway, receiverPort: number): Promise<Filled> {
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const owner = async (method: string, path: string, body?: unknown) => {
    const { status, text, json } = await call(method, `/admin/v1${path}`, body, as(OWNER));
    assert(status < 300, `${method} ${path}: ${text}`);
    return json;
  };
  await owner("GET", "/events"); // from here on, events are kept for listeners
  const { webhook_secret: webhookSecret } = await owner("POST", "/accounts/demo/webhook-secret", {});
  const { id: receiver } = await owner("POST", "/webhook-receivers", { account: "demo" });
  await owner("POST", `/webhook-receivers/${receiver}/test`, {});
  const requests: string[] = [];
  const send = async (path: string, body: unknown, expected: number) => {
    const { status, text, headers } = await call("POST", path, body, as(CAPTURED));
    assertEquals([path, status], [path, expected], text);
    requests.push(headers.get("x-service-request-id") ?? "");
  };
  const chat = (model: string) => ({ model, messages: [{ role: "user", content: `Say ${MARKS.prompt}` }] });
  await send("/v1/chat/completions", chat("sandbox/quoting"), 400);
  await send("/v1/chat/completions", chat("sandbox/chat-1"), 200);
  await send("/v1/chat/completions", chat(MARKS.sentAsModel), 404);
  const unknown = await call("GET", `/v1/models/${MARKS.sentAsModel}`, undefined, as(CAPTURED));
  requests.push(unknown.headers.get("x-service-request-id") ?? "");
  await send("/gencompat/v1beta/cachedContents", {
    model: "models/sandbox/chat-1",
    contents: [{ role: "user", parts: [{ text: `${MARKS.cached} `.repeat(2_000) }] }],
  }, 200);
  const callback = `https://127.0.0.1:${receiverPort}/hook?who=${MARKS.callbackQuery}`;
  const created = await call("POST", "/v1/videos", {
    ...VALID_BODY,
    prompt: `${VALID_BODY.prompt} ${MARKS.prompt}`,
    metadata: { label: MARKS.metadata },
    callback_url: callback,
  }, as(CAPTURED));
  const task: string = created.json.id;
  const ended = JSON.stringify(await ownTask(call, task, as(CAPTURED)));
  await untilSo(() => logLines.some((line) => line.includes("webhook")));
  while ((await owner("GET", `/deliveries/${task}`)).attempt_log.length === 0) {
    await new Promise((r) => setTimeout(r, 5));
  }
  for (const id of requests) {
    while ((await call("GET", `/admin/v1/requests/${id}`, undefined, as(OWNER))).status !== 200);
  }
  const signatures = [...ended.matchAll(/(?:signature|sig)=([\w-]+)/g)].map(([, signature = ""]) => signature);
  assert(signatures.length > 0, ended);
  const batch = await call("POST", "/v1/batches", {
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { label: MARKS.metadata },
    callback_url: callback,
    requests: ["sandbox/chat-1", "sandbox/quoting"].map((model, line) => ({
      custom_id: `line ${line}`,
      body: { ...chat(model), max_tokens: 50 },
    })),
  }, as(CAPTURED));
  assertEquals(batch.status, 202, batch.text);
  await untilSo(async () => (await owner("GET", `/batches/${batch.json.id}`)).ended_at !== null);
  const { data: keys } = await owner("GET", "/accounts/demo/keys");
  const { data: caches } = await owner("GET", "/caches");
  assertEquals(caches.length, 1);
  return {
    secrets: [
      webhookSecret,
      ...signatures,
      OWNER,
      READ,
      CAPTURED,
    ],
    ids: {
      account: ["demo"],
      key: keys.map(({ id }: { id: string }) => id),
      task: [task],
      "requests/id": requests,
      "webhook-receivers/id": [receiver],
      cache: caches.map(({ id }: { id: string }) => id),
      batch: [batch.json.id],
    },
  };
}

async function ownTask(call: VideoGateway["call"], id: string, headers: Record<string, string>): Promise<unknown> {
  const read = async () => (await call("GET", `/v1/videos/${id}`, undefined, headers)).json;
  return await stateOf(
    `${id} is copied`,
    read,
    ({ status, mirror_urls }) => status !== "pending" && mirror_urls?.length > 0,
  );
}

/** Every address of operators that is read, with the ids that there are. */
function pathsOf(ids: Filled["ids"]): string[] {
  const read = [
    ...Object.values(OPERATOR_ENDPOINTS),
    ...Object.values(CONFIG_ENDPOINTS),
    ...Object.values(REQUEST_ENDPOINTS),
  ].filter(({ method }) => method === "GET");
  const admin = read.flatMap(({ path }) => expanded(path, ids));
  return [...admin, "/admin/v1/events?from=0", "/admin/v1/deliveries?state=exhausted", "/admin/v1/requests?limit=100"];
}

function expanded(path: string, ids: Filled["ids"]): string[] {
  const match = /^(.*?)([\w-]+)\/:(\w+)(.*)$/.exec(path);
  if (match === null) return [path];
  const [, before = "", parent = "", name = "", after = ""] = match;
  const values = ids[name] ?? ids[`${parent}/${name}`];
  assert(values !== undefined && values.length > 0, `There is no value for ${path}`);
  return values.flatMap((value) => expanded(`${before}${parent}/${value}${after}`, ids));
}

/** The status and the text of an answer; of a stream, what comes first. */
async function textOf(url: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { headers });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    return { status: response.status, text: await response.text() };
  }
  const reader = (response.body ?? new ReadableStream()).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return { status: response.status, text: new TextDecoder().decode(value) };
}
