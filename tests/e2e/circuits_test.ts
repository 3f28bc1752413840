import { assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { eventually } from "../support/account_money.ts";
import {
  answer as httpAnswer,
  type ScriptedUpstream,
  startScriptedUpstream,
  type WireRequest,
} from "../support/scripted_upstream.ts";
import { type CallerProtocol, CHAT, RESPONSES, sendAs } from "./caller_protocols.ts";

/** A vendor's response to a request, in bytes; null closes the connection without one. */
type Script = (request: WireRequest) => string | null;

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  httpAnswer(status, JSON.stringify(body), headers);
const failure = (status: number, message: string, headers: Readonly<Record<string, string>> = {}) =>
  json(status, { error: { message, type: "any", code: null, param: null } }, headers);

const MODEL_LIST = json(200, { object: "list", data: [] });

/** A reply of the chat or the responses format, depending on the path. */
function reply({ path }: WireRequest): string {
  if (path.endsWith("/models")) return MODEL_LIST;
  if (path.endsWith("/responses")) {
    const content = [{ type: "output_text", text: "fine", annotations: [] }];
    const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
    const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 };
    return json(200, { id: "resp_1", object: "response", status: "completed", model: "m", output, usage });
  }
  const choices = [{ index: 0, message: { role: "assistant", content: "fine" }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  return json(200, { id: "c1", object: "chat.completion", created: 1, model: "m", choices, usage });
}

/** Fails with these bytes where the prompt contains `bad`; succeeds otherwise. */
const badWhen = (bytes: string | null): Script => (request) => request.body.includes("bad") ? bytes : reply(request);

function vendorOf(script: () => Script): ScriptedUpstream {
  return startScriptedUpstream(async (side) => {
    for (let request; (request = await side.request()) !== null;) {
      const bytes = script()(request);
      if (bytes === null) return side.close();
      await side.say(bytes);
    }
  });
}

interface StageOptions {
  readonly first: Script;
  readonly second?: Script;
  readonly speaks?: "chat" | "responses";
  readonly clock?: Clock;
}

/** A gateway with the accounts `a` and `b` in front of two vendors; the first is preferred. */
async function startStage({ first, second = reply, speaks = "chat", clock }: StageOptions) {
  const scripts = { first, second };
  const vendors = { first: vendorOf(() => scripts.first), second: vendorOf(() => scripts.second) };
  const keys = { a: newApiKey(), b: newApiKey() };
  const provider = ({ baseUrl }: ScriptedUpstream) => ({ kind: "openai", base_url: baseUrl, api_key: "vk", speaks });
  const serves = [{ provider: "first", weight: 1 }, { provider: "second", weight: 0 }];
  const gateway = await startTestGateway({
    ...(clock && { clock }),
    config: {
      accounts: Object.entries(keys).map(([id, key]) => ({ id, balance: "25.00", keys: [key] })),
      providers: { first: provider(vendors.first), second: provider(vendors.second) },
      models: [{ ...textModel("acme/m", []), serves }, textModel("acme/alone", ["first"])],
    },
  });
  const { address, adminKey } = gateway;
  return {
    gateway,
    scripts,
    vendors,
    /** Sends a request of an account; returns the status and the provider that answered. */
    async ask(account: "a" | "b", text: string, face: CallerProtocol = CHAT, model = "acme/m") {
      const answer = await sendAs(face, { address, key: keys[account] }, { model, text });
      return { ...answer, served: [answer.status, answer.headers.get("x-service-provider")] };
    },
    async listed(name = "first") {
      const headers = { authorization: `Bearer ${adminKey}` };
      const { data } = await (await fetch(`${address}/admin/v1/providers`, { headers })).json();
      return data.find((each: { name: string }) => each.name === name);
    },
    async ready(query = "") {
      const response = await fetch(`${address}/readyz${query}`, { headers: { authorization: `Bearer ${adminKey}` } });
      return { status: response.status, text: await response.text() };
    },
    posts: (name: "first" | "second" = "first") => vendors[name].seen.filter(({ method }) => method === "POST").length,
    probes: () => vendors.first.seen.filter(({ method }) => method === "GET").length,
    async stop() {
      await gateway.stop();
      await Promise.all(Object.values(vendors).map((vendor) => vendor.stop()));
    },
  };
}

const QUEUED = json(200, { id: "resp_1", object: "response", status: "queued", model: "m", output: [], usage: null });

Deno.test("unreadable replies do not redirect another account, however many there are", async () => {
  const stage = await startStage({ first: badWhen(QUEUED), speaks: "responses" });
  for (let time = 0; time < 6; time++) assertEquals((await stage.ask("a", "bad", RESPONSES)).served, [200, "second"]);
  for (let time = 0; time < 6; time++) {
    assertEquals((await stage.ask("b", "good", RESPONSES)).served, [200, "first"]);
  }
  assertEquals((await stage.listed()).circuit, "closed");
  await stage.stop();
});

for (
  const [name, bytes] of [
    ["resets after the request", null],
    ["429 with Retry-After", failure(429, "Slow down", { "retry-after": "3600" })],
    ["500", failure(500, "Oops")],
    ["503", failure(503, "Overloaded")],
    ["401 of its own", failure(401, "No")],
    ["a redirect", json(302, {})],
  ] as const
) {
  Deno.test(`one account's failures do not redirect another: ${name}`, async () => {
    const stage = await startStage({ first: badWhen(bytes) });
    assertEquals((await stage.ask("b", "good")).served, [200, "first"]);
    for (let time = 0; time < 8; time++) assertEquals((await stage.ask("a", "bad")).served, [200, "second"]);
    for (let time = 0; time < 4; time++) assertEquals((await stage.ask("b", "good")).served, [200, "first"]);
    await stage.stop();
  });

  Deno.test(`an account that was all the traffic does not redirect a later one: ${name}`, async () => {
    const stage = await startStage({ first: badWhen(bytes) });
    for (let time = 0; time < 8; time++) assertEquals((await stage.ask("a", "bad")).served, [200, "second"]);
    for (let time = 0; time < 4; time++) assertEquals((await stage.ask("b", "good")).served, [200, "first"]);
    await stage.stop();
  });
}

Deno.test("a provider that fails for two accounts has an open circuit for all of them", async () => {
  const stage = await startStage({ first: badWhen(failure(503, "Overloaded")) });
  for (const account of ["a", "b", "a", "b", "a"] as const) {
    assertEquals((await stage.ask(account, "bad")).served, [200, "second"]);
  }
  const asked = stage.posts();
  for (const account of ["a", "b"] as const) assertEquals((await stage.ask(account, "good")).served, [200, "second"]);
  assertEquals(stage.posts(), asked);
  const { state, models } = await stage.listed();
  assertEquals([state, models[0].circuit, models[0].open_for], ["resting", "open", null]);
  await stage.stop();
});

Deno.test("a provider that refuses connections has an open circuit for everybody after one account's calls", async () => {
  const stage = await startStage({ first: reply });
  await stage.vendors.first.stop();
  for (let time = 0; time < 6; time++) assertEquals((await stage.ask("a", "good")).served, [200, "second"]);
  const { state, connection } = await stage.listed();
  assertEquals([state, connection.circuit, connection.failures_in_a_row], ["resting", "open", 5]);
  const verbose = JSON.parse((await stage.ready("?verbose")).text);
  assertEquals(verbose, {
    status: "ready",
    providers: [{ name: "first", state: "resting", service: "on" }, { name: "second", state: "ready", service: "on" }],
    files: { bytes: 0, quota_bytes: null, state: "ok" },
    unhandled_errors: 0,
  });
  await stage.gateway.stop();
  await stage.vendors.second.stop();
});

for (
  const [name, first, second, status, retryAfter] of [
    ["429 with Retry-After before 500", failure(500, "Oops"), failure(429, "Wait", { "retry-after": "7" }), 429, "7"],
    ["429 before a bad credential", failure(401, "No"), failure(429, "Wait", { "retry-after": "7" }), 429, "7"],
    ["429 with Retry-After before 503", failure(429, "Wait", { "retry-after": "7" }), failure(503, "Busy"), 429, "7"],
    ["503 before 500", failure(500, "Oops"), failure(503, "Busy"), 503, null],
    ["504 before 500", failure(500, "Oops"), failure(504, "Late"), 504, null],
    ["500 before a bad credential", failure(401, "No"), failure(500, "Oops"), 502, null],
    ["500 before a closed connection's", failure(500, "Oops"), null, 502, null],
    ["403 before a bad credential", failure(401, "No"), failure(403, "Not in your region"), 403, null],
  ] as const
) {
  Deno.test(`when all candidates fail, the caller gets the most helpful failure: ${name}`, async () => {
    const stage = await startStage({ first: badWhen(first), second: badWhen(second) });
    const answer = await stage.ask("a", "bad");
    assertEquals([answer.status, answer.headers.get("retry-after")], [status, retryAfter]);
    await stage.stop();
  });
}

Deno.test("a 403 about the region is returned as one, is retried elsewhere, and marks nothing", async () => {
  const words = "Country, region, or territory not supported";
  const stage = await startStage({ first: badWhen(failure(403, words)) });
  assertEquals((await stage.ask("a", "bad")).served, [200, "second"]);
  const { status, json, served } = await stage.ask("a", "bad", CHAT, "acme/alone");
  assertEquals([status, served[1], json.error.type, json.error.message], [403, "first", "permission_error", words]);
  assertEquals([(await stage.listed()).state, stage.probes()], ["ready", 0]);
  await stage.stop();
});

Deno.test("401s that one account causes leave the provider available to others, as its credential is valid", async () => {
  const stage = await startStage({ first: badWhen(failure(401, "Incorrect API key provided")) });
  for (let time = 0; time < 5; time++) {
    const { status, json } = await stage.ask("a", "bad", CHAT, "acme/alone");
    assertEquals([status, json.error.type], [401, "upstream_auth_failed"]);
  }
  await eventually(() => stage.probes() === 1);
  for (let time = 0; time < 3; time++) assertEquals((await stage.ask("b", "good")).served, [200, "first"]);
  assertEquals([(await stage.listed()).state, stage.probes()], ["ready", 1]);
  await stage.stop();
});

Deno.test("a rejected credential marks the provider, which is probed in the background until it is accepted again", async () => {
  const clock = new ManualClock(Date.now());
  const stage = await startStage({ first: () => failure(401, "Incorrect API key provided"), clock });
  const { scripts, gateway } = stage;
  assertEquals((await stage.ask("a", "hi")).served, [200, "second"]);
  await eventually(async () => (await stage.listed()).state === "misconfigured");
  const asked = stage.posts();

  for (const account of ["a", "b", "a", "b"] as const) {
    assertEquals((await stage.ask(account, "hi")).served, [200, "second"]);
    const refused = await stage.ask(account, "hi", CHAT, "acme/alone");
    assertEquals([refused.status, refused.json.error.type, refused.served[1]], [401, "upstream_auth_failed", "first"]);
    assertEquals(refused.json.error.message, `Provider "first" rejected the gateway's credential`);
  }
  assertEquals(stage.posts(), asked, "no caller's request goes to the vendor");
  const { misconfigured_since } = await stage.listed();
  assertEquals(misconfigured_since, Math.floor(clock.now() / 1_000));

  assertEquals(await stage.ready(), { status: 200, text: "ready\n" });
  const verbose = await stage.ready("?verbose");
  assertEquals([verbose.status, JSON.parse(verbose.text)], [200, {
    status: "ready",
    providers: [{ name: "first", state: "misconfigured", service: "on" }, {
      name: "second",
      state: "ready",
      service: "on",
    }],
    files: { bytes: 0, quota_bytes: null, state: "ok" },
    unhandled_errors: 0,
  }]);

  const probes = stage.probes();
  clock.advance(10_000);
  await eventually(() => stage.probes() === probes + 1);
  assertEquals((await stage.listed()).state, "misconfigured");

  scripts.first = reply;
  await eventually(async () => {
    clock.advance(20_000);
    return (await stage.listed()).state === "ready";
  });
  assertEquals((await stage.ask("b", "hi")).served, [200, "first"]);
  const logged = (event: string) => gateway.logLines.filter((line) => line.includes(`"event":"${event}"`));
  assertEquals([logged("provider_misconfigured").length, logged("provider_credential_accepted").length], [1, 1]);
  assertStringIncludes(itemAt(logged("provider_misconfigured"), 0), '"level":"error"');
  await stage.stop();
});
