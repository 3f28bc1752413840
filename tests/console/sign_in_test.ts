import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { startLiveGateway } from "../support/live_gateway.ts";
import { startTestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ConsoleBrowser } from "./browser.ts";

const [READ, WRITE, OWNER] = ["key-of-the-dashboard", "key-of-the-pipeline", "key-of-the-owner"];
const SERVER = {
  port: 0,
  admin_key: OWNER,
  admin_keys: [{ name: "dashboard", key: READ, role: "read" }, { name: "pipeline", key: WRITE, role: "write" }],
  shutdown_grace: 1,
};

async function start(config: Record<string, unknown> = {}, options: TestGatewayOptions = {}) {
  const gateway = await startTestGateway({ ...options, config: { server: SERVER, ...config } });
  return { gateway, browser: () => new ConsoleBrowser(gateway.app.adminAddress) };
}

/** The gateway of the tests that need no configuration and no clock of their own. */
const shared = await start();

Deno.test("console: an admin key signs in, and the session has its name and role", async () => {
  const { gateway, browser } = shared;
  const visitor = browser();
  assertEquals((await visitor.send("GET", "/console/session")).json, { session: null });
  const signedIn = await visitor.signIn(READ);
  assertEquals(signedIn.status, 201);
  const { token, expires_at: expiresAt, base_url: baseUrl, ...session } = signedIn.json.session;
  assertEquals(baseUrl, gateway.address);
  assertEquals(session, { kind: "operator", name: "dashboard", role: "read" });
  assert(token.length >= 32 && expiresAt > Date.now() / 1_000);
  assertEquals((await visitor.send("GET", "/console/session")).json, signedIn.json);
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts")).json.data[0].id, "demo");
});

Deno.test("console: the cookie is for the console alone, and scripts and other sites cannot use it", async () => {
  const { browser } = shared;
  const visitor = browser();
  const { headers } = await visitor.signIn(OWNER);
  assertMatch(
    headers.get("set-cookie") ?? "",
    /^switchyard_console=[0-9A-Za-z]{43}; Path=\/console; HttpOnly; SameSite=Strict$/,
  );
  assertEquals((await visitor.send("GET", "/admin/v1/accounts")).status, 401);
  assertEquals((await visitor.send("GET", "/v1/key")).status, 401);
  const behindProxy = await browser().send("POST", "/console/session", {
    body: { key: OWNER },
    headers: { "x-forwarded-proto": "https" },
  });
  assertMatch(behindProxy.headers.get("set-cookie") ?? "", /^__Secure-switchyard_console=.*; Secure$/);
});

Deno.test("console: the cookie is Secure if the public address is https", async () => {
  const { gateway, browser } = await start({ server: { ...SERVER, base_url: "https://gateway.example" } });
  const { headers } = await browser().signIn(OWNER);
  assertMatch(headers.get("set-cookie") ?? "", /^__Secure-switchyard_console=.*; Secure$/);
  await gateway.stop();
});

Deno.test("console: a wrong key is 401, and later and later", async () => {
  const clock = new ManualClock();
  const { gateway, browser } = await start({}, { clock });
  for (let count = 0; count < 10; count++) {
    const { status, json } = await browser().signIn("sk-wrong");
    assertEquals([status, json.error.code], [401, "invalid_api_key"]);
  }
  const sentAt = clock.monotonicMs();
  let isAnswered = false;
  const late = browser().signIn("sk-wrong").finally(() => isAnswered = true);
  // The gateway's other timers run on this clock too, so no number of pending timers shows that this one is set.
  while (!isAnswered) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    clock.advance(1);
  }
  assertEquals((await late).status, 401);
  assert(clock.monotonicMs() - sentAt >= 100);
  assertEquals((await browser().signIn(OWNER)).status, 201);
  for (const body of [{}, { key: 1 }, { key: "" }, { key: "a b" }, { link: 1 }]) {
    assertEquals((await browser().signIn(body)).json.error.field, "key");
  }
  await gateway.stop();
});

Deno.test("console: a request of another site is refused, with and without a session", async () => {
  const { browser } = shared;
  const visitor = browser();
  const other = { "sec-fetch-site": null, origin: "https://evil.example" };
  for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, other]) {
    const refused = await visitor.send("POST", "/console/session", { body: { key: OWNER }, headers });
    assertEquals([refused.status, refused.headers.get("set-cookie")], [403, null]);
  }
  // A form of another site could send this type without a preflight.
  const form = await visitor.send("POST", "/console/session", {
    body: JSON.stringify({ key: OWNER }),
    headers: { "content-type": "text/plain" },
  });
  assertEquals(form.status, 415);
  await visitor.signIn(OWNER);
  for (const headers of [{ "sec-fetch-site": "cross-site" }, other]) {
    assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts", { headers })).status, 403);
    const body = { id: "new" };
    assertEquals((await visitor.send("POST", "/console/api/admin/v1/accounts", { body, headers })).status, 403);
  }
  const plainHttp = { "sec-fetch-site": null };
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts", { headers: plainHttp })).status, 200);
});

Deno.test("console: a change needs the token of its own session", async () => {
  const { browser } = shared;
  const [visitor, other] = [browser(), browser()];
  await visitor.signIn(OWNER);
  await other.signIn(OWNER);
  assertNotEquals(visitor.token, other.token);
  for (const token of [null, "", "wrong", other.token]) {
    const headers = { "x-console-token": token };
    const body = { id: "new" };
    const { status, json } = await visitor.send("POST", "/console/api/admin/v1/accounts", { body, headers });
    assertEquals([status, json.error.code], [403, "permission_denied"]);
    assertEquals((await visitor.send("DELETE", "/console/session", { headers })).status, 403);
  }
  assertEquals((await visitor.send("POST", "/console/api/admin/v1/accounts", { body: { id: "new" } })).status, 201);
  const { json } = await visitor.send("GET", "/console/api/admin/v1/audit?account=new");
  assertEquals([json.data[0].actor, json.data[0].path], ["default", "/admin/v1/accounts"]);
});

Deno.test("console: a role allows what it allows in the admin API", async () => {
  const { browser } = shared;
  const statuses: number[][] = [];
  for (const key of [READ, WRITE, OWNER]) {
    const visitor = browser();
    await visitor.signIn(key);
    const patch = { body: { name: "Demo" } };
    statuses.push([
      (await visitor.send("GET", "/console/api/admin/v1/accounts")).status,
      (await visitor.send("PATCH", "/console/api/admin/v1/accounts/demo", patch)).status,
      (await visitor.send("GET", "/console/api/admin/v1/admin-keys")).status,
    ]);
  }
  assertEquals(statuses, [[200, 403, 403], [200, 200, 403], [200, 200, 200]]);
});

Deno.test("console: an API key shows its own account, and calls the endpoints of the playground alone", async () => {
  const { gateway, browser } = await start({ accounts: [{ id: "other", balance: "1" }] });
  const owner = browser();
  await owner.signIn(OWNER);
  const issue = async (account: string): Promise<string> =>
    (await owner.send("POST", `/console/api/admin/v1/accounts/${account}/keys`)).json.secret;
  const visitor = browser();
  const { json } = await visitor.signIn(await issue("other"));
  assertEquals([json.session.kind, json.session.account], ["caller", "other"]);
  const statusOf = async (method: string, path: string, body?: unknown) =>
    (await visitor.send(method, `/console/api${path}`, { body })).status;
  assertEquals((await visitor.send("GET", "/console/api/v1/credits")).json.account, "other");
  for (const path of ["/v1/key", "/v1/models", "/v1/usage", "/v1/requests"]) {
    assertEquals(await statusOf("GET", path), 200);
  }
  for (
    const path of [
      "/admin/v1/accounts",
      "/admin/v1/requests",
      "/metrics",
      "/v1/video-callbacks/1",
      "/console/session",
      "/healthz",
    ]
  ) {
    assertEquals(await statusOf("GET", path), 404, path);
  }
  const chat = { model: "sandbox/chat-1", messages: [{ role: "user", content: "hello" }] };
  assertEquals(await statusOf("POST", "/v1/chat/completions", chat), 200);
  assertEquals(await statusOf("POST", "/v1/videos/x/deliveries", chat), 404);
  assertEquals(await statusOf("POST", "/gencompat/v1beta/cachedContents", chat), 404);
  await gateway.stop();
});

Deno.test("console: logging out ends the session at the gateway", async () => {
  const { browser } = shared;
  const visitor = browser();
  await visitor.signIn(OWNER);
  const { cookie } = visitor;
  const { status, headers } = await visitor.send("DELETE", "/console/session");
  assertEquals(status, 200);
  assertMatch(headers.get("set-cookie") ?? "", /^switchyard_console=; .*Max-Age=0$/);
  visitor.cookie = cookie;
  assertEquals((await visitor.send("GET", "/console/session")).json, { session: null });
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts")).status, 401);
});

Deno.test("console: a session ends when nothing was requested for 30 minutes, and after 12 hours", async () => {
  const clock = new ManualClock();
  const { gateway, browser } = await start({}, { clock });
  const statusOf = async (visitor: ConsoleBrowser) =>
    (await visitor.send("GET", "/console/api/admin/v1/accounts")).status;
  const [idle, busy] = [browser(), browser()];
  await idle.signIn(OWNER);
  await busy.signIn(OWNER);
  for (let minutes = 20; minutes < 12 * 60; minutes += 20) {
    clock.advance(20 * 60_000);
    assertEquals(await statusOf(busy), 200, `${minutes} minutes`);
  }
  assertEquals(await statusOf(idle), 401);
  clock.advance(20 * 60_000);
  assertEquals(await statusOf(busy), 401);
  await gateway.stop();
});

Deno.test("console: the sessions of a key end with its revocation", async () => {
  const { browser } = shared;
  const [owner, operator, caller] = [browser(), browser(), browser()];
  await owner.signIn(OWNER);
  const admin = await owner.send("POST", "/console/api/admin/v1/admin-keys", { body: { name: "ci", role: "read" } });
  const api = await owner.send("POST", "/console/api/admin/v1/accounts/demo/keys");
  await operator.signIn(admin.json.secret);
  await caller.signIn(api.json.secret);
  assertEquals((await operator.send("GET", "/console/api/admin/v1/accounts")).status, 200);
  assertEquals((await caller.send("GET", "/console/api/v1/credits")).status, 200);
  await owner.send("DELETE", `/console/api/admin/v1/admin-keys/${admin.json.id}`);
  await owner.send("DELETE", `/console/api/admin/v1/accounts/demo/keys/${api.json.id}`);
  for (const [visitor, path] of [[operator, "/admin/v1/accounts"], [caller, "/v1/credits"]] as const) {
    const { status, json } = await visitor.send("GET", `/console/api${path}`);
    assertEquals([status, json.error.message], [401, "The session has ended: sign in again"]);
    assertEquals((await visitor.send("GET", "/console/session")).json, { session: null });
  }
});

Deno.test("console: sign-ins survive a restart, except those that were signed out, revoked or changed", async () => {
  const folder = await Deno.makeTempDir();
  const store = `kv:${folder}/store.kv`;
  const open = async () => await start({ files: folder }, { store });
  const before = await open();
  const stayed = before.browser();
  const [left, revoked, tampered] = [before.browser(), before.browser(), before.browser()];
  await stayed.signIn(OWNER);
  const { json: { id, secret } } = await stayed.send("POST", "/console/api/admin/v1/admin-keys", {
    body: { name: "ci", role: "owner" },
  });
  const { json: known } = await stayed.send("GET", "/console/session");
  await revoked.signIn(secret);
  for (const visitor of [left, tampered]) await visitor.signIn(OWNER);
  const { cookie } = left;
  await left.send("DELETE", "/console/session");
  await before.gateway.stop();

  const stored = await filesIn(folder);
  const secrets = [OWNER, secret, known.session.token, stayed.cookie.split("=")[1] ?? "-"];
  for (const each of secrets) assert(!stored.includes(each), "the store reveals a secret");

  const after = await open();
  const restarted = (visitor: ConsoleBrowser, own = visitor.cookie) =>
    Object.assign(after.browser(), { cookie: own, token: visitor.token });
  const again = restarted(stayed);
  assertEquals((await again.send("GET", "/console/session")).json.session.token, known.session.token);
  assertEquals((await again.send("DELETE", `/console/api/admin/v1/admin-keys/${id}`)).status, 200);
  const last = tampered.cookie.at(-1) === "a" ? "b" : "a";
  const ended = [
    restarted(left, cookie),
    restarted(revoked),
    restarted(tampered, tampered.cookie.slice(0, -1) + last),
  ];
  for (const visitor of ended) {
    assertEquals((await visitor.send("GET", "/console/session")).json, { session: null });
    assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts")).status, 401);
  }
  await after.gateway.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("console: a reload that removes an admin key ends its sessions, and others go on", async () => {
  const server = { ...SERVER, admin_keys: [{ name: "dashboard", key: READ, role: "read" }] };
  const gateway = await startLiveGateway({ sections: { server } });
  const [reader, owner] = [new ConsoleBrowser(gateway.address), new ConsoleBrowser(gateway.address)];
  await reader.signIn(READ);
  await owner.signIn(OWNER);
  gateway.write({ server: { ...server, admin_keys: [] } });
  assertEquals((await owner.send("POST", "/console/api/admin/v1/config/reload")).status, 200);
  assertEquals((await reader.send("GET", "/console/api/admin/v1/accounts")).status, 401);
  assertEquals((await owner.send("GET", "/console/api/admin/v1/accounts")).status, 200);
  await gateway.stop();
});

Deno.test("console: a link signs in once, as the highest admin key", async () => {
  const { gateway, browser } = shared;
  const link = await gateway.app.createConsoleLink();
  const token = /^http:\/\/127\.0\.0\.1:\d+\/console#link=(\w+)$/.exec(link ?? "")?.[1];
  const { status, json } = await browser().signIn({ link: token });
  assertEquals([status, json.session.name, json.session.role], [201, "default", "owner"]);
  const again = await browser().signIn({ link: token });
  assertEquals([again.status, again.json.error.field], [401, "link"]);
});

Deno.test("console: a link ends after 15 minutes", async () => {
  const clock = new ManualClock();
  const { gateway, browser } = await start({}, { clock });
  const token = (await gateway.app.createConsoleLink())?.split("=")[1];
  clock.advance(15 * 60_000);
  assertEquals((await browser().signIn({ link: token })).status, 401);
  await gateway.stop();
});

Deno.test("console: no key and no token is in a response, in an address or in the log", async () => {
  const { gateway, browser } = shared;
  const visitor = browser();
  const answers = [
    await visitor.signIn(gateway.key),
    await visitor.signIn(OWNER),
    await visitor.signIn("wrong-key-of-a-visitor"),
    await visitor.send("GET", "/console"),
    await visitor.send("GET", "/console/session"),
    await visitor.send("GET", "/console/api/admin/v1/accounts/demo/keys"),
  ];
  const seen = [...answers.map(({ text }) => text), ...gateway.logLines].join("\n");
  for (const secret of [gateway.key, OWNER, "wrong-key-of-a-visitor", visitor.cookie.split("=")[1] ?? "-"]) {
    assert(!seen.includes(secret), secret);
  }
});

Deno.test("the gateway of these tests stops", () => shared.gateway.stop());

/** All bytes below a folder, as text. */
async function filesIn(folder: string): Promise<string> {
  let text = "";
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    if (isFile) text += new TextDecoder("latin1").decode(await Deno.readFile(`${folder}/${name}`));
    if (isDirectory) text += await filesIn(`${folder}/${name}`);
  }
  return text;
}
