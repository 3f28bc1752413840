import { assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../../../src/entry/cli/run.ts";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { eventually } from "../../support/account_money.ts";
import { arePaired } from "../../support/apps.ts";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

/** A vendor with xAI's API whose videos complete immediately; a test sets the responses of its result host. */
function startVendor() {
  let answer: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  /** Ids of the jobs that do not end, by a word in their prompt. */
  const endless = new Set<string>();
  const credentials: (string | null)[] = [];
  const controller = new AbortController();
  const options = { port: 0, hostname: "127.0.0.1", signal: controller.signal, onListen() {} };
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(options, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/results/")) {
      credentials.push(request.headers.get("authorization"));
      return await answer(request);
    }
    if (request.method === "POST") {
      const id = crypto.randomUUID();
      if ((await request.text()).includes("[[never]]")) endless.add(id);
      return Response.json({ request_id: id });
    }
    if (endless.has(pathname.slice(pathname.lastIndexOf("/") + 1))) return Response.json({ status: "pending" });
    return Response.json({ status: "done", video: { url: `${url}/results/video.mp4?token=abc`, duration: 5 } });
  });
  const url: string = `http://127.0.0.1:${server.addr.port}`;
  return {
    url,
    credentials,
    answerWith: (next: typeof answer) => void (answer = next),
    async stop() {
      controller.abort();
      await server.finished;
    },
  };
}

const vendor = startVendor();
const gateway = await startVideoGateway({
  config: {
    providers: { slow: { kind: "xai", base_url: vendor.url, api_key: "vendor-key-0123456789" } },
    models: [{
      id: "sandbox/video-1",
      video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
      serves: [{ provider: "slow" }],
    }],
  },
});
const { call, create, until } = gateway;
const get = async (address: string, init: RequestInit = {}) => {
  const response = await fetch(address, init);
  return { status: response.status, headers: response.headers, bytes: await response.bytes() };
};
const admin = { authorization: `Bearer ${gateway.adminKey}` };

/** Resolves when the results of a task are not being copied. */
async function copied(id: string): Promise<void> {
  await eventually(async () => !(await call("GET", `/admin/v1/tasks/${id}`, undefined, admin)).json.is_copying);
}

Deno.test("the address of a copy works after completion, whole, in part and by HEAD, and does not reveal the vendor", async () => {
  const task = await until(await create(), "completed");
  const mirror = itemAt(task.mirror_urls as string[], 0);
  assertEquals((await get(mirror)).status, 502);
  vendor.answerWith((request) => {
    const part = request.headers.get("range") === "bytes=5-9";
    const headers: Record<string, string> = part ? { "content-range": `bytes 5-9/${SAMPLE_VIDEO.length}` } : {};
    return new Response(part ? SAMPLE_VIDEO.slice(5, 10) : SAMPLE_VIDEO, { status: part ? 206 : 200, headers });
  });
  const all = await get(mirror);
  assertEquals([all.status, all.bytes, all.headers.get("content-type")], [200, SAMPLE_VIDEO, "video/mp4"]);
  assertEquals([all.headers.get("location"), all.headers.get("x-content-type-options")], [null, "nosniff"]);
  assertEquals(all.headers.get("content-security-policy"), "sandbox");
  assertEquals(all.headers.get("content-disposition"), `inline; filename="${task.id}-0.mp4"`);
  const part = await get(mirror, { headers: { range: "bytes=5-9" } });
  assertEquals([part.status, part.bytes], [206, SAMPLE_VIDEO.slice(5, 10)]);
  assertEquals(part.headers.get("content-range"), `bytes 5-9/${SAMPLE_VIDEO.length}`);
  const head = await get(mirror, { method: "HEAD" });
  assertEquals([head.status, head.headers.get("content-length"), head.bytes.length], [
    200,
    String(SAMPLE_VIDEO.length),
    0,
  ]);
  const content = await get(`${gateway.address}/v1/videos/${task.id}/content`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  assertEquals([content.status, content.bytes], [200, SAMPLE_VIDEO]);
  assertEquals(new Set(vendor.credentials), new Set([null]));
  assertEquals((await get(mirror.replace("-0.mp4", "-1.mp4"))).status, 403);
});

Deno.test("DELETE with purge=true removes an ended task with its result; other values of purge are rejected", async () => {
  const id = await create();
  const task = await until(id, "completed");
  await copied(id); // a copy that ends later removes its file
  for (const query of ["purge=1", "purge=false", "purge=", "purge=true&purge=true"]) {
    const { status, json } = await call("DELETE", `/v1/videos/${id}?${query}`);
    assertEquals([status, json.error.code], [400, "invalid_request"], query);
  }
  const other = await call("DELETE", `/v1/videos/${id}?purge=true`, undefined, {
    authorization: `Bearer ${gateway.otherKey}`,
  });
  assertEquals(other.status, 404);
  const removed = await call("DELETE", `/v1/videos/${id}?purge=true`);
  assertEquals([removed.status, removed.json], [200, { id, object: "video.deleted", deleted: true }]);
  const gone = await Promise.all([
    call("GET", `/v1/videos/${id}`),
    call("DELETE", `/v1/videos/${id}`),
    call("DELETE", `/v1/videos/${id}?purge=true`),
    call("GET", `/v1/videos/${id}/content`),
    call("GET", `/admin/v1/tasks/${id}`, undefined, admin),
  ]);
  assertEquals(gone.map(({ status }) => status), [404, 404, 404, 404, 404]);
  const mirror = itemAt(task.mirror_urls as string[], 0);
  assertEquals((await get(mirror)).status, 404);
  const listed = (await call("GET", "/v1/videos?limit=100")).json.data.map((each: { id: string }) => each.id);
  assertEquals(listed.includes(id), false);
  // A copy in progress can complete after its task was removed.
  const { filesFolder } = gateway;
  const file = `${filesFolder}/${new URL(mirror).pathname.split("/").at(-1)}`;
  await Deno.writeFile(file, SAMPLE_VIDEO);
  assertEquals((await get(mirror)).status, 404);
  await Deno.remove(file);
  const { json: ledger } = await call("GET", "/admin/v1/accounts/demo/ledger?limit=100", undefined, admin);
  assertEquals(ledger.data.filter((line: { reference: string }) => line.reference === id).length, 2);
});

Deno.test("DELETE rejects unknown query parameters and dry runs, and the task continues", async () => {
  const id = await create({ prompt: "A lighthouse [[never]]" });
  for (const query of ["?Purge=true", "?purge=true&force=1", "?key=x"]) {
    const { status, json } = await call("DELETE", `/v1/videos/${id}${query}`);
    assertEquals([status, json.error.code], [400, "invalid_request"], query);
  }
  const tried = await call("DELETE", `/v1/videos/${id}`, undefined, { "x-service-dry-run": "true" });
  assertEquals([tried.status, tried.json.error.code], [400, "invalid_request"]);
  assertEquals((await call("GET", `/v1/videos/${id}`)).json.status, "pending");
});

Deno.test("switchyard tasks mirror copies results again; a task without results is 409, an unknown one 404", async () => {
  vendor.answerWith(() => new Response(SAMPLE_VIDEO));
  const id = await create();
  await until(id, "completed");
  const file = `${gateway.filesFolder}/${id}-0.mp4`;
  await copied(id);
  await Deno.truncate(file, 10);
  const { status, json } = await call("POST", `/admin/v1/tasks/${id}/mirror`, undefined, admin);
  assertEquals([status, json.id, json.is_copying], [202, id, true]);
  await copied(id);
  assertEquals((await Deno.stat(file)).size, SAMPLE_VIDEO.length);
  const unknown = await call("POST", `/admin/v1/tasks/${crypto.randomUUID()}/mirror`, undefined, admin);
  assertEquals(unknown.status, 404);
  assertEquals(await run(["tasks", "mirror"]), 2);
});

Deno.test("readyz reports the file usage", async () => {
  const { json } = await call("GET", "/readyz?verbose", undefined, admin);
  assertEquals([json.status, json.files.state, json.files.quota_bytes], ["ready", "ok", null]);
  // Of several gateways, each counts at once what it has written, and what the others have written some time later.
  assertEquals(json.files.bytes >= (arePaired ? 0 : SAMPLE_VIDEO.length), true);
});

Deno.test("markup that a vendor sends as a result is not served", async () => {
  vendor.answerWith(() => new Response("<script>alert(1)</script>", { headers: { "content-type": "text/html" } }));
  const task = await until(await create(), "completed");
  const response = await get(itemAt(task.mirror_urls as string[], 0));
  assertEquals([response.status, response.headers.get("content-type")], [502, "application/json"]);
  assertEquals(new TextDecoder().decode(response.bytes).includes("script"), false);
});

Deno.test("operators get the addresses of results by the role owner, and cancel tasks as their callers", async () => {
  vendor.answerWith(() => new Response(SAMPLE_VIDEO, { headers: { "content-type": "video/mp4" } }));
  const post = async (path: string, key = gateway.adminKey) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = path.startsWith("/admin-keys") ? JSON.stringify({ name: "writer", role: "write" }) : null;
    const response = await fetch(`${gateway.address}/admin/v1${path}`, { method: "POST", headers, body });
    return { status: response.status, body: await response.json() };
  };
  const task = await until(await create(), "completed");
  const { status, body } = await post(`/tasks/${task.id}/results`);
  assertEquals([status, body.data.length, body.data[0].type, body.data[0].index], [200, 1, "video", 0]);
  assertEquals((await get(body.data[0].url)).bytes, SAMPLE_VIDEO);
  const writer = (await post("/admin-keys")).body.secret;
  assertEquals((await post(`/tasks/${task.id}/results`, writer)).status, 403);
  assertEquals((await post(`/tasks/${crypto.randomUUID()}/results`)).status, 404);
  const ended = await post(`/tasks/${task.id}/cancel`, writer);
  assertEquals([ended.status, ended.body.error.code], [400, "invalid_request"]);
  const audit = await get(`${gateway.address}/admin/v1/audit`, { headers: admin });
  assertStringIncludes(new TextDecoder().decode(audit.bytes), `/admin/v1/tasks/${task.id}/results`);
  assertEquals(new TextDecoder().decode(audit.bytes).includes("signature="), false);
});

Deno.test({
  name: "the gateway of the result tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
});
