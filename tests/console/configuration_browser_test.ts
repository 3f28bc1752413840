import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { checkPage, checkShown, endBrowser, fillJson, stageTest } from "./stage.ts";

stageTest("a setting is stored after its difference was shown, and rolled back", async (stage) => {
  const { gateway, page, open, chat, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("configuration");
  await page.selectOption("select[name=section]", "aliases");
  await page.fill("input[name=name]", "quick");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("A model's id or another alias").waitFor();
  await fillJson(page, "Value as JSON", '"sandbox/chat-1"');
  await page.click("text=Show the difference");
  await page.getByText("aliases.quick").nth(1).waitFor();
  assertEquals(await statusOf(gateway, "quick"), 404, "it was only tried");
  await page.click("text=Apply");
  await page.getByText("Applied as version 1").waitFor();
  assertEquals(await statusOf(gateway, "quick"), 200);

  await fillJson(page, "Value as JSON", '"sandbox/messages-1"');
  await page.click("text=Show the difference");
  await page.getByText('"sandbox/chat-1"').waitFor();
  await page.click("text=Apply");
  await page.getByText("Applied as version 2").waitFor();
  await chat("quick");
  await checkPage(stage, "configuration/aliases/quick", "configuration-setting");

  await open("configuration");
  await page.click("[aria-label='Roll back to version 1']");
  await page.click("text=Apply");
  await page.getByText("Applied as version 3").waitFor();
  await checkPage(stage, "configuration", "configuration");
});

stageTest("a configuration that does not change is shown, and offers no change", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("configuration");
  await page.getByText("keeps its configuration until it stops").waitFor();
  for (const part of ["New setting", "Reload the file", "History"]) {
    assertEquals(await page.getByText(part).count(), 0, part);
  }
  await page.getByRole("link", { name: "sandbox/chat-1" }).click();
  await page.getByText('"sandbox-openai"').waitFor();
  assertEquals(await page.getByText("Show the difference").count(), 0);
}, { start: startTestGateway });

stageTest("an alias is shown by its model, and moved to another model from there", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("configuration/aliases/team%2Fquick");
  await fillJson(page, "Value as JSON", '"sandbox/chat-1"');
  await page.click("text=Show the difference");
  await page.click("text=Apply");
  await page.getByText("Applied as version 1").waitFor();
  await open("models?q=team/quick");
  await page.getByRole("link", { name: "sandbox/chat-1" }).click();
  await page.getByRole("link", { name: "team/quick" }).click();
  await page.getByRole("heading", { name: "team/quick" }).waitFor();
  await fillJson(page, "Value as JSON", '"sandbox/messages-1"');
  await page.click("text=Show the difference");
  await page.click("text=Apply");
  await page.getByText("Applied as version 2").waitFor();
  await open("models/sandbox%2Fmessages-1");
  await page.getByRole("link", { name: "team/quick" }).waitFor();
  await open("models/sandbox%2Fchat-1");
  assertEquals(await page.getByText("team/quick").count(), 0);
});

stageTest("a setting with mistakes is refused with its problems, and changes nothing", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("configuration/providers/acme");
  await fillJson(page, "Value as JSON", '{"kind": "<b>nonsense</b>"}');
  await page.click("text=Show the difference");
  const notice = page.locator("[role=alert]");
  await notice.waitFor();
  assertStringIncludes(await notice.innerText(), "providers.acme.kind");
  assertEquals(await page.getByText("Apply").count(), 0);
  await fillJson(page, "Value as JSON", "{");
  await page.click("text=Show the difference");
  await page.getByText("This is not valid JSON").waitFor();
}, { failures: [400] });

stageTest("what the file owns is shown with its place, and not changed", async ({ gateway, page, open, signIn }) => {
  await signIn(gateway.adminKey);
  await open("configuration?view=file");
  await page.click("a[href$='/configuration/providers/sandbox-openai']");
  await page.getByText("Set in the file at").waitFor();
  assertStringIncludes(await page.locator("main").innerText(), "test.json providers.sandbox-openai");
  assertEquals(await page.locator("textarea, .json-editor").count(), 0);
  const secrets = await page.content();
  assertEquals(secrets.includes("sandbox-key-openai"), false);
});

stageTest("other roles see the configuration, and cannot change it", async ({ gateway, page, open, signIn }) => {
  const created = await fetch(`${gateway.address}/admin/v1/admin-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "writer", role: "write" }),
  });
  await signIn((await created.json()).secret);
  await open("configuration");
  await page.getByText("sandbox-openai").first().waitFor();
  assertEquals(await page.getByText("Reload the file").count(), 0);
  await open("configuration/aliases/quick");
  await page.getByText("Only an operator with the role owner can change this").waitFor();
});

async function statusOf(gateway: { readonly address: string; readonly key: string }, model: string): Promise<number> {
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Say hello" }] }),
  });
  await response.body?.cancel();
  return response.status;
}

stageTest("JSON is edited with the keyboard, and Escape and Tab leave the editor", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("configuration/aliases/quick");
  const editor = page.locator(".json-editor").getByRole("textbox", { name: "Value as JSON" });
  assertEquals(await editor.getAttribute("aria-description"), "Press Escape, then Tab, to leave the editor.");
  await editor.focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.type('"sandbox/chat-1');
  await page.keyboard.press("Tab");
  const hint = page.getByText("Esc, then Tab to leave");
  await hint.waitFor();
  await page.click("text=Show the difference");
  await page.getByText("This is not valid JSON").waitFor();
  await editor.focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.type('"');
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  assertEquals(await page.evaluate("document.activeElement.textContent"), "Show the difference");
  await page.keyboard.press("Enter");
  await page.getByText("Apply").waitFor();
  await checkShown(stage, "configuration-editor");
  await hint.waitFor({ state: "hidden" });
  const sizes = "(({ offsetHeight, lastChild }) => [offsetHeight, lastChild.scrollWidth - lastChild.clientWidth])";
  const head = await page.evaluate(`${sizes}(document.querySelector(".editor-head"))`) as number[];
  assert(Number(head[0]) <= 24, "the hidden hint has a line of its own in a narrow window");
  assertEquals(head[1], 0, "the hint is cut in a narrow window");
});

stageTest("JSON is edited as plain text if the editor cannot be loaded", async ({ gateway, page, open, signIn }) => {
  await page.route("**/json_editor_view-*", (route) => route.fulfill({ status: 404 }));
  await signIn(gateway.adminKey);
  await open("configuration/aliases/quick");
  await page.locator("textarea.code").fill('"sandbox/chat-1"');
  await page.click("text=Show the difference");
  await page.getByText("aliases.quick").nth(1).waitFor();
}, { failures: [404] });

endBrowser();
