import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Sandbox } from "../../../src/sandbox/mod.ts";
import { textModel } from "../../support/gateway.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { CALLER_PROTOCOLS, CHAT, CONTENT, type Json, MESSAGES, sendAs } from "../caller_protocols.ts";
import { ACCESS_KEY, CLAUDE, NOVA, withBedrock } from "./bedrock_stage.ts";

const ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC";

/** The last request that the vendor received. */
function lastOf({ requests }: Sandbox): Json {
  return requests.at(-1);
}

Deno.test("bedrock: the body of Anthropic's models is the caller's, apart from what is in the path", async () => {
  await withBedrock(async ({ gateway, sandbox }) => {
    for (const stream of [false, true]) {
      const extra = {
        system: [{ type: "text", text: "Be brief", cache_control: { type: "ephemeral" } }],
        temperature: 0,
      };
      const reply = await sendAs(MESSAGES, gateway, { model: CLAUDE, stream, extra });
      assertEquals([reply.status, reply.headers.get("x-service-dropped")], [200, null], reply.text);
      const { path, body } = lastOf(sandbox);
      const { model: _inPath, ...sent } = MESSAGES.body(CLAUDE, "hello there");
      assertEquals(body, { anthropic_version: "bedrock-2023-05-31", ...sent, ...extra });
      assertEquals(
        path,
        `/bedrock/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke${stream ? "-with-response-stream" : ""}`,
      );
    }
  });
});

Deno.test("bedrock: a stream of Anthropic's models has the events of its format", async () => {
  await withBedrock(async ({ gateway }) => {
    const reply = await sendAs(MESSAGES, gateway, { model: CLAUDE, stream: true, text: "[[say Grüße, 世界 🌍]]" });
    assertEquals(reply.headers.get("content-type"), "text/event-stream");
    const frames = reply.text.split("\n\n").filter((frame) => frame !== "");
    const events = frames.map((frame) => JSON.parse(frame.split("\ndata: ")[1] ?? ""));
    assertEquals(frames.map((frame) => /^event: (\w+)/.exec(frame)?.[1]), events.map(({ type }) => type));
    assertEquals(events.flatMap(({ delta }) => delta?.text ?? []).join(""), "Grüße, 世界 🌍");
    assert(events.at(-2).usage.output_tokens > 0 && events.at(-1).type === "message_stop");
  });
});

Deno.test("bedrock: ids and ARNs of models are one segment of the path", async () => {
  const serves = (id: string, model: string) => ({ ...textModel(id, []), serves: [{ provider: "bedrock", model }] });
  const models = [serves("bedrock/a", ARN), serves("bedrock/b", `anthropic/${ARN}`)];
  await withBedrock(async ({ gateway, sandbox }) => {
    for (const model of ["bedrock/a", "bedrock/b"]) {
      assertEquals((await sendAs(CHAT, gateway, { model })).status, 200);
    }
    const path = `/bedrock/model/${encodeURIComponent(ARN)}`;
    assertEquals(sandbox.requests.map((seen) => seen.path), [`${path}/converse`, `${path}/invoke`]);
  }, { models });
});

Deno.test("bedrock: features of Anthropic's API move to the body, and those that it rejects are named", async () => {
  await withBedrock(async ({ gateway, sandbox }) => {
    const headers = { "anthropic-beta": "interleaved-thinking-2025-05-14, oauth-2025-04-20,context-1m-2025-08-07" };
    const reply = await sendAs(MESSAGES, gateway, { model: CLAUDE, headers });
    assertEquals([reply.status, reply.headers.get("x-service-dropped")], [200, "anthropic-beta"], reply.text);
    const { body, headers: sent } = lastOf(sandbox);
    assertEquals(body.anthropic_beta, ["interleaved-thinking-2025-05-14", "context-1m-2025-08-07"]);
    assertEquals(sent["anthropic-beta"], undefined);
  });
});

function imageAt(url: string) {
  return { type: "image", source: { type: "url", url } };
}

Deno.test("bedrock: a source at an address is downloaded, also in a request of the model's own format", async () => {
  const images = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(Uint8Array.fromBase64(PNG), { headers: { "content-type": "image/png" } }),
  );
  try {
    await withBedrock(async ({ gateway, sandbox }) => {
      const url = `http://127.0.0.1:${images.addr.port}/a.png`;
      const headers = { "anthropic-beta": "interleaved-thinking-2025-05-14" };
      const messages = [{ role: "user", content: [imageAt(url), { type: "text", text: "What?" }] }];
      for (const model of [CLAUDE, NOVA]) {
        const reply = await sendAs(MESSAGES, gateway, { model, headers, extra: { messages } });
        assertEquals(reply.status, 200, reply.text);
        assertMatch(MESSAGES.textIn(reply.json), /I see 1 image \(image\/png/);
        const { body } = lastOf(sandbox);
        const block = body.messages[0].content[0];
        assertEquals((block.source ?? block.image.source).data ?? block.image.source.bytes, PNG);
        assertEquals(body.anthropic_beta, model === CLAUDE ? [headers["anthropic-beta"]] : undefined);
      }
    });
  } finally {
    await images.shutdown();
  }
});

Deno.test("bedrock: a service tier is sent in Converse, and named as dropped for Anthropic's models", async () => {
  const tiers = (id: string) => ({
    ...textModel(id, ["bedrock"]),
    pricing_tiers: { flex: { prompt: "0.0000005", completion: "0.000001" } },
  });
  await withBedrock(async ({ gateway, sandbox }) => {
    const sentOf = (model: string, face = CHAT) => sendAs(face, gateway, { model, extra: { service_tier: "flex" } });
    const nova = await sentOf(NOVA);
    assertEquals([nova.status, nova.headers.get("x-service-dropped")], [200, null], nova.text);
    assertEquals(lastOf(sandbox).body.serviceTier, { type: "flex" });
    for (const face of [CHAT, MESSAGES]) {
      const claude = await sentOf(CLAUDE, face);
      assertEquals([claude.status, claude.headers.get("x-service-dropped")], [200, "service_tier"], claude.text);
    }
  }, { models: [tiers(CLAUDE), tiers(NOVA)] });
});

Deno.test("bedrock: prompts are counted by the vendor, at the model itself", async () => {
  await withBedrock(async ({ gateway, sandbox }) => {
    for (const model of [CLAUDE, NOVA]) {
      const path = "/msgcompat/v1/messages/count_tokens";
      const counted = await sendAs(MESSAGES, gateway, { model, path, text: "one two" });
      assertEquals([counted.status, counted.json.input_tokens], [200, 2], counted.text);
    }
    assertEquals(sandbox.requests.map((seen) => seen.path), [
      "/bedrock/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens",
      "/bedrock/model/amazon.nova-2-lite-v1%3A0/count-tokens",
    ]);
  });
});

Deno.test("bedrock: the gateway counts for models that the vendor does not count for", async () => {
  const id = "bedrock/meta.uncounted-v1:0";
  await withBedrock(async ({ gateway, sandbox }) => {
    for (let turn = 0; turn < 2; turn++) {
      const path = "/msgcompat/v1/messages/count_tokens";
      const counted = await sendAs(MESSAGES, gateway, { model: id, path, text: "one two" });
      assertEquals([counted.status, counted.json.input_tokens > 0], [200, true], counted.text);
    }
    assertEquals(sandbox.requests.length, 1, "the vendor is not asked again");
  }, { models: [textModel(id, ["bedrock"])] });
});

Deno.test("bedrock: every error of the vendor is the caller's, in every protocol", async () => {
  await withBedrock(async ({ gateway }) => {
    for (const face of CALLER_PROTOCOLS) {
      for (const model of [CLAUDE, NOVA]) {
        for (const [told, status] of [[400, 400], [403, 403], [408, 504], [424, 502], [429, 429], [500, 502]]) {
          const refused = await sendAs(face, gateway, { model, text: `[[fail ${told} Tired pigeons]] hello` });
          assertEquals(refused.status, status, `${face.name} ${model} ${told} ${refused.text}`);
          assertStringIncludes(refused.text, "Tired pigeons");
        }
      }
    }
  });
});

Deno.test("bedrock: an exception in a stream is an error of the caller's protocol", async () => {
  await withBedrock(async ({ gateway }) => {
    for (const face of CALLER_PROTOCOLS) {
      for (const model of [CLAUDE, NOVA]) {
        const reply = await sendAs(face, gateway, { model, stream: true, text: "[[error 2]] [[words 9]] go" });
        assertEquals(reply.status, 200);
        assertStringIncludes(reply.text, "word2");
        assertMatch(reply.text, /Overloaded|Bedrock is unable to process your request/, `${face.name} ${model}`);
      }
    }
  });
});

Deno.test("bedrock: a stream that breaks off or is cut within a message ends in an error", async () => {
  await withBedrock(async ({ gateway }) => {
    for (const face of CALLER_PROTOCOLS) {
      for (const model of [CLAUDE, NOVA]) {
        for (const fault of ["cut 2", "close 2", "truncate"]) {
          const reply = await sendAs(face, gateway, { model, stream: true, text: `[[${fault}]] [[words 9]] go` });
          assertStringIncludes(reply.text, "word1");
          assertMatch(
            reply.text,
            /closed the connection|before the reply was complete/,
            `${face.name} ${model} ${fault}`,
          );
        }
      }
    }
  });
});

Deno.test("bedrock: a temporary credential is sent with its token, which no error and no log shows", async () => {
  const session_token = "a-session-token/with+signs=";
  await withBedrock(async ({ gateway, sandbox }) => {
    for (const model of [CLAUDE, NOVA]) assertEquals((await sendAs(CHAT, gateway, { model })).status, 200);
    const [{ headers } = { headers: {} }] = sandbox.requests as Json;
    assertEquals(headers["x-amz-security-token"], session_token);
    assert(!gateway.logLines.some((line) => line.includes(session_token)));
  }, { provider: { session_token } });
});

Deno.test("bedrock: a rejected credential is the gateway's fault, and shows nothing of itself", async () => {
  for (
    const provider of [
      { api_key: "bad-api-key-of-bedrock", secret_key: undefined },
      { api_key: "bad-access-key" },
      { secret_key: "another-secret-key" },
      { session_token: "expired-token" },
    ]
  ) {
    await withBedrock(async ({ gateway, sandbox }) => {
      const refused = await sendAs(CHAT, gateway, { model: NOVA });
      assertEquals([refused.status, refused.json.error.code], [401, "upstream_auth_failed"], refused.text);
      assertEquals(sandbox.requests.length, 1, "it is not sent twice");
      const all = [refused.text, ...gateway.logLines].join("\n");
      for (const secret of Object.values(provider)) assert(secret === undefined || !all.includes(secret), all);
    }, { provider });
  }
});

Deno.test("bedrock: an API key is sent as a bearer token", async () => {
  await withBedrock(async ({ gateway, sandbox }) => {
    assertEquals((await sendAs(CONTENT, gateway, { model: NOVA })).status, 200);
    const [{ headers } = { headers: {} }] = sandbox.requests as Json;
    assertEquals([headers.authorization, headers["x-amz-date"]], ["Bearer bedrock-api-key-1", undefined]);
  }, { provider: { api_key: "bedrock-api-key-1", secret_key: undefined } });
});

Deno.test("bedrock: the vendor's clock replaces a wrong one of this machine", async () => {
  const now = Date.parse("2026-11-26T12:00:00Z");
  const options = { clock: new ManualClock(now), vendorClock: new ManualClock(now + 3_600_000) };
  await withBedrock(async ({ gateway, sandbox }) => {
    const send = async (stream: boolean) => (await sendAs(MESSAGES, gateway, { model: CLAUDE, stream })).status;
    assertEquals([await send(true), await send(false)], [200, 200]);
    assertEquals((sandbox.requests as Json).map(({ headers }: Json) => headers["x-amz-date"]), [
      "20261126T120000Z",
      "20261126T130000Z",
      "20261126T130000Z",
    ]);
  }, options);
});

Deno.test("bedrock: the signature of a large body is over the bytes that are sent", async () => {
  await withBedrock(async ({ gateway }) => {
    for (const characters of [60_000, 1_200_000]) {
      for (const model of [CLAUDE, NOVA]) {
        const text = `[[say fine]] ${"lorem ".repeat(characters / 6)}`;
        const reply = await sendAs(MESSAGES, gateway, { model, text });
        assertEquals([reply.status, MESSAGES.textIn(reply.json)], [200, "fine"], reply.text.slice(0, 500));
      }
    }
  });
});

Deno.test("bedrock: an identity in an error of the vendor is hidden", async () => {
  await withBedrock(async ({ gateway }) => {
    const message = "User: arn:aws:iam::123456789012:user/gateway is not authorized to perform: bedrock:InvokeModel";
    const refused = await sendAs(CHAT, gateway, { model: NOVA, text: `[[fail 403 ${message}]] hello` });
    assertEquals([refused.status, refused.json.error.code], [403, "AccessDeniedException"]);
    assertEquals(refused.json.error.message, message.replace(/arn:\S+/, "[redacted]"));
    assert(!gateway.logLines.some((line) => line.includes("123456789012") || line.includes(ACCESS_KEY)));
  });
});
