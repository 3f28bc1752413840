import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { checkPage, endBrowser, stageTest } from "./stage.ts";
import { stateOf } from "../support/patience.ts";

stageTest("a key is limited, changed, rotated and revoked on its page, with what is left", async (stage) => {
  const { gateway, page, open, chat, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("accounts/demo?form=key");
  await page.fill("input[name=name]", "<b>shop</b>");
  await page.fill("input[name=rpm]", "2");
  await page.fill("input[name=budget]", "0.5");
  await page.click("text=More limits");
  await page.fill("input[name=models]", "sandbox/chat-1");
  await page.click("text=Show the difference");
  await page.click("text=Create the key");
  const secret = await page.locator(".secret code").innerText();
  await chat("sandbox/chat-1", secret);
  await page.click("text=Open the account");

  await page.click(`a.row-link:has-text("${secret.slice(0, 12)}")`);
  const left = page.locator("section", { hasText: "Remaining for this key" }).last();
  await left.getByText("Requests this minute").waitFor();
  assertMatch(await left.innerText(), /Requests this minute\s+[12]\s/);
  assertStringIncludes(await left.innerText(), "Budget");
  const path = new URL(page.url()).pathname.slice("/console/".length);
  await checkPage(stage, path, "accounts-demo-key");

  await page.fill("input[name=rpm]", "1");
  await page.fill("input[name=models]", "");
  await page.click("text=Save");
  await page.getByText("Saved.").waitFor();
  const refusedCode = await codeOf(await chat("sandbox/chat-1", secret), gateway);
  assertEquals(refusedCode, "rate_limited");

  await page.selectOption("select[name=overlap]", "3600");
  await page.click("text=Rotate the key");
  const rotated = await page.locator(".secret code").innerText();
  assertEquals(await codeOf(await chat("sandbox/chat-1", rotated), gateway), null);
  await page.click("button.danger");
  await page.getByText("revoked", { exact: true }).waitFor();
  await checkPage(stage, "accounts/demo/limits", "accounts-demo-limits");
});

stageTest("keys are shown newest first, and more on demand; the account has what is left", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
  const account = `${gateway.address}/admin/v1/accounts/demo`;
  for (let count = 0; count < 51; count++) {
    const body = JSON.stringify({ name: `key ${count}` });
    await (await fetch(`${account}/keys`, { method: "POST", headers, body })).text();
  }
  await (await fetch(account, { method: "PATCH", headers, body: '{"concurrency":7}' })).text();
  await signIn(gateway.adminKey);
  await open("accounts/demo");
  const keys = page.getByRole("table", { name: "Keys of the account" });
  await keys.getByText("key 50").waitFor();
  assertEquals(await keys.getByRole("row").count(), 51);
  assertStringIncludes(await keys.getByRole("row").nth(1).innerText(), "key 50");
  await page.getByRole("button", { name: "Show more" }).first().click();
  await keys.getByText("key 0", { exact: true }).waitFor();
  assertEquals(await keys.getByRole("row").count(), 53);
  for (const path of ["accounts/demo", "accounts/demo/limits"]) {
    await open(path);
    const left = page.locator("section", { hasText: "Remaining for this account" });
    assertMatch(await left.innerText(), /Concurrent requests\s+7/);
  }
});

stageTest("an account is erased after its id was typed, and its webhook secret is rotated before", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("accounts");
  await page.fill("input[name=id]", "leaving");
  await page.click("text=Create account");
  await page.locator(".secret code").waitFor();
  await open("accounts/leaving");
  await page.click("text=Rotate the secret");
  await page.locator(".secret code").waitFor();
  const erase = page.getByRole("button", { name: "Erase the account" });
  assertEquals(await erase.isDisabled(), true);
  await page.fill("input[name=confirm]", "leavin");
  assertEquals(await erase.isDisabled(), true);
  await page.fill("input[name=confirm]", "leaving");
  await erase.click();
  await page.getByText("erased", { exact: true }).waitFor();
});

stageTest("limits and the overdraft of an account are changed", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("accounts/demo/limits");
  await page.fill("input[name=concurrency]", "7");
  await page.fill("input[name=overdraft]", "1.5");
  await page.click("text=Save");
  await page.getByText("Saved.").waitFor();
  await open("accounts/demo");
  await page.getByText("7 concurrent").waitFor();
  await page.getByText("$1.50").waitFor();
});

stageTest("an account is created with a balance, made unlimited and limited again", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("accounts");
  await page.fill("input[name=id]", "open");
  await page.fill("input[name=balance]", "3.00");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("$3.00").waitFor();
  for (const [kind, shown] of [["unlimited", "Unlimited"], ["prepaid", "Overdraft"]] as const) {
    await open("accounts/open/limits");
    await page.selectOption("select[name=balance]", kind);
    await page.click("text=Save");
    await page.getByText("Saved.").waitFor();
    await open("accounts/open");
    await page.getByText(shown, { exact: true }).waitFor();
    await page.getByText("$3.00").first().waitFor();
  }
});

stageTest("the ledger of an account has its credits and its charges, the newest first", async (stage) => {
  const { gateway, page, chat, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("accounts/demo");
  const credit = page.locator("section", { hasText: "Each reference is credited only once." });
  await credit.locator("input[name=amount]").fill("3.25");
  await credit.locator("input[name=reference]").fill("<i>invoice-7</i>");
  await credit.getByRole("button", { name: "Add credit" }).click();
  const ledger = page.getByRole("region", { name: "Ledger" });
  const rows = ledger.getByRole("row");
  const newest = rows.nth(1);
  await newest.getByText("<i>invoice-7</i>").waitFor();
  assertMatch((await newest.innerText()).replaceAll(/\s+/g, " "), /credit <i>invoice-7<\/i> \$3\.25 \$0\.00/);
  const adjustment = page.locator("section", { hasText: "The reason appears in the ledger." });
  await adjustment.locator("input[name=amount]").fill("-1");
  await adjustment.locator("input[name=reason]").fill("<b>a wrong</b> credit");
  await adjustment.getByRole("button", { name: "Adjust the balance" }).click();
  await newest.getByText("<b>a wrong</b> credit").waitFor();
  assertMatch((await rows.nth(3).innerText()).replaceAll(/\s+/g, " "), /credit .*\$25\.00/);
  const charged = await chat("sandbox/chat-1");
  await codeOf(charged, gateway);
  await open("accounts/demo");
  await ledger.getByRole("cell", { name: "charge" }).first().waitFor();
  assertMatch((await newest.innerText()).replaceAll(/\s+/g, " "), /charge .*sandbox\/chat-1 −\$0\.00/);
  await newest.getByRole("link", { name: "sandbox/chat-1" }).click();
  await page.waitForURL(`**/requests/${charged}`);
});

stageTest("a cached content is listed and deleted", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  const created = await fetch(`${gateway.address}/gencompat/v1beta/cachedContents`, {
    method: "POST",
    headers: { "x-content-api-key": gateway.key, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", contents: [{ role: "user", parts: [{ text: "The handbook." }] }] }),
  });
  const { name } = await created.json();
  const used = await fetch(`${gateway.address}/gencompat/v1beta/models/sandbox/chat-1:generateContent`, {
    method: "POST",
    headers: { "x-content-api-key": gateway.key, "content-type": "application/json" },
    body: JSON.stringify({ cachedContent: name, contents: [{ role: "user", parts: [{ text: "Summarise it." }] }] }),
  });
  assertEquals(used.status, 200, await used.text());
  await signIn(gateway.adminKey);
  await checkPage(stage, "caches", "caches");
  await open("caches");
  await page.getByRole("cell", { name: /^1\s*last / }).waitFor();
  await page.click(`[aria-label="Delete the cache ${name.split("/").pop()}"]`);
  await page.getByText("No cached contents").waitFor();
});

/** The code of the error of a request; null without one. */
async function codeOf(
  id: string,
  { address, adminKey }: { readonly address: string; readonly adminKey: string },
): Promise<string | null> {
  const read = async () => {
    const response = await fetch(`${address}/admin/v1/requests/${id}`, {
      headers: { authorization: `Bearer ${adminKey}` },
    });
    return { isThere: response.ok, body: await response.json() };
  };
  const { body } = await stateOf(`${id} has a row`, read, ({ isThere }) => isThere);
  return body.error?.code ?? null;
}

stageTest(
  "an amount is checked before it is sent, and a credit and an adjustment change the balance",
  async (stage) => {
    const { gateway, page, open, signIn } = stage;
    await signIn(gateway.adminKey);
    await open("accounts/demo");
    const sent: string[] = [];
    page.on("request", (request) => void (request.method() === "POST" && sent.push(new URL(request.url()).pathname)));
    const credit = page.locator("section", { hasText: "Each reference is credited only once." });
    await credit.locator("input[name=amount]").fill("12,50");
    await credit.getByRole("button", { name: "Add credit" }).click();
    await credit.getByText("Enter a number such as 12.50.").waitFor();
    assertEquals(sent, []);
    await credit.locator("input[name=amount]").fill("12.50");
    assertEquals(await credit.locator(".problem").count(), 0);
    await credit.getByRole("button", { name: "Add credit" }).click();
    await page.getByText("$37.50").first().waitFor();
    const adjustment = page.locator("section", { hasText: "The reason appears in the ledger." });
    await adjustment.locator("input[name=amount]").fill("-7.5");
    await adjustment.locator("input[name=reason]").fill("a wrong credit");
    await adjustment.getByRole("button", { name: "Adjust the balance" }).click();
    await page.getByText("$30.00").first().waitFor();
    const path = "/console/api/admin/v1/accounts/demo";
    assertEquals(sent, [`${path}/credit`, `${path}/adjust`]);
  },
);

endBrowser();
