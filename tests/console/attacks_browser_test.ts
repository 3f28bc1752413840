import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { endBrowser, stageTest } from "./stage.ts";

/** Tries in the page of another origin, as `fetch` and as a form. The type is one that needs no preflight. */
const TRIES = [
  { path: "/console/api/admin/v1/accounts", body: '{"id":"stolen"}' },
  { path: "/console/api/admin/v1/accounts/demo/credit", body: '{"amount":"1000"}' },
  { path: "/console/session", body: '{"key":"a-key-of-the-attacker"}' },
];

stageTest("a page of another origin changes nothing, reads nothing and cannot frame the console", async (stage) => {
  const { gateway, page, context, open, signIn } = stage;
  await signIn(gateway.adminKey);
  // Another port of the same host is the same site, so the browser sends the cookie.
  const foreign = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response("<!doctype html><title>foreign</title>", { headers: { "content-type": "text/html" } }),
  );
  try {
    const home = `http://127.0.0.1:${foreign.addr.port}/`;
    const attack = async (run: (attacker: Page) => Promise<void>) => {
      const attacker = await context.newPage();
      await attacker.goto(home);
      await run(attacker);
      await attacker.close();
    };
    for (const { path, body } of TRIES) {
      const address = gateway.address + path;
      const options = { method: "POST", mode: "no-cors", credentials: "include", body };
      // The browser keeps the answer from the page, but sends the request.
      const sent = `fetch(${JSON.stringify(address)}, ${JSON.stringify(options)}).then(() => null, () => null)`;
      await attack((attacker) => attacker.evaluate(sent));
      await attack(async (attacker) => {
        const answered = attacker.waitForResponse(address);
        // The answer replaces the page of the script, which may then have no result.
        await attacker.evaluate(formOf(address, body)).catch(() => null);
        assertEquals((await answered).status(), 403, path);
      });
    }
    await attack(async (attacker) => {
      const address = JSON.stringify(`${gateway.address}/console/api/admin/v1/accounts`);
      const read = `fetch(${address}, {credentials: "include"}).then((answer) => answer.text(), () => "refused")`;
      assertEquals(await attacker.evaluate(read), "refused");
      await attacker.evaluate(framing(`${gateway.address}/console`));
      assertEquals(attacker.frames().map((each) => each.url().startsWith(gateway.address)), [false, false]);
    });
  } finally {
    await foreign.shutdown();
  }
  await open("accounts");
  await page.getByRole("link", { name: "demo" }).waitFor();
  assertEquals(await page.getByText("stolen").count(), 0);
  await page.getByText("$25.00").waitFor();
});

/** A script that shows an address in a frame, and ends when the frame is loaded or refused. */
function framing(address: string): string {
  return `new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => resolve(null);
    frame.src = ${JSON.stringify(address)};
    document.body.append(frame);
  })`;
}

/** A script that sends a form to an address, whose body is the text and an equals sign. */
function formOf(address: string, body: string): string {
  return `{
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", enctype: "text/plain", action: ${JSON.stringify(address)} });
    const field = document.createElement("input");
    field.name = ${JSON.stringify(body)};
    form.append(field);
    document.body.append(form);
    form.submit();
    null;
  }`;
}

stageTest("a caller sees the requests of its own account alone, and no page of operators", async (stage) => {
  const { gateway, page, open, chat, signIn } = stage;
  const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
  const post = async (path: string, body: unknown) => {
    const address = `${gateway.address}/admin/v1/accounts${path}`;
    return await (await fetch(address, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  await post("", { id: "rival", balance: "5" });
  const { secret } = await post("/rival/keys", {});
  const foreign = await chat("sandbox/chat-1", secret);
  const own = await chat("sandbox/any-1");
  await signIn(gateway.key);
  await open("requests");
  await page.click("text=Live");
  await page.waitForSelector(`a[href$="${own}"]`);
  assertEquals(await page.locator(`a[href$="${foreign}"]`).count(), 0);
  await open(`requests?q=${foreign}`);
  await page.getByText("No request matches").waitFor();
  await open(`requests/${foreign}`);
  assertStringIncludes(await page.locator("[role=alert]").innerText(), "No request of this account");
  for (const path of ["accounts", "providers", "configuration", "audit", "webhooks", "caches", "overview"]) {
    await open(path);
    await page.getByText("This page does not exist").waitFor();
  }
  const paths = ["accounts", "accounts/rival", "requests", `requests/${foreign}/bodies`, "config", "tasks"];
  const addresses = paths.map((path) => `/console/api/admin/v1/${path}`);
  const statuses = await page.evaluate(
    `Promise.all(${JSON.stringify(addresses)}.map((path) => fetch(path).then(({ status }) => status)))`,
  ) as number[];
  assert(statuses.every((status) => status === 404), String(statuses));
}, { failures: [404] });

endBrowser();
