import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from "../../support/loopback_certificate.ts";
import { callAdmin, callGateway, untilEnded } from "./gateway_requests.ts";
import type { OwnScenario, OwnSession } from "./own_stage.ts";

/** The pages about webhooks, but for the tools of development, which are run on `dev`. */
export const WEBHOOKS_PAGES: readonly OwnScenario[] = [
  { page: "docs/webhooks.md", heading: "Webhooks", shows: { "POST /hook": deliveredRequest } },
  {
    page: "docs/webhooks.md",
    heading: "Delivery log and redelivery",
    before: { "deliveries show": nameDelivery },
    answers: {
      "webhook.delivery": async (session) =>
        await callGateway(session, "GET", `/v1/videos/${await deliver(session)}/deliveries`),
    },
    shapes: ["deliveries show", "deliveries redeliver --from"],
  },
  {
    page: "docs/api/webhooks.md",
    answers: {
      '"batch.completed"': eventOfOpenAi,
      '"event"': async (session) => {
        const { body } =
          (await callAdmin(session, "GET", `/admin/v1/deliveries/${await deliver(session)}/request`)).json;
        return { ...JSON.parse(body), data: { status: "completed" } };
      },
    },
  },
];

/** The event of a batch whose line is invalid, so that it ends immediately. */
async function eventOfOpenAi(session: OwnSession): Promise<unknown> {
  await callAdmin(session, "PATCH", "/admin/v1/accounts/acme", { webhook_format: "openai" });
  const requests = [{ custom_id: "one", body: { model: "none/none", messages: [] } }];
  const body = { endpoint: "/v1/chat/completions", requests, callback_url: "https://127.0.0.1:8443/hook" };
  const { id } = await callGateway(session, "POST", "/v1/batches", { body }) as { id: string };
  return JSON.parse((await callAdmin(session, "GET", `/admin/v1/deliveries/${id}/request`)).json.body);
}

/** Creates a video whose webhook a receiver acknowledges; gives its id. */
async function deliver(session: OwnSession): Promise<string> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY, onListen() {} },
    () => new Response("thanks"),
  );
  const callback_url = `https://127.0.0.1:${server.addr.port}/hook`;
  const body = { model: "sandbox/video-1", prompt: "A lighthouse", callback_url };
  const { id } = await callGateway(session, "POST", "/v1/videos", { body }) as { id: string };
  await untilEnded(session, id);
  while ((await callAdmin(session, "GET", `/admin/v1/deliveries/${id}`)).json.state !== "delivered") {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await server.shutdown();
  return id;
}

async function nameDelivery(session: OwnSession): Promise<void> {
  session.ids.set("01a1fdfa-778d-7000-9731-e13b87b0015d", await deliver(session));
}

/** The request that a receiver gets. */
async function deliveredRequest(session: OwnSession): Promise<string> {
  const { headers, body } =
    (await callAdmin(session, "GET", `/admin/v1/deliveries/${await deliver(session)}/request`)).json;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `POST /hook HTTP/1.1\n${lines.join("\n")}\n\n${body}`;
}
