import { assert, assertEquals, assertMatch } from "@std/assert";
import { COMPLETION_WINDOWS } from "../../src/services/batches/records/batch.ts";
import { AccountKeys } from "../../src/console/account_keys.ts";
import { startTestGateway } from "../support/gateway.ts";
import { present } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ConsoleBrowser } from "./browser.ts";

const [READ, WRITE] = ["key-of-the-dashboard", "key-of-the-pipeline"];
const CONFIG = {
  server: {
    port: 0,
    admin_key: "key-of-the-owner",
    admin_keys: [{ name: "dashboard", key: READ, role: "read" }, { name: "pipeline", key: WRITE, role: "write" }],
    shutdown_grace: 1,
  },
  request_log: { enabled: true },
};
const CHAT = { model: "sandbox/chat-1", messages: [{ role: "user", content: "hello" }] };
const CHAT_PATH = "/console/api/v1/chat/completions";

async function start(key: string) {
  const gateway = await startTestGateway({ config: CONFIG });
  const visitor = new ConsoleBrowser(gateway.address);
  await visitor.signIn(key);
  const asDemo = { "x-console-account": "demo" };
  const admin = async (path: string) => (await visitor.send("GET", `/console/api/admin/v1${path}`)).json;
  return { gateway, visitor, asDemo, admin };
}

Deno.test("console: an operator sends a request as an account, which pays, and the log names the endpoint", async () => {
  const { gateway, visitor, asDemo, admin } = await start(WRITE);
  const answer = await visitor.send("POST", CHAT_PATH, { body: CHAT, headers: asDemo });
  assertEquals([answer.status, answer.json.choices[0].message.content], [200, "You said: hello"]);
  const id = answer.headers.get("x-service-request-id") ?? "";
  let logged = await admin(`/requests/${id}`);
  while (logged.error?.code === "not_found") logged = await admin(`/requests/${id}`);
  assertEquals([logged.account, logged.endpoint, logged.path], ["demo", "/v1/chat/completions", CHAT_PATH]);
  assertEquals(answer.headers.get("x-service-cost"), logged.cost);
  const { data: keys } = await admin("/accounts/demo/keys");
  const own = keys.find((key: { id: string }) => key.id === logged.key);
  assertEquals(own.name, "console: pipeline");
  assert(own.expires_at > Date.now() / 1_000);
  await gateway.stop();
});

Deno.test("console: an operator's requests as an account share one key, whose creation is audited", async () => {
  const { gateway, visitor, asDemo, admin } = await start(WRITE);
  const send = () => visitor.send("POST", CHAT_PATH, { body: CHAT, headers: asDemo });
  assertEquals((await Promise.all([send(), send(), send()])).map(({ status }) => status), [200, 200, 200]);
  assertEquals((await admin("/accounts/demo/keys")).data.length, 2);
  const { data } = await admin("/audit?account=demo");
  const entries = data.filter(({ actor }: Record<string, string>) => actor !== "configuration");
  assertEquals(entries.map(({ actor, path }: Record<string, string>) => [actor, path]), [[
    "pipeline",
    "/admin/v1/accounts/demo/keys",
  ]]);
  assert(!/sk-sy-\w{20}/.test(JSON.stringify(entries)));
  await gateway.stop();
});

Deno.test("console: the role read sends no request as an account, and the answer names the missing role", async () => {
  const { gateway, visitor, asDemo, admin } = await start(READ);
  const { status, json } = await visitor.send("POST", CHAT_PATH, { body: CHAT, headers: asDemo });
  assertEquals([status, json.error.code], [403, "permission_denied"]);
  assertMatch(json.error.message, /role of the admin key is "read", and this request needs "write"/);
  assertEquals((await admin("/accounts/demo/keys")).data.length, 1);
  await gateway.stop();
});

Deno.test("console: an operator without an account reaches the admin API alone", async () => {
  const { gateway, visitor } = await start(WRITE);
  assertEquals((await visitor.send("POST", CHAT_PATH, { body: CHAT })).status, 404);
  const headers = { "x-console-account": "nobody" };
  const unknown = await visitor.send("POST", CHAT_PATH, { body: CHAT, headers });
  assertEquals([unknown.status, unknown.json.error.code], [404, "not_found"]);
  const admin = { headers: { "x-console-account": "demo" } };
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts", admin)).status, 404);
  assertEquals(
    (await visitor.send("POST", CHAT_PATH, { body: CHAT, headers: { ...headers, "x-console-token": "" } })).status,
    403,
  );
  await gateway.stop();
});

Deno.test("console: a revoked key of the console and a suspended account are reported, and a new key follows", async () => {
  const { gateway, visitor, asDemo, admin } = await start(WRITE);
  const send = () => visitor.send("POST", CHAT_PATH, { body: CHAT, headers: asDemo });
  await send();
  const { data: keys } = await admin("/accounts/demo/keys");
  const { id } = keys.find(({ name }: { name: string }) => name === "console: pipeline");
  await visitor.send("DELETE", `/console/api/admin/v1/accounts/demo/keys/${id}`);
  assertEquals((await send()).json.error.code, "conflict");
  assertEquals((await send()).status, 200);
  await visitor.send("POST", "/console/api/admin/v1/accounts/demo/suspend");
  const refused = await send();
  assertEquals([refused.status, refused.json.error.code], [409, "conflict"]);
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts")).status, 200);
  await gateway.stop();
});

Deno.test("console: the list of requests can leave out those of the playground, or have them only", async () => {
  const { gateway, visitor, asDemo, admin } = await start(WRITE);
  await visitor.send("POST", CHAT_PATH, { body: CHAT, headers: asDemo });
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(CHAT),
  });
  await response.body?.cancel();
  const pathsOf = async (query: string) =>
    (await admin(`/requests?${query}`)).data.map(({ path }: { path: string }) => path).toSorted();
  assertEquals(await pathsOf(""), [CHAT_PATH, "/v1/chat/completions"]);
  assertEquals(await pathsOf("is_from_console=true"), [CHAT_PATH]);
  assertEquals(await pathsOf("is_from_console=false"), ["/v1/chat/completions"]);
  await gateway.stop();
});

Deno.test("console: a stream passes as it comes, and is charged to the account", async () => {
  const { gateway, visitor, asDemo } = await start(WRITE);
  const body = { ...CHAT, stream: true, stream_options: { include_usage: true } };
  const { text, headers } = await visitor.send("POST", CHAT_PATH, { body, headers: asDemo });
  assertEquals(headers.get("content-type"), "text/event-stream");
  assert(text.includes('"cost":0.0000') && text.endsWith("data: [DONE]\n\n"), text);
  await gateway.stop();
});

Deno.test("AccountKeys renews a key before its end, forgets failures, and keeps operators and accounts apart", async () => {
  const clock = new ManualClock();
  const keys = new AccountKeys(clock);
  let count = 0;
  const ends: number[] = [];
  const issue = (expiresAt: number) => Promise.resolve(`secret-${(ends.push(expiresAt), ++count)}`);
  const acting = { operator: "one", account: "demo" };
  assertEquals(await Promise.all([keys.secretFor(acting, issue), keys.secretFor(acting, issue)]), [
    "secret-1",
    "secret-1",
  ]);
  assertEquals(await keys.secretFor({ operator: "two", account: "demo" }, issue), "secret-2");
  clock.advance(23 * 3_600_000);
  assertEquals(await keys.secretFor(acting, issue), "secret-1");
  const batchEndsAt = clock.now() + present(COMPLETION_WINDOWS["24h"], "the window of batches");
  assert(present(ends[0], "end of the key") > batchEndsAt, "no batch outlives the key that creates it");
  clock.advance(3_600_000);
  assertEquals(
    await Promise.all([keys.secretFor(acting, issue), keys.secretFor(acting, issue)]),
    ["secret-3", "secret-3"],
  );
  keys.drop(acting);
  const failed = await keys.secretFor(acting, () => Promise.reject(new Error("no"))).then(() => false, () => true);
  assertEquals([failed, await keys.secretFor(acting, issue)], [true, "secret-4"]);
});

Deno.test("console: the log of requests has those to models, and neither sign-ins nor calls of the console", async () => {
  const gateway = await startTestGateway({ config: { request_log: { enabled: true } } });
  const visitor = new ConsoleBrowser(gateway.address);
  await visitor.signIn("sk-wrong");
  await visitor.signIn(gateway.adminKey);
  await visitor.send("POST", "/console/api/admin/v1/accounts", { body: { id: "shop" } });
  await visitor.send("PATCH", "/console/api/admin/v1/accounts/nobody", { body: { rpm: 1 } });
  await visitor.send("GET", "/console/api/admin/v1/nothing");
  await visitor.send("POST", CHAT_PATH, { body: CHAT, headers: { "x-console-account": "demo" } });
  // Requests are written in the order in which they end.
  let paths: string[] = [];
  for (const deadline = Date.now() + 60_000; paths.length === 0 && Date.now() < deadline;) {
    paths = await logged(visitor);
  }
  assertEquals(paths, [CHAT_PATH]);
  await gateway.stop();
});

async function logged(visitor: ConsoleBrowser): Promise<string[]> {
  const { json } = await visitor.send("GET", "/console/api/admin/v1/requests");
  return json.data.map(({ path }: { path: string }) => path);
}
