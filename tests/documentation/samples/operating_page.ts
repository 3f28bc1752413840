import { ManualClock } from "../../support/manual_clock.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { callAdmin, callGateway, CHAT, untilEnded } from "./gateway_requests.ts";
import { modelOf, type OwnScenario, type OwnSession } from "./own_stage.ts";

/** The guides for operators. */
export const OPERATING_PAGES = ["run", "watch", "money", "customers"].map((name) => `docs/operating/${name}.md`);

const [RUN = "", WATCH = "", MONEY = "", CUSTOMERS = ""] = OPERATING_PAGES;
const [OPUS, GPT] = ["anthropic/claude-opus-4-8", "openai/gpt-5.5"];
const MODELS_OF_USAGE = [
  { ...modelOf(OPUS, "openai"), pricing: { prompt: "0.000005", completion: "0.000025" } },
  { ...modelOf(GPT, "openai"), pricing: { prompt: "0.00000175", completion: "0.000014" } },
];
const clock = new ManualClock(Date.parse("2026-11-20T12:00:00Z"));

/** The guides for operators, by their headings. */
export const OPERATING_PAGE: readonly OwnScenario[] = [
  { page: RUN, heading: "Check an installation", before: { doctor: withUnreachableVendor } },
  {
    page: CUSTOMERS,
    heading: "Keys and limits",
    options: { sections: { models: ["openai/gpt-6-sol", "openai/gpt-5.4-mini"].map((id) => modelOf(id, "openai")) } },
    before: { "--expires": inNextYear, curl: useCreatedKey },
  },
  { page: CUSTOMERS, heading: "Rotate a key", before: { "keys rotate": useKeyToRotate } },
  {
    page: RUN,
    heading: "A vendor's key is revoked",
    before: { "requests list": failWithWrongKey, "config reload": withRightKey },
  },
  { page: MONEY, heading: "Change a price", before: { "config diff": changePrice } },
  {
    page: WATCH,
    heading: "See what was sent",
    options: { sections: { request_log: { capture: { secret_key: "a-secret-of-the-samples" } } } },
    before: { "keys set": nameKey },
  },
  {
    page: MONEY,
    heading: "Yesterday's spend by model",
    options: { clock, sections: { models: MODELS_OF_USAGE, aliases: {} } },
    before: { "--group-by model": spendOnTwoDays },
  },
  { page: RUN, heading: "Who may do what" },
  { page: WATCH, heading: "The audit log" },
  { page: RUN, heading: "Tasks, webhooks and signing keys", before: { "tasks list": addTasks } },
  {
    page: CUSTOMERS,
    heading: "Erase a customer",
    options: { sections: { accounts: [], request_log: false } },
    before: { "accounts erase": addCustomer },
  },
  {
    page: WATCH,
    heading: "Find a failed request of an hour ago",
    options: { random: () => 0.9 },
    before: { "requests list": failTwice, req_6b03851debbf29427ebd6c2d: succeed, req_6b03851e: refuseTwice },
  },
];

/** Nothing listens at the vendor's address, and the gateway was never started. */
async function withUnreachableVendor({ stage, replaced }: OwnSession): Promise<void> {
  for (const name of ["files", "store"]) replaced.set(`${name}: ./data/`, `${name}: data/`);
  await stage.stopGateway();
  await Deno.remove(`${stage.folder}/data`, { recursive: true });
  await stage.writeConfig({
    accounts: [{ id: "acme" }],
    providers: { openai: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "key" } },
    models: [modelOf("openai/one", "openai")],
    aliases: {},
  });
}

/** The key of the page must not have expired when the test is run. */
function inNextYear({ replaced }: OwnSession): void {
  replaced.set("2027-01-01", `${new Date().getUTCFullYear() + 1}-01-01`);
}

/** The page calls the gateway with the key that it has created. */
function useCreatedKey({ printed, variables }: OwnSession): void {
  const secret = /"secret": "(.*)"/.exec(printed.map(({ text }) => text).join("\n"))?.[1];
  if (secret === undefined) throw new Error("no key was created");
  variables.SWITCHYARD_KEY = secret;
}

/** The page names the only key of the account. */
async function nameKey(session: OwnSession): Promise<void> {
  const { json } = await callAdmin(session, "GET", "/admin/v1/accounts/acme/keys");
  session.ids.set("key_01a205caac4f00001107514e6755", json.data[0].id);
}

/** A key with settings, which has been used. */
async function useKeyToRotate(session: OwnSession): Promise<void> {
  const fields = { name: "ci", rpm: 30, budget: { amount: "30", per: "month" } };
  const { json } = await callAdmin(session, "POST", "/admin/v1/accounts/acme/keys", fields);
  await chat(session, "openai/gpt-5.4-mini", json.secret);
  session.ids.set("key_01a21903a664000037c48581369a", json.id);
}

/** The vendor refuses the gateway's key. */
async function failWithWrongKey(session: OwnSession): Promise<void> {
  const { stage } = session;
  await reloadWith(session, {
    providers: { openai: stage.vendor.providerWith("sk-revoked") },
    models: [modelOf("openai/gpt-5.5", "openai")],
    aliases: {},
  });
  await chat(session, "openai/gpt-5.5");
}

async function withRightKey({ stage }: OwnSession): Promise<void> {
  await stage.writeConfig({ providers: { openai: stage.vendor.providerWith(stage.vendor.key) } });
}

async function changePrice(session: OwnSession): Promise<void> {
  const modelAt = (completion: string) => ({
    ...modelOf("openai/gpt-5.4", "openai"),
    pricing: { prompt: "0.000001", completion },
  });
  await reloadWith(session, { models: [modelAt("0.00001")], aliases: {} });
  await session.stage.writeConfig({ models: [modelAt("0.000012")] });
}

/** Each request uses 1,200 tokens of input and 300 of output. */
async function spendOnTwoDays(session: OwnSession): Promise<void> {
  const { json } = await callAdmin(session, "POST", "/admin/v1/accounts", { id: "globex", balance: "25" });
  if (json.id !== "globex") throw new Error("no account was created");
  const key = (await callAdmin(session, "POST", "/admin/v1/accounts/globex/keys", {})).json.secret;
  for (const model of [OPUS, GPT, GPT]) await chat(session, model);
  await chat(session, OPUS, key);
  clock.advance(24 * 60 * 60 * 1_000);
  for (const model of [OPUS, OPUS, GPT, GPT, GPT]) await chat(session, model);
  for (const model of [GPT, GPT]) await chat(session, model, key);
}

/** Tasks that the page names: one that has ended, and one whose webhook was delivered. */
async function addTasks(session: OwnSession): Promise<void> {
  const receiver = await callAdmin(session, "POST", "/admin/v1/webhook-receivers", { account: "acme" });
  const body = { model: "sandbox/video-1", prompt: "A lighthouse", callback_url: receiver.json.url };
  const { id } = await callGateway(session, "POST", "/v1/videos", { body }) as { id: string };
  await untilEnded(session, id);
  for (const shown of ["01a20371-14d6-7000-a4b6-a3b67b6ded90", "01a1fdfa-778d-7000-9731-e13b87b0015d"]) {
    session.ids.set(shown, id);
  }
  while ((await callAdmin(session, "GET", `/admin/v1/deliveries/${id}`)).json.state !== "delivered") {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** An account with a key, which no file declares. */
async function addCustomer(session: OwnSession): Promise<void> {
  await callAdmin(session, "POST", "/admin/v1/accounts", { id: "acme" });
  await callAdmin(session, "POST", "/admin/v1/accounts/acme/keys", {});
}

/** A vendor that is overloaded, and a model that does not exist. */
async function failTwice(session: OwnSession): Promise<void> {
  const call = callerOf(session.stage.address, { authorization: `Bearer ${session.stage.key}` });
  await call("POST", "/v1/chat/completions", { ...CHAT, model: "openai/gpt-5.5", user: "overloaded" });
  await chat(session, "openai/gpt-6");
}

/** The request that the page explains, by a model's alias. */
async function succeed(session: OwnSession): Promise<void> {
  await chat(session, "fast");
  await nameLatest(session, "req_6b03851debbf29427ebd6c2d");
}

/** Requests above the rate of the key, and above the budget of the account. */
async function refuseTwice(session: OwnSession): Promise<void> {
  if (session.ids.has("req_6b03851e0f3b6d0f2e0c9a41")) return;
  const { json } = await callAdmin(session, "POST", "/admin/v1/accounts/acme/keys", { rpm: 60 });
  await Promise.all(Array.from({ length: 60 }, () => chat(session, "fast", json.secret)));
  // One more fits for each second that those took.
  while (await chat(session, "fast", json.secret) !== 429);
  await nameLatest(session, "req_6b03851e0f3b6d0f2e0c9a41");
  await callAdmin(session, "POST", "/admin/v1/accounts/acme/credit", { amount: "100", reference: "invoice-1" });
  await callAdmin(session, "PATCH", "/admin/v1/accounts/acme", { budget: { amount: "20", per: "month" } });
  const costly = { ...modelOf("openai/gpt-5.4-mini", "openai"), pricing: { completion: "0.01" } };
  await reloadWith(session, { models: [costly, modelOf("openai/gpt-5.5", "openai")] });
  await callGateway(session, "POST", "/v1/chat/completions", { body: { ...CHAT, model: "fast", max_tokens: 3_000 } });
  await nameLatest(session, "req_6b03851e4c1d7a5b9f00d1c2");
}

async function reloadWith(session: OwnSession, sections: Readonly<Record<string, unknown>>): Promise<void> {
  await session.stage.writeConfig(sections);
  const { status, text } = await callAdmin(session, "POST", "/admin/v1/config/reload");
  if (status !== 200) throw new Error(text);
}

/** Returns the status of the reply. */
async function chat(session: OwnSession, model: string, key = session.stage.key): Promise<number> {
  const call = callerOf(session.stage.address, { authorization: `Bearer ${key}` });
  return (await call("POST", "/v1/chat/completions", { ...CHAT, model })).status;
}

/** The page shows the latest request under this id. */
async function nameLatest(session: OwnSession, id: string): Promise<void> {
  const { json } = await callAdmin(session, "GET", "/admin/v1/requests?limit=1");
  session.ids.set(id, json.data[0].id);
}
