import { assertEquals, assertMatch } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { checkShown, endBrowser, stageTest } from "./stage.ts";

const folder = await Deno.makeTempDir();
const config = { files: `${folder}/files` };
const MODELS = ["sandbox/chat-1", "sandbox/messages-1"];

stageTest("a message becomes a batch, whose estimate is shown before it is created", async (stage) => {
  const { page, open, signIn, gateway } = stage;
  const call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
  const batches = async () => (await call("GET", "/v1/key/batches")).json.data;
  await signIn(gateway.key);
  await open("playground");
  await page.fill("textarea[name=prompt]", "Hello harbor");
  await page.fill("input[name=maxTokens]", "40");
  await page.getByLabel("Two models side by side").check();
  await page.getByRole("combobox", { name: "Model", exact: true }).selectOption(MODELS[0] ?? "");
  await page.getByRole("combobox", { name: "Second model" }).selectOption(MODELS[1] ?? "");
  await page.getByRole("button", { name: "Run as batch" }).click();
  await page.getByRole("button", { name: "Add a prompt" }).click();
  await page.getByLabel("Prompt 2").fill("[[fail 400 No]]");
  await page.getByRole("button", { name: "Show the estimate" }).click();
  const estimate = page.getByText(/4 lines cost at most/);
  assertMatch(await estimate.innerText(), /at most \$0\.\d+/);
  await page.getByText("The gateway runs all lines as single requests").waitFor();
  assertEquals(await batches(), []);
  // An estimate holds only for what was estimated.
  await page.getByLabel("Prompt 1").fill("Hello lighthouse");
  await estimate.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Show the estimate" }).click();
  await page.getByRole("button", { name: "Run the batch" }).click();
  await page.getByText("4 of 4, 2 failed").waitFor();
  await page.getByText(/so far, at most/).waitFor();
  await page.getByText(/You said: Hello lighthouse/).nth(1).waitFor();
  await page.getByText(/^\w+: .*No$/).nth(1).waitFor();
  await checkShown(stage, "playground-batch");
  await page.setViewportSize({ width: 1_280, height: 860 });
  const [{ id, caller_id: shown, lines }] = await batches();
  assertEquals(lines, { total: 4, completed: 2, failed: 2 });
  await page.getByRole("link", { name: "Open the batch" }).click();
  await page.getByRole("heading", { name: shown }).waitFor();
  const download = page.waitForEvent("download");
  await page.click("text=Download the results");
  const file = await download;
  assertEquals(file.suggestedFilename(), `${id}_output.jsonl`);
  const ids = (await Deno.readTextFile(await file.path())).trimEnd().split("\n").map((line) =>
    JSON.parse(line).custom_id
  );
  assertEquals(ids.sort(), MODELS.map((model) => `1 ${model}`));
}, { config });

stageTest("an operator runs a batch as an account, sees why one is refused, and cancels one", async (stage) => {
  const { page, open, signIn, gateway } = stage;
  await signIn(gateway.adminKey);
  await open("playground/batches");
  await page.getByLabel("Prompt 1").fill("[[stall 600000]]");
  await page.fill("input[name=maxTokens]", "30");
  await page.getByRole("button", { name: "Show the estimate" }).click();
  await page.getByRole("button", { name: "Run the batch" }).click();
  await page.getByText("0 of 1").waitFor();
  await page.getByRole("button", { name: "Cancel the batch" }).click();
  await page.getByText("being cancelled").waitFor();
  const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
  const { json: { data: [batch] } } = await admin("GET", "/admin/v1/batches");
  assertEquals([batch.account, batch.lines.total], ["demo", 1]);
  const path = "/admin/v1/accounts/demo/adjust";
  const { balance } = (await admin("GET", "/admin/v1/accounts/demo")).json;
  assertEquals((await admin("POST", path, { amount: `-${balance}`, reason: "test" })).status, 200);
  await page.getByLabel("Prompt 1").fill("Hello");
  await page.getByRole("button", { name: "Show the estimate" }).click();
  await page.getByText("The batch would be refused now.").waitFor();
}, { config });

endBrowser();

Deno.test("the folder of these tests is removed", async () => await Deno.remove(folder, { recursive: true }));
