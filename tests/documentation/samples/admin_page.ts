import { callAdmin, callGateway, CHAT, untilEnded } from "./gateway_requests.ts";
import { modelOf, type OwnScenario, type OwnSession, VIDEO_MODEL } from "./own_stage.ts";

const LIMITS = { rpm: 60, tpm: 100_000, concurrency: 4, budget: { amount: "20", per: "month" } };

/** The vendor of its first provider fails. */
const FALLBACK = {
  ...modelOf("openai/fallback"),
  id: "openai/fallback",
  serves: [{ provider: "openai", model: "gpt-5.5", weight: 1 }, {
    provider: "azure",
    model: "gpt-5.4-mini",
    weight: 0,
  }],
};

/** The reference of the admin API. Each key is a text of a block of JSON. */
export const ADMIN_PAGE: OwnScenario = {
  page: "docs/api/admin.md",
  options: {
    sections: {
      models: [modelOf("openai/gpt-5.5", "openai"), modelOf("openai/gpt-5.4-mini", "openai"), FALLBACK, VIDEO_MODEL],
    },
  },
  answers: {
    adminkey_: async (session) => {
      await callAdmin(session, "POST", "/admin/v1/admin-keys", { name: "ci", role: "write" });
      return await firstOf(session, "/admin-keys");
    },
    '"actor"': async (session) => {
      await callAdmin(session, "PATCH", "/admin/v1/accounts/acme", { name: "Acme" });
      return await firstOf(session, "/audit?account=acme");
    },
    '"allow_buckets"': async (session) => {
      await callAdmin(session, "PATCH", "/admin/v1/accounts/demo", LIMITS);
      return await read(session, "/accounts/demo");
    },
    '"erased_at"': async (session) => {
      await callAdmin(session, "POST", "/admin/v1/accounts", { id: "globex" });
      return (await callAdmin(session, "POST", "/admin/v1/accounts/globex/erase")).json;
    },
    '"metadata": { "team"': async (session) => {
      const fields = { ...LIMITS, name: "ci", models: ["openai/*"], ip_allow: ["10.0.0.0/8"], metadata: { team: "x" } };
      await callAdmin(session, "POST", "/admin/v1/accounts/demo/keys", fields);
      return await firstOf(session, "/accounts/demo/keys");
    },
    cachedContents: async (session) => {
      const contents = [{ role: "user", parts: [{ text: "The handbook" }] }];
      const body = { model: "openai/gpt-5.4-mini", contents, ttl: "600s" };
      await callGateway(session, "POST", "/gencompat/v1beta/cachedContents", { body });
      return await firstOf(session, "/caches");
    },
    '"span"': async (session) => {
      await chat(session, "openai/gpt-5.4-mini");
      return await read(session, "/traffic?span=hour");
    },
    '"text2video"': async (session) => {
      await createVideo(session);
      return await read(session, "/tasks");
    },
    '"closes_at"': async (session) => {
      const { id } = await post(session, "/webhook-receivers", { account: "acme" });
      await post(session, `/webhook-receivers/${id}/test`, {});
      return await read(session, `/webhook-receivers/${id}`);
    },
    '"architecture"': async (session) => {
      const { data } = await read(session, "/models");
      return data.find((model: { readonly id: string }) => model.id === "openai/gpt-5.4-mini");
    },
    '"charged": [\n    { "price": "prompt", "quantity": 1200, "rate": "0.00000025"': async (session) => {
      const quantities = { prompt: 1_200, completion: 300 };
      return await post(session, "/models/price", { model: "openai/gpt-5.4-mini", quantities });
    },
    '"failures_in_a_row"': async (session) => {
      await chat(session, "openai/gpt-5.5");
      return await firstOf(session, "/providers");
    },
    '"credential"': (session) => post(session, "/providers/openai/test", {}),
    '"restart"': (session) => change(session, "PUT", "/config/aliases/quick?dry_run=true", { value: "openai/gpt-5.5" }),
    '"position"': async (session) => {
      await chat(session, FALLBACK.id);
      const { id } = await firstOf(session, "/requests");
      return await read(session, `/requests/${id}`);
    },
  },
};

/** The body of an answer of the admin API. */
// deno-lint-ignore no-explicit-any -- a sample has any shape
type Body = any;

async function read(session: OwnSession, path: string): Promise<Body> {
  return (await callAdmin(session, "GET", `/admin/v1${path}`)).json;
}

async function firstOf(session: OwnSession, path: string): Promise<Body> {
  return (await read(session, path)).data[0];
}

async function change(session: OwnSession, method: string, path: string, body: unknown): Promise<Body> {
  return (await callAdmin(session, method, `/admin/v1${path}`, body)).json;
}

function post(session: OwnSession, path: string, body: unknown): Promise<Body> {
  return change(session, "POST", path, body);
}

async function chat(session: OwnSession, model: string): Promise<void> {
  await callGateway(session, "POST", "/v1/chat/completions", { body: { ...CHAT, model } });
}

async function createVideo(session: OwnSession): Promise<void> {
  const body = { model: "sandbox/video-1", prompt: "A lighthouse" };
  const { id } = await callGateway(session, "POST", "/v1/videos", { body }) as { id: string };
  await untilEnded(session, id);
}
