import { assert, assertEquals } from "@std/assert";
import { accountMoney } from "../../support/account_money.ts";
import { startTestGateway, type TestGateway, textModel } from "../../support/gateway.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { CALLER_PROTOCOLS, CONTENT, MESSAGES, sendAs } from "../caller_protocols.ts";
import { CLIENTS } from "../clients/all.ts";
import { FEATURES } from "../features.ts";
import { itemNamed } from "./named.ts";
import { startVertexServer, type VertexServer } from "./vertex_server.ts";

const CLAUDE = "vertex/claude-sonnet-4-5@20250929";
const GEMINI = "vertex/gemini-2.5-flash-lite";

interface Stage {
  readonly gateway: TestGateway;
  readonly vertex: VertexServer;
}

async function withVertex(play: (stage: Stage) => Promise<void>, clock?: ManualClock): Promise<void> {
  let gateway: TestGateway | null = null;
  const vertex = await startVertexServer(() => gateway!.sandbox);
  gateway = await startTestGateway({
    ...(clock && { clock }),
    config: {
      providers: {
        vertex: {
          kind: "vertex",
          project: "acme",
          location: "europe-west4",
          base_url: vertex.address,
          service_account: vertex.keyFile,
        },
      },
      models: [textModel(CLAUDE, ["vertex"]), textModel(GEMINI, ["vertex"])],
    },
  });
  try {
    await play({ gateway, vertex });
    const { private_key: pem }: { private_key: string } = JSON.parse(vertex.keyFile);
    const secret = itemAt(pem.split("\n"), 3);
    assert(!gateway.logLines.some((line) => line.includes(secret) || line.includes("ya29.")));
  } finally {
    await gateway.stop();
    await vertex.stop();
  }
}

for (const name of ["plain text", "streamed text", "tools", "streamed tools", "image input", "streamed thinking"]) {
  const feature = itemNamed(FEATURES, name);
  Deno.test({
    name: `vertex: every official client, with models of Google and Anthropic: ${name}`,
    // Clients keep their connections open.
    sanitizeResources: false,
    sanitizeOps: false,
    fn: () =>
      withVertex(async ({ gateway, vertex }) => {
        const { address, key, sandbox } = gateway;
        const purse = accountMoney(gateway);
        for (const client of CLIENTS) {
          for (const model of [CLAUDE, GEMINI]) {
            const vendor = { name: model, model, hasSignature: () => true };
            await feature.try({ client, vendor, target: { address, key, model }, sandbox, purse });
          }
        }
        assertEquals(vertex.assertions.length, 1);
      }),
  });
}

Deno.test("vertex: the token is that of the account, for the whole cloud and an hour", async () => {
  await withVertex(async ({ gateway, vertex }) => {
    assertEquals((await sendAs(MESSAGES, gateway, { model: CLAUDE })).status, 200);
    const [{ iat, exp, ...claims } = {}] = vertex.assertions;
    assertEquals(claims, {
      iss: "gateway@acme.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: `${vertex.address}/token`,
    });
    assertEquals(Number(exp) - Number(iat), 3_600);
  });
});

Deno.test("vertex: an expired token is replaced, and the request sent once more", async () => {
  const clock = new ManualClock();
  await withVertex(async ({ gateway, vertex }) => {
    const send = async (stream: boolean) => (await sendAs(MESSAGES, gateway, { model: CLAUDE, stream })).status;
    assertEquals(await send(false), 200);
    clock.stall(60_000);
    vertex.expireTokens();
    assertEquals(await send(true), 200);
    assertEquals(vertex.seen.map(({ token }) => token?.at(-1)), ["1", "1", "2"]);
  }, clock);
});

Deno.test("vertex: the caller's contents get a role, and lose the ids of calls", async () => {
  await withVertex(async ({ gateway, vertex }) => {
    const call = { functionCall: { id: "call-1", name: "weather", args: { city: "Bern" } } };
    const body = {
      contents: [
        { parts: [{ text: "Weather?" }] },
        { role: "model", parts: [{ ...call, thoughtSignature: "skip_thought_signature_validator" }] },
        {
          role: "user",
          parts: [{ functionResponse: { id: "call-1", name: "weather", response: { output: "sunny" } } }],
        },
      ],
    };
    const reply = await sendAs(CONTENT, gateway, { model: GEMINI, body });
    assertEquals([reply.status, CONTENT.textIn(reply.json)], [200, "The tool weather answered: sunny"]);
    const [{ body: sent } = { body: null }] = vertex.seen;
    assertEquals(sent.contents.map(({ role }: { role: string }) => role), ["user", "model", "user"]);
    assertEquals(Object.keys(sent.contents[1].parts[0].functionCall), ["name", "args"]);
  });
});

Deno.test("vertex: prompts are counted at the counter of the model's publisher", async () => {
  await withVertex(async ({ gateway, vertex }) => {
    for (const model of [CLAUDE, GEMINI]) {
      const counted = await sendAs(MESSAGES, gateway, {
        model,
        path: "/msgcompat/v1/messages/count_tokens",
        text: "one two",
      });
      assertEquals([counted.status, counted.json.input_tokens], [200, 2], counted.text);
    }
    assertEquals(vertex.seen.map(({ path }) => path.replace(/^.*models\//, "")), [
      "count-tokens:rawPredict",
      "gemini-2.5-flash-lite:countTokens",
    ]);
    assertEquals(vertex.seen[0]?.body.model, "claude-sonnet-4-5@20250929");
  });
});

Deno.test("vertex: an error of the vendor is the caller's, in every protocol", async () => {
  await withVertex(async ({ gateway }) => {
    for (const face of CALLER_PROTOCOLS) {
      for (const model of [CLAUDE, GEMINI]) {
        const refused = await sendAs(face, gateway, { model, text: "[[fail 429]] hello" });
        assertEquals(refused.status, 429, `${face.name} ${model}`);
      }
    }
  });
});
