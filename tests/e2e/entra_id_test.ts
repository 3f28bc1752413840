import { assert, assertEquals } from "@std/assert";
import { present } from "../support/items.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { answer, chatReply, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import { configOf } from "../config/support.ts";
import { assertErrorShape, CALLER_PROTOCOLS, sendAs } from "./caller_protocols.ts";

const SECRET = "client-secret-of-acme-0123";
const TOKEN = "opaque-token-of-acme-0123";

/** The address of the issuer answers every request with this text. */
async function withAzure(
  issued: string,
  play: (gateway: Awaited<ReturnType<typeof startTestGateway>>, tokens: () => (string | null)[]) => Promise<void>,
  fields: Record<string, unknown> = {},
) {
  const vendor = startScriptedUpstream(async (side) => {
    for (let request; (request = await side.request()) !== null;) {
      if (request.body.includes('"stream":true')) {
        const choices = [{ index: 0, delta: { content: "hello" }, finish_reason: "stop" }];
        const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
        await side.say(`${STREAM_HEAD}data: ${JSON.stringify({ id: "c", choices, usage })}\n\ndata: [DONE]\n\n`);
        return;
      }
      await side.say(chatReply("hello", { prompt: 3, completion: 2 }));
    }
  });
  const issuer = startScriptedUpstream(async (side) => {
    while (await side.request() !== null) await side.say(issued);
  });
  const entra_id = {
    tenant: "acme",
    client_id: "app-of-acme",
    client_secret: SECRET,
    token_url: `${new URL(issuer.baseUrl).origin}/token`,
  };
  const gateway = await startTestGateway({
    config: {
      providers: { azure: { kind: "azure", base_url: new URL(vendor.baseUrl).origin, entra_id, ...fields } },
      models: [textModel("azure/one", ["azure"])],
    },
  });
  try {
    await play(gateway, () => vendor.seen.map(({ headers }) => headers.get("authorization")));
    assert(!gateway.logLines.some((line) => line.includes(SECRET) || line.includes(TOKEN)));
  } finally {
    await gateway.stop();
    await Promise.all([vendor.stop(), issuer.stop()]);
  }
}

Deno.test("callers of every protocol reach a deployment by a token of Entra ID, whole and streamed", async () => {
  const issued = answer(200, JSON.stringify({ access_token: TOKEN, expires_in: 3600 }));
  const callAll = async (gateway: Awaited<ReturnType<typeof startTestGateway>>, tokens: () => (string | null)[]) => {
    for (const face of CALLER_PROTOCOLS) {
      const whole = await sendAs(face, gateway, { model: "azure/one", text: "hi" });
      assertEquals([whole.status, face.textIn(whole.json)], [200, "hello"], face.name);
      const streamed = await sendAs(face, gateway, { model: "azure/one", text: "hi", stream: true });
      assertEquals(streamed.status, 200, face.name);
      assert(streamed.text.includes("hello"), face.name);
    }
    assertEquals(tokens(), Array(8).fill(`Bearer ${TOKEN}`));
  };
  await withAzure(issued, callAll);
  await withAzure(issued, callAll, { api_version: "2024-10-21" });
});

Deno.test("callers of every protocol get their error if Entra ID refuses the application", async () => {
  const refusal = answer(401, `{"error":"invalid_client","error_description":"${SECRET}"}`);
  await withAzure(refusal, async (gateway, tokens) => {
    for (const face of CALLER_PROTOCOLS) {
      const refused = await sendAs(face, gateway, { model: "azure/one", text: "hi" });
      assertEquals(refused.status, 401, face.name);
      assertErrorShape(face, refused);
      assert(!refused.text.includes(SECRET) && !refused.text.includes("app-of-acme"), refused.text);
    }
    assertEquals(tokens(), []);
  });
});

Deno.test("the samples of the documentation are valid configurations", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/clouds.md", import.meta.url));
  const samples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, sample = ""]) => sample);
  const providersOf = (word: string) =>
    configOf(present(samples.find((sample) => sample.includes(word)), "the sample"), {
      AZURE_CLIENT_SECRET: SECRET,
      AZURE_OPENAI_API_KEY: "k",
    }).providers;
  assertEquals(providersOf("entra_id").azure?.entraId?.clientSecret, SECRET);
  assertEquals(providersOf("api_version").azure?.apiVersion, "2025-04-01-preview");
});
