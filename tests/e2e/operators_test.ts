import { assert, assertEquals, assertMatch } from "@std/assert";
import { hasValidChecksum } from "../../src/platform/lib/basics/checksummed_secret.ts";
import { startTestGateway } from "../support/gateway.ts";

const [READ, WRITE, OWNER] = ["key-of-the-dashboard", "key-of-the-pipeline", "key-of-the-owner"];
const ADMIN_KEYS = [
  { name: "dashboard", key: READ, role: "read" },
  { name: "pipeline", key: WRITE, role: "write" },
];

async function start(server: Record<string, unknown> = {}, config: Record<string, unknown> = {}) {
  const gateway = await startTestGateway({
    config: { server: { port: 0, admin_key: OWNER, admin_keys: ADMIN_KEYS, shutdown_grace: 1, ...server }, ...config },
  });
  async function call(key: string | null, method: string, path: string, body?: unknown, at = gateway.app.adminAddress) {
    const response = await fetch(at + path, {
      method,
      headers: { "content-type": "application/json", ...key === null ? {} : { authorization: `Bearer ${key}` } },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
    const json: any = text.startsWith("{") ? JSON.parse(text) : null;
    return { status: response.status, text, json };
  }
  return { gateway, call };
}

Deno.test("a role allows what it includes, and the refusal names the role that is needed", async () => {
  const { gateway, call } = await start();
  const statuses = async (method: string, path: string, body?: unknown) => {
    const found: number[] = [];
    for (const key of [READ, WRITE, OWNER]) found.push((await call(key, method, path, body)).status);
    return found;
  };
  assertEquals(await statuses("GET", "/admin/v1/accounts"), [200, 200, 200]);
  assertEquals(await statuses("GET", "/admin/v1/audit"), [200, 200, 200]);
  assertEquals(await statuses("GET", "/metrics"), [200, 200, 200]);
  assertEquals(await statuses("GET", "/readyz?verbose"), [200, 200, 200]);
  assertEquals(await statuses("PATCH", "/admin/v1/accounts/demo", { name: "Demo" }), [403, 200, 200]);
  assertEquals(await statuses("GET", "/admin/v1/admin-keys"), [403, 403, 200]);
  assertEquals(await statuses("POST", "/admin/v1/admin-keys", { name: "x", role: "read" }), [403, 403, 201]);
  const { json } = await call(READ, "POST", "/admin/v1/accounts", { id: "new" });
  const { doc_url: _address, ...refused } = json.error;
  assertEquals(refused, {
    code: "permission_denied",
    message: 'Cannot accept the admin key: its role is "read", and this request needs "write"',
  });
  assertEquals((await call(null, "GET", "/readyz?verbose")).status, 401);
  assertEquals((await call(null, "GET", "/metrics")).status, 401);
  assertEquals((await call(null, "GET", "/readyz")).text, "ready\n");
  await gateway.stop();
});

Deno.test("an admin key of the API is shown once, works at once, and ends with its revocation", async () => {
  const { gateway, call } = await start();
  const created = await call(OWNER, "POST", "/admin/v1/admin-keys", { name: "ci", role: "write" });
  const { id, secret } = created.json;
  assertMatch(secret, /^sk-admin-[0-9A-Za-z]{49}$/);
  assert(hasValidChecksum(secret));
  assertEquals((await call(secret, "POST", "/admin/v1/accounts", { id: "new" })).status, 201);
  const listed = (await call(OWNER, "GET", "/admin/v1/admin-keys")).text;
  assert(!listed.includes(secret) && listed.includes(id));
  for (const name of ["ci", "default", "dashboard", "command line", "configuration", " ", "\u00e9"]) {
    const { status, json } = await call(OWNER, "POST", "/admin/v1/admin-keys", { name, role: "read" });
    assertEquals([status === 409 || status === 400, json.error.field], [true, "name"], name);
  }
  assertEquals((await call(OWNER, "DELETE", `/admin/v1/admin-keys/${id}`)).json.revoked, true);
  assertEquals((await call(secret, "GET", "/admin/v1/accounts")).status, 401);
  assertEquals((await call(OWNER, "DELETE", `/admin/v1/admin-keys/${id}`)).status, 404);
  const log = (await call(READ, "GET", "/admin/v1/audit")).text;
  assert(!log.includes(secret));
  await gateway.stop();
});

Deno.test("each change is in the audit log: who, from where, what, before and after", async () => {
  const { gateway, call } = await start();
  await call(WRITE, "POST", "/admin/v1/accounts", { id: "acme" });
  await call(WRITE, "PATCH", "/admin/v1/accounts/acme", { name: "Acme" });
  await call(OWNER, "POST", "/admin/v1/accounts/acme/credit", { amount: "5" });
  const issued = await call(WRITE, "POST", "/admin/v1/accounts/acme/keys");
  assertEquals((await call(WRITE, "PATCH", "/admin/v1/accounts/acme", { rmp: 5 })).status, 400);
  assertEquals((await call(WRITE, "POST", "/admin/v1/accounts", { id: "acme" })).status, 409);
  const { json, text } = await call(READ, "GET", "/admin/v1/audit?account=acme");
  assert(!text.includes(issued.json.secret));
  const [key, credit, patch, create] = json.data;
  assertEquals(json.data.length, 4, "a refused change is not in it");
  assertEquals([create.actor, create.address, create.method, create.path, create.state, create.before], [
    "pipeline",
    "127.0.0.1",
    "POST",
    "/admin/v1/accounts",
    "done",
    null,
  ]);
  assertEquals([create.after.id, create.after.webhook_secret], ["acme", "(secret)"]);
  assertEquals([patch.before, patch.after], [{ name: null }, { name: "Acme" }]);
  assertEquals([credit.actor, credit.before.balance, credit.after.balance], [
    "default",
    "0.0000000000",
    "5.0000000000",
  ]);
  assertEquals([key.after.account, key.after.secret], ["acme", "(secret)"]);
  assertMatch(key.request_id, /^req_/);
  const owners = await call(READ, "GET", "/admin/v1/audit?actor=default&limit=1");
  assertEquals(owners.json.data.map(({ id }: { id: string }) => id), [credit.id]);
  await gateway.stop();
});

Deno.test("changes by the configuration are in the audit log, and a restart without changes adds nothing", async () => {
  const folder = await Deno.makeTempDir();
  const logOf = async (name: string) => {
    const config = {
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      accounts: [{ id: "demo", name, keys: [{ key: "a-key-of-the-demo-account", rpm: 5 }] }],
    };
    const { gateway, call } = await start({}, config);
    const { json } = await call(READ, "GET", "/admin/v1/audit?actor=configuration");
    await gateway.stop();
    return json.data;
  };
  const [first] = await logOf("One");
  assertEquals([first.before, first.after.name, first.after.keys[0].rpm], [null, "One", 5]);
  assertEquals([first.path, first.account, first.address, first.request_id], ["accounts/demo", "demo", null, null]);
  assertEquals((await logOf("One")).length, 1);
  const [second, ...others] = await logOf("Two");
  assertEquals([second.before, second.after, others.length], [{ name: "One" }, { name: "Two" }, 1]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("an unknown query parameter of the admin API is refused, naming the nearest known one", async () => {
  const { gateway, call } = await start();
  const { status, json } = await call(READ, "GET", "/admin/v1/audit?acount=acme");
  assertEquals([status, json.error.field], [400, "acount"]);
  assertEquals(json.error.message, 'Cannot read "acount": no such parameter; did you mean "account"?');
  const none = await call(READ, "GET", "/admin/v1/accounts/demo?limit=1");
  assertEquals(none.json.error.message, 'Cannot read "limit": no such parameter; there are none here');
  await gateway.stop();
});

Deno.test("with server.admin_listen the admin API is at its own address only", async () => {
  const { gateway, call } = await start({ admin_listen: "127.0.0.1:0" });
  const { address, app: { adminAddress } } = gateway;
  assert(address !== adminAddress);
  const hidden = await call(OWNER, "GET", "/admin/v1/accounts", undefined, address);
  const unknown = await call(OWNER, "GET", "/nothing/v1/accounts", undefined, address);
  assertEquals([hidden.status, hidden.text.replace("/admin/", "/nothing/")], [404, unknown.text]);
  assertEquals((await call(OWNER, "GET", "/metrics", undefined, address)).status, 404);
  assertEquals((await call(null, "GET", "/readyz?verbose", undefined, address)).status, 401);
  assertEquals((await call(OWNER, "GET", "/admin/v1/accounts")).status, 200);
  assertEquals((await call(null, "GET", "/admin/v1/accounts")).status, 401);
  assertEquals((await call(null, "GET", "/metrics")).status, 200);
  assertEquals((await call(null, "GET", "/readyz?verbose")).json.status, "ready");
  assertEquals((await call(gateway.key, "GET", "/v1/models")).status, 404);
  await gateway.stop();
  for (const at of [address, adminAddress]) {
    assertEquals(await fetch(at).then(() => "answered", () => "closed"), "closed");
  }
});

Deno.test("wrong keys get exact 401s, then a delay; a right key from the same address is answered at once", async () => {
  const { gateway, call } = await start({ trusted_proxies: ["127.0.0.1"] });
  const chat = async (key: string, address: string) => {
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-forwarded-for": address,
      },
      body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "Hello" }] }),
    });
    return { status: response.status, body: await response.json() };
  };
  const bodies = new Set<string>();
  for (let n = 0; n < 12; n++) {
    const { status, body } = await chat(`a-wrong-key-number-${n}`, "192.0.2.1");
    bodies.add(`${status} ${JSON.stringify(body)}`);
  }
  assertEquals(bodies.size, 1, "delayed answers are the same");
  assertEquals((await chat(gateway.key, "192.0.2.1")).status, 200);
  // Too many at once: some are refused, and none of the callers with a right key is.
  const many = Array.from({ length: 60 }, (_, n) => chat(`another-wrong-key-${n}`, "192.0.2.1"));
  const neighbours = await Promise.all(Array.from({ length: 5 }, () => chat(gateway.key, "192.0.2.1")));
  assertEquals(neighbours.map(({ status }) => status), Array(5).fill(200));
  const statuses = (await Promise.all(many)).map(({ status }) => status);
  assertEquals([...new Set(statuses)].toSorted(), [401, 429]);
  assertEquals((await call("a-wrong-admin-key", "GET", "/admin/v1/accounts")).status, 401);
  await gateway.stop();
});
