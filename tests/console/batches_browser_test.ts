import { assert, assertEquals } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { checkShown, endBrowser, type StageGateway, stageTest } from "./stage.ts";

const WAIT_MS = 60_000;
const folder = await Deno.makeTempDir();
const config = { files: `${folder}/files` };

function line(customId: string, content: string): Record<string, unknown> {
  const body = { model: "sandbox/chat-1", max_tokens: 20, messages: [{ role: "user", content }] };
  return { custom_id: customId, body };
}

async function create({ address, key }: StageGateway, requests: readonly unknown[]): Promise<string> {
  const call = callerOf(address, { authorization: `Bearer ${key}` });
  const batch = { endpoint: "/v1/chat/completions", completion_window: "24h", requests };
  return (await call("POST", "/v1/batches", batch)).json.id;
}

async function untilCompleted({ address, key }: StageGateway, id: string): Promise<void> {
  const call = callerOf(address, { authorization: `Bearer ${key}` });
  const deadline = performance.now() + WAIT_MS;
  let status;
  do ({ json: { status } } = await call("GET", `/v1/batches/${id}`)); while (
    status !== "completed" && performance.now() < deadline
  );
  assertEquals(status, "completed");
}

stageTest(
  "a batch shows its lines, its failures by error and its money, and owners download the results",
  async (stage) => {
    const { page, open, signIn, gateway } = stage;
    const id = await create(gateway, [
      line("one", "Hi"),
      line("two", "[[fail 400 No]]"),
      line("three", "[[fail 400 No]]"),
    ]);
    await untilCompleted(gateway, id);
    await signIn(gateway.adminKey);
    await open("batches");
    await page.getByText("3 of 3, 2 failed").waitFor();
    await checkShown(stage, "batches");
    await page.setViewportSize({ width: 1_280, height: 860 });
    await page.click(`a[href$="${id}"]`);
    await page.getByText("Failed lines by error").first().waitFor();
    await page.getByText("Cost so far").waitFor();
    await page.getByText("Estimate").waitFor();
    await checkShown(stage, "batches-batch");
    await page.setViewportSize({ width: 1_280, height: 860 });
    const download = page.waitForEvent("download");
    await page.click("text=Download the results");
    const file = await download;
    assertEquals(file.suggestedFilename(), `${id}_output.jsonl`);
    assertEquals(JSON.parse(await Deno.readTextFile(await file.path())).custom_id, "one");
    await open("audit");
    await page.getByText(`read the results of the batch ${id}`).waitFor();
  },
  { config },
);

stageTest("a running batch is cancelled", async ({ page, open, signIn, gateway }) => {
  const id = await create(gateway, [line("one", "[[stall 600000]]")]);
  await signIn(gateway.adminKey);
  await open(`batches/${id}`);
  await page.getByText("0 of 1").waitFor();
  await page.click("text=Cancel the batch");
  await page.getByText("being cancelled").waitFor();
}, { config });

stageTest("a caller sees the batches of its own key, what is wrong with one, and its results", async (stage) => {
  const { page, open, signIn, gateway } = stage;
  const done = await create(gateway, [line("one", "Hi")]);
  await untilCompleted(gateway, done);
  const invalid = await create(gateway, [{ custom_id: "one", body: { model: "sandbox/none", messages: [] } }]);
  await signIn(gateway.key);
  await open("batches");
  await page.getByText("1 of 1").waitFor();
  await page.click(`a[href$="${invalid}"]`);
  await page.getByText("What is wrong with the lines").first().waitFor();
  await open(`batches/${done}`);
  const download = page.waitForEvent("download");
  await page.click("text=Download the results");
  assert((await Deno.readTextFile(await (await download).path())).includes('"custom_id":"one"'));
}, { config });

stageTest("a caller sees batches of every format, with their errors, and cancels one", async (stage) => {
  const { page, open, signIn, gateway } = stage;
  const call = callerOf(gateway.address, {
    authorization: `Bearer ${gateway.key}`,
    "anthropic-version": "2023-06-01",
  });
  await create(gateway, [line("one", "Hi")]);
  const message = (id: string, content: string) => ({
    custom_id: id,
    params: { model: "sandbox/chat-1", max_tokens: 20, messages: [{ role: "user", content }] },
  });
  const messages = await call("POST", "/msgcompat/v1/messages/batches", {
    requests: [message("one", "Hi"), message("two", "[[fail 400 No]]")],
  });
  await call("POST", "/gencompat/v1beta/models/sandbox/chat-1:batchGenerateContent", {
    batch: {
      inputConfig: { requests: { requests: [{ request: { contents: [{ parts: [{ text: "[[stall 600000]]" }] }] } }] } },
    },
  });
  await signIn(gateway.key);
  await open("batches");
  await page.getByText("2 of 2, 1 failed").waitFor();
  for (const format of ["OpenAI", "Anthropic", "Google"]) await page.getByRole("cell", { name: format }).waitFor();
  await checkShown(stage, "caller-batches");
  await page.setViewportSize({ width: 1_280, height: 860 });
  await page.getByRole("row", { name: "Anthropic" }).getByRole("link").first().click();
  await page.getByRole("heading", { name: messages.json.id }).waitFor();
  await page.getByText("Anthropic, requests in the create").waitFor();
  await page.getByRole("cell", { name: "invalid_request_error" }).waitFor();
  await page.getByText("Cost so far").waitFor();
  await page.getByText("Estimate").waitFor();
  const download = page.waitForEvent("download");
  await page.click("text=Download the results");
  const results = await Deno.readTextFile(await (await download).path());
  assertEquals(results.trimEnd().split("\n").map((each) => JSON.parse(each).custom_id), ["one", "two"]);
  await open("batches");
  await page.getByRole("row", { name: "Google" }).getByRole("link").first().click();
  await page.getByText("0 of 1").waitFor();
  await page.click("text=Cancel the batch");
  await page.getByText("being cancelled").waitFor();
}, { config });

endBrowser();

Deno.test("the folder of these tests is removed", async () => await Deno.remove(folder, { recursive: true }));
