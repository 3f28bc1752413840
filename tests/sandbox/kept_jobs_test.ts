import { assertEquals, assertNotEquals } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { ManualClock } from "../support/manual_clock.ts";

const DAY_MS = 24 * 3_600_000;

/** A sandbox that keeps its jobs in that folder, and calls to its Ark. */
async function startArk(jobsFolder: string, clock: ManualClock) {
  const sandbox = await startSandbox({ port: 0, clock, jobsFolder });
  const call = async (path: string, body?: unknown) => {
    const response = await fetch(`${sandbox.baseUrls.ark}/contents/generations/tasks${path}`, {
      headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
      ...body !== undefined && { method: "POST", body: JSON.stringify(body) },
    });
    return { status: response.status, json: await response.json() };
  };
  const create = async (text: string) =>
    (await call("", { model: "seedance", content: [{ type: "text", text }] })).json.id;
  return { call, create, stop: () => sandbox.stop() };
}

Deno.test("a sandbox goes on with the jobs that an earlier one kept, and gives new jobs other ids", async () => {
  const folder = await Deno.makeTempDir();
  const [jobsFile, clock] = [`${folder}/ark.jsonl`, new ManualClock()];
  const before = await startArk(folder, clock);
  const id = await before.create("Waves [[queue 5000]]");
  await before.stop();
  await Deno.writeTextFile(jobsFile, '{"id":"cut', { append: true });

  clock.advance(1000);
  const after = await startArk(folder, clock);
  assertEquals((await after.call(`/${id}`)).json.status, "queued");
  const second = await after.create("More waves");
  assertNotEquals(second, id);
  clock.advance(5000);
  assertEquals((await after.call(`/${id}`)).json.status, "succeeded");
  const { json: { items } } = await after.call("?page_num=1&page_size=10");
  assertEquals(items.map((item: { id: string }) => item.id), [second, id]);
  await after.stop();

  clock.advance(DAY_MS);
  const later = await startArk(folder, clock);
  assertEquals((await later.call(`/${id}`)).status, 404, "a job of the day before is forgotten");
  assertEquals(await Deno.readTextFile(jobsFile), "");
  await later.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a sandbox without a folder of jobs makes the same ids as every other one", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 2; count++) {
    const { baseUrls, stop } = await startSandbox({ port: 0 });
    const response = await fetch(`${baseUrls.openai}/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
      body: JSON.stringify({ model: "chat-1", messages: [{ role: "user", content: "Hello" }] }),
    });
    ids.push((await response.json()).id);
    await stop();
  }
  assertEquals(ids[0], ids[1]);
});
