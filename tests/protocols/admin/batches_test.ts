import { assert, assertEquals, assertMatch } from "@std/assert";
import { callerOf } from "../../support/gateway_call.ts";
import { startTestGateway } from "../../support/gateway.ts";

const folder = await Deno.makeTempDir();
const gateway = await startTestGateway({ config: { files: `${folder}/files` } });
const call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
const SECRET = "canary-4711";
const WAIT_MS = 60_000;

function line(customId: string, model: string, text: string): Record<string, unknown> {
  return { custom_id: customId, body: { model, max_tokens: 20, messages: [{ role: "user", content: text }] } };
}

async function create(requests: readonly unknown[]): Promise<string> {
  const fields = { endpoint: "/v1/chat/completions", completion_window: "24h", metadata: { note: SECRET } };
  return (await call("POST", "/v1/batches", { ...fields, requests })).json.id;
}

// deno-lint-ignore no-explicit-any -- a test looks wherever it likes
async function until(id: string, status: string): Promise<any> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const { json } = await admin("GET", `/admin/v1/batches/${id}`);
    if (json.status === status) return json;
    assert(performance.now() < deadline, `the batch is ${json.status}, not ${status}`);
  }
}

const invalid = await create([line(`${SECRET}-1`, "sandbox/none", "Hi")]);
const mixed = await create([
  line("one", "sandbox/chat-1", "Hi"),
  line("two", "sandbox/messages-1", `${SECRET} [[fail 400 No]]`),
  line("three", "sandbox/chat-1", "[[fail 400 No]]"),
]);
const ended = await until(mixed, "completed");
const slow = await create([line("one", "sandbox/chat-1", "[[stall 600000]]")]);
const ids = ({ json }: { json: { data: { id: string }[] } }) => json.data.map(({ id }) => id);

Deno.test("GET /admin/v1/batches/:batch has the lines, the failures by code and the money, and nothing of the caller", () => {
  const { failures, lines, hold, estimate, cost, account, endpoint, mode, has_output, has_errors } = ended;
  assertEquals(mode, "emulated");
  assertEquals(lines, { total: 3, completed: 1, failed: 2 });
  assertEquals(failures.map(({ count }: { count: number }) => count), [2]);
  assertEquals([account, endpoint, has_output, has_errors], ["demo", "/v1/chat/completions", true, true]);
  assertEquals([hold.captured, hold.state], [cost, "captured"]);
  assert(Number(cost) > 0 && Number(cost) < Number(estimate));
  assert(!JSON.stringify(ended).includes(SECRET));
});

Deno.test("GET /admin/v1/batches lists and filters the batches of all accounts, page by page", async () => {
  const get = (query: string) => admin("GET", `/admin/v1/batches${query}`);
  assertEquals(ids(await get("")), [slow, mixed, invalid]);
  assertEquals(ids(await get("?order=asc&account=demo")), [invalid, mixed, slow]);
  const first = await get("?limit=2");
  assertEquals([ids(first), first.json.next], [[slow, mixed], mixed]);
  const second = await get(`?limit=2&after=${first.json.next}`);
  assertEquals([ids(second), second.json.next], [[invalid], null]);
  assertEquals(ids(await get("?status=failed")), [invalid]);
  assertEquals(ids(await get("?account=other")), []);
  const createdAt = ended.created_at;
  assertEquals(ids(await get(`?from=${createdAt + 3_600}`)), []);
  assertEquals(ids(await get(`?from=${createdAt + 3_600}&order=asc`)), []);
  assertEquals(ids(await get(`?to=${createdAt - 3_600}`)), []);
  assertEquals(ids(await get(`?from=${createdAt - 3_600}&to=${createdAt + 3_600}`)), [slow, mixed, invalid]);
  assertEquals((await get("?status=lost")).json.error.field, "status");
  const failed = (await get("?status=failed")).json.data[0];
  assertEquals([failed.errors.length, failed.errors[0].line, JSON.stringify(failed).includes(SECRET)], [1, 1, false]);
  assertEquals((await admin("GET", "/admin/v1/batches/batch_1")).status, 404);
});

Deno.test("GET /admin/v1/batches/:batch/output and /errors are files for owners, and are audited", async () => {
  const output = await admin("GET", `/admin/v1/batches/${mixed}/output`);
  assertEquals([output.status, JSON.parse(output.text).custom_id], [200, "one"]);
  assertMatch(output.headers.get("content-disposition") ?? "", /attachment; filename="batch_[0-9a-f]+_output\.jsonl"/);
  assertEquals(output.headers.get("content-security-policy"), "sandbox");
  const errors = await admin("GET", `/admin/v1/batches/${mixed}/errors`);
  assertEquals(errors.text.trim().split("\n").length, 2);
  assertEquals((await admin("GET", `/admin/v1/batches/${slow}/output`)).status, 404);
  const reader = (await admin("POST", "/admin/v1/admin-keys", { name: "reader", role: "read" })).json.secret;
  const byReader = callerOf(gateway.address, { authorization: `Bearer ${reader}` });
  assertEquals((await byReader("GET", `/admin/v1/batches/${mixed}/output`)).status, 403);
  assertEquals((await byReader("GET", `/admin/v1/batches/${mixed}`)).status, 200);
  const { text } = await admin("GET", "/admin/v1/audit");
  assert(text.includes(`/admin/v1/batches/${mixed}/output`));
  assert(!text.includes(SECRET));
});

Deno.test("POST /admin/v1/batches/:batch/cancel cancels as the caller could, once", async () => {
  const cancelled = await admin("POST", `/admin/v1/batches/${slow}/cancel`);
  assertEquals([cancelled.status, cancelled.json.status], [200, "cancelling"]);
  assertEquals((await admin("POST", `/admin/v1/batches/${mixed}/cancel`)).status, 409);
});

Deno.test("the gateway of these tests stops", async () => {
  await gateway.stop();
  await Deno.remove(folder, { recursive: true });
});
