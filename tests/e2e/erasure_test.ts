import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CACHES_PATH } from "../caches/cache_gateway.ts";
import { RELOAD, withGateway as withChangedGateway } from "./changed_gateway.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { closedOrigin, startVideoGateway, VALID_BODY } from "../support/video_gateway.ts";
import { stateOf } from "../support/patience.ts";

/** Every text that could identify a customer has one of these marks. */
const [MARK, OTHER_MARK] = ["quokka-7f3a91", "numbat-55aa77"];
const BUSY = { prompt: "A lighthouse [[queue 600000]]" };

interface Customer {
  readonly id: string;
  readonly call: GatewayCall;
  readonly keyId: string;
}

async function startGateway() {
  const folder = await Deno.makeTempDir();
  const gateway = await startVideoGateway({
    store: `kv:${folder}/store.db`,
    config: { request_log: { capture: { secret_key: "the-secret-of-the-operator" } } },
  });
  const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
  return { gateway, folder, admin };
}

type Started = Awaited<ReturnType<typeof startGateway>>;

/** Creates an account and leaves something of it in every place that keeps something. */
async function createCustomer({ gateway, admin }: Started, id: string, mark: string): Promise<Customer> {
  const account = { id, balance: "25.00", name: mark, webhook_secret: mark, allow_buckets: [`gs://${mark}/`] };
  assertEquals((await admin("POST", "/admin/v1/accounts", account)).status, 201);
  const settings = { name: mark, metadata: { customer: mark }, capture: "all" };
  const { json: key } = await admin("POST", `/admin/v1/accounts/${id}/keys`, settings);
  const call = callerOf(gateway.address, { authorization: `Bearer ${key.secret}` });

  const chat = { model: "sandbox/chat-1", messages: [{ role: "user", content: mark }] };
  assertEquals((await call("POST", "/v1/chat/completions", chat)).status, 200);
  const video = {
    ...VALID_BODY,
    prompt: `${mark} [[queue 0]] [[run 0]]`,
    metadata: { customer: mark },
    callback_url: `${closedOrigin().replace("http:", "https:")}/${mark}`,
  };
  const task = await call("POST", "/v1/videos", video, { "idempotency-key": mark });
  assertEquals(task.status, 202, task.text);
  const isCopied = async () => {
    const { json } = await call("GET", `/v1/videos/${task.json.id}`);
    return json.mirror_urls?.length > 0 && (await fetch(json.mirror_urls[0], { method: "HEAD" })).ok;
  };
  await stateOf("the video is copied", isCopied, (isSo) => isSo);
  const content = {
    model: "models/sandbox/chat-1",
    displayName: mark,
    contents: [{ role: "user", parts: [{ text: `${mark} `.repeat(1_000) }] }],
  };
  const cache = await call("POST", CACHES_PATH, content);
  assertEquals(cache.status, 200, cache.text);
  assertEquals((await admin("PATCH", `/admin/v1/accounts/${id}`, { name: `${mark}-changed` })).status, 200);
  return { id, call, keyId: key.id };
}

/** How often a text is in the keys and values of a closed store, and in the files of a folder. */
async function occurrences(folders: readonly string[], store: string, text: string): Promise<number> {
  let found = 0;
  using kv = await Deno.openKv(store);
  for await (const { key, value } of kv.list({ prefix: [] })) {
    if (Deno.inspect([key, texts(value)], { depth: 20, strAbbreviateSize: 1e6, iterableLimit: 1e6 }).includes(text)) {
      found++;
    }
  }
  for (const folder of folders) found += await occurrencesInFiles(folder, text);
  return found;
}

/** Bytes as text, at any depth. */
function texts(value: unknown): unknown {
  if (value instanceof Uint8Array) return new TextDecoder("latin1").decode(value);
  if (Array.isArray(value)) return value.map(texts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, texts(item)]));
}

async function occurrencesInFiles(folder: string, text: string): Promise<number> {
  let found = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found += await occurrencesInFiles(path, text);
    else if (new TextDecoder("latin1").decode(await Deno.readFile(path)).includes(text)) found++;
  }
  return found;
}

async function fileCount(folder: string): Promise<number> {
  let count = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    count += isDirectory ? await fileCount(`${folder}/${name}`) : 1;
  }
  return count;
}

async function withGateway(run: (started: Started) => Promise<void>): Promise<void> {
  const started = await startGateway();
  try {
    await run(started);
  } finally {
    await started.gateway.stop();
    await Deno.remove(started.folder, { recursive: true });
  }
}

Deno.test("an erasure leaves nothing of a customer in the store and the files, and keeps the money", async () => {
  const started = await startGateway();
  const { gateway, folder, admin } = started;
  const customer = await createCustomer(started, "acme", MARK);
  await createCustomer(started, "other", OTHER_MARK);
  const path = "/admin/v1/accounts/acme";
  const moneyOf = async () => {
    const [account, ledger] = [(await admin("GET", path)).json, (await admin("GET", `${path}/ledger?limit=100`)).json];
    const usage = (await admin("GET", "/admin/v1/usage?group_by=account,key&account=acme")).json;
    return { balance: account.balance, held: account.held, ledger, usage };
  };
  const before = await moneyOf();
  const filesBefore = await fileCount(gateway.filesFolder);

  const erased = await admin("POST", `${path}/erase`, {});
  assertEquals(erased.status, 200, erased.text);
  const { requests, audit_entries, kept_replies: _, ...removed } = erased.json.removed;
  const counts = { tasks: 1, files: 1, deliveries: 1, cached_contents: 1, idempotency_keys: 1, keys: 1 };
  assertEquals(removed, { ...counts, config_versions: 0 });
  assert(requests >= 4 && audit_entries >= 3);
  assertEquals(await fileCount(gateway.filesFolder), filesBefore - 2);

  const { json: shown } = await admin("GET", path);
  assertEquals([shown.status, shown.name, shown.erased_at], ["erased", null, erased.json.erased_at]);
  assertEquals(await moneyOf(), before);
  assertEquals((await customer.call("GET", "/v1/videos")).status, 401);
  const { json: key } = await admin("GET", `${path}/keys/${customer.keyId}`);
  assertEquals([key.name, key.metadata, key.prefix, key.revoked_at !== null], [null, {}, "", true]);
  const { json: rows } = await admin("GET", "/admin/v1/requests?account=acme");
  assertEquals(rows.data.filter(({ status }: { status: number }) => status === 200), []);

  const audit = (await admin("GET", "/admin/v1/audit?account=acme&limit=100")).json.data;
  assertEquals(audit[0].after.removed, erased.json.removed);
  const others = audit.filter((entry: { path: string }) => !entry.path.endsWith("/erase"));
  assertEquals(
    new Set(others.map((entry: { before: null; after: null }) => entry.after ?? entry.before)),
    new Set([null]),
  );

  for (
    const [method, below, body] of [
      ["POST", "/resume", {}],
      ["PATCH", "", { name: "new" }],
      ["POST", "/keys", {}],
      ["PATCH", `/keys/${customer.keyId}`, { name: "new" }],
      ["POST", "/webhook-secret", {}],
      ["POST", "/buckets", { allow_buckets: [] }],
    ] as const
  ) {
    const { status, json } = await admin(method, path + below, body);
    assertEquals(status, 409);
    assertStringIncludes(json.error.message, "it was erased");
  }
  const again = await admin("POST", `${path}/erase`, {});
  assertEquals([again.status, again.json.erased_at, again.json.removed.tasks], [200, erased.json.erased_at, 0]);

  await gateway.app.stop();
  await gateway.sandbox.stop();
  const store = `${folder}/store.db`;
  assertEquals(await occurrences([gateway.filesFolder], store, MARK), 0);
  assert(await occurrences([gateway.filesFolder], store, OTHER_MARK) > 8);
  const log = new TextDecoder("latin1").decode(await Deno.readFile(`${store}.requests`));
  assert(!log.includes(MARK));
  for (const each of [folder, gateway.filesFolder]) await Deno.remove(each, { recursive: true });
});

Deno.test("an erasure is refused while a task is pending, and changes nothing then", async () => {
  await withGateway(async (started) => {
    const { admin } = started;
    const { call } = await createCustomer(started, "acme", MARK);
    const { json: task } = await call("POST", "/v1/videos", { ...VALID_BODY, ...BUSY });
    const refused = await admin("POST", "/admin/v1/accounts/acme/erase", {});
    assertEquals([refused.status, refused.json.error.code], [409, "conflict"]);
    assertStringIncludes(refused.json.error.message, "it has pending video tasks (1); cancel them or wait");
    assertEquals((await admin("GET", "/admin/v1/accounts/acme")).json.status, "active");
    assertEquals((await call("DELETE", `/v1/videos/${task.id}`)).status, 200);
    assertEquals((await admin("POST", "/admin/v1/accounts/acme/erase", {})).status, 200);
  });
});

Deno.test("only owners erase accounts that exist and that no file declares", async () => {
  await withGateway(async ({ admin, gateway }) => {
    const declared = await admin("POST", "/admin/v1/accounts/demo/erase", {});
    assertEquals(declared.status, 409);
    assertStringIncludes(declared.json.error.message, "which the configuration file declares (test.json: accounts[0])");
    assertEquals((await admin("POST", "/admin/v1/accounts/nobody/erase", {})).status, 404);
    const { json: key } = await admin("POST", "/admin/v1/admin-keys", { name: "writer", role: "write" });
    const writer = callerOf(gateway.address, { authorization: `Bearer ${key.secret}` });
    assertEquals((await writer("POST", "/admin/v1/accounts/demo/erase", {})).status, 403);
  });
});

Deno.test("an erasure removes what changes of the file left of an account that it declared", async () => {
  await withChangedGateway(async ({ gateway }) => {
    const demo = { id: "demo", keys: [gateway.key] };
    const declare = (name: string) => gateway.write({ accounts: [demo, { id: "acme", name }] });
    const textOf = async () => {
      const [audit, versions] = [await gateway.admin("GET", "/audit"), await gateway.admin("GET", "/config/versions")];
      return [JSON.stringify(audit.body), JSON.stringify(versions.body)] as const;
    };
    declare(MARK);
    await gateway.admin("POST", RELOAD);
    declare(`${MARK} Limited`);
    await gateway.admin("POST", RELOAD);
    declare(`${MARK} Company`);
    assertEquals((await gateway.admin("PUT", "/config/limits/text_body", { value: 5_000 })).status, 200);
    gateway.write({ accounts: [demo] });
    await gateway.admin("POST", RELOAD);
    for (const text of await textOf()) assertStringIncludes(text, MARK);

    const { status, body } = await gateway.admin("POST", "/accounts/acme/erase");
    assertEquals([status, (body.removed as { config_versions: number }).config_versions], [200, 1]);
    for (const text of await textOf()) assert(!text.includes(MARK));
    assertEquals((await gateway.admin("GET", "/config/versions")).status, 200);
  });
});
