import { assert, assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { readProviderConfig } from "../../../src/vendors/upstreams/settings/provider_config.ts";
import { openProviders } from "../../../src/vendors/upstreams/opening/providers.ts";
import { configOf, problemsOf } from "../../config/support.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { always, answer, type ScriptedUpstream, startScriptedUpstream } from "../../support/scripted_upstream.ts";
import { untilSo } from "../../support/patience.ts";

const SECRET = "the~client+secret/of-acme";
const ENTRA = { tenant: "acme.example", client_id: "app-1", client_secret: SECRET };
const BASE_URL = "https://acme.openai.azure.com";

const tokenAnswer = (token: string) =>
  answer(200, JSON.stringify({ token_type: "Bearer", expires_in: 3599, access_token: token }));

/** Answers each request on any connection with the next text; the last is repeated. */
function inTurn(...answers: readonly string[]): ScriptedUpstream {
  let index = 0;
  return startScriptedUpstream(async (side) => {
    while (await side.request() !== null) await side.say(answers[Math.min(index++, answers.length - 1)] ?? "");
  });
}

interface Stage {
  readonly vendor: ScriptedUpstream;
  readonly issuer: ScriptedUpstream;
  readonly clock: ManualClock;
  readonly send: () => Promise<number>;
}

async function withAzure(vendor: ScriptedUpstream, issuer: ScriptedUpstream, play: (stage: Stage) => Promise<void>) {
  const clock = new ManualClock();
  const config = readProviderConfig({
    kind: "azure",
    base_url: vendor.baseUrl,
    entra_id: { ...ENTRA, token_url: `${new URL(issuer.baseUrl).origin}/acme/oauth2/v2.0/token` },
  });
  const providers = await openProviders({ azure: config }, { clock, caCerts: [] });
  const { outbound } = providers.byName.get("azure")!;
  const send = async () => {
    const response = await outbound.send({
      method: "POST",
      path: "/chat/completions",
      headers: {},
      body: new TextEncoder().encode("{}"),
      firstByteMs: 1_000,
      callerSignal: null,
      readError: (body) => ({ message: JSON.stringify(body), code: null, field: null, retryAfterSeconds: null }),
    });
    await response.readAll(1_000);
    return response.status;
  };
  try {
    await play({ vendor, issuer, clock, send });
  } finally {
    providers.close();
    await Promise.all([vendor.stop(), issuer.stop()]);
  }
}

const sentTokens = ({ seen }: ScriptedUpstream) => seen.map(({ headers }) => headers.get("authorization"));

Deno.test("azure requests a token by client credentials, once, and sends it", async () => {
  await withAzure(inTurn(answer(200, "{}")), inTurn(tokenAnswer("token-one")), async ({ vendor, issuer, send }) => {
    assertEquals(await Promise.all([send(), send(), send()]), [200, 200, 200]);
    assertEquals(sentTokens(vendor), Array(3).fill("Bearer token-one"));
    assertEquals(vendor.seen.map(({ headers }) => headers.get("api-key")), [null, null, null]);
    const [asked, ...more] = issuer.seen;
    assertEquals(more, []);
    assertEquals([asked?.method, asked?.path], ["POST", "/acme/oauth2/v2.0/token"]);
    assertEquals(asked?.headers.get("content-type"), "application/x-www-form-urlencoded");
    assertEquals(Object.fromEntries(new URLSearchParams(asked?.body)), {
      grant_type: "client_credentials",
      client_id: "app-1",
      client_secret: SECRET,
      scope: "https://cognitiveservices.azure.com/.default",
    });
  });
});

Deno.test("azure sends a request once more with a new token after a 401, and not a third time", async () => {
  const refusal = answer(401, '{"error":{"message":"expired"}}');
  const issuer = () => inTurn(tokenAnswer("token-one"), tokenAnswer("token-two"));
  await withAzure(inTurn(answer(200, "{}"), refusal, answer(200, "{}")), issuer(), async ({ vendor, clock, send }) => {
    await send();
    clock.stall(60_000);
    assertEquals(await send(), 200);
    assertEquals(sentTokens(vendor), ["Bearer token-one", "Bearer token-one", "Bearer token-two"]);
  });
  await withAzure(inTurn(answer(200, "{}"), refusal), issuer(), async ({ vendor, clock, send }) => {
    await send();
    clock.stall(60_000);
    const failure = await assertRejects(send, UpstreamFailure);
    assertEquals([failure.kind, vendor.seen.length], ["auth", 3]);
  });
});

Deno.test("a vendor's message that repeats the token is redacted", async () => {
  const vendor = inTurn(answer(400, '{"told":"opaque~token"}'));
  await withAzure(vendor, inTurn(tokenAnswer("opaque~token")), async ({ send }) => {
    const failure = await assertRejects(send, UpstreamFailure);
    assertEquals(failure.message, '{"told":"[redacted]"}');
  });
});

const NONE = 'Provider "azure" has no access token: the token address ';

for (
  const [what, reply, kind, message] of [
    [
      "refuses",
      answer(401, `{"error":"invalid_client","error_description":"${SECRET}"}`),
      "auth",
      "refused the credentials (invalid_client)",
    ],
    ["refuses with a code of its own", answer(400, `{"error":"${SECRET}"}`), "auth", "refused the credentials"],
    ["fails", answer(503, "<html>"), "unavailable", "failed"],
    ["has no token", answer(200, '{"expires_in":60}'), "unavailable", "returned an invalid response"],
    ["has a token that breaks the header", tokenAnswer("a\r\nx: y"), "unavailable", "returned an invalid response"],
    ["has no lifetime", answer(200, '{"access_token":"t"}'), "unavailable", "returned an invalid response"],
    ["redirects", answer(302, "", { location: "http://127.0.0.1:1/" }), "unavailable", "returned an invalid response"],
    ["is too long", answer(200, `{"x":"${"y".repeat(70_000)}"}`), "unavailable", "returned an invalid response"],
    ["closes the connection", "", "unreachable", "could not be reached"],
  ] as const
) {
  Deno.test(`nothing is sent to the vendor if the token address ${what}`, async () => {
    const issuer = reply === "" ? startScriptedUpstream(() => Promise.resolve()) : inTurn(reply);
    await withAzure(startScriptedUpstream(always(answer(200, "{}"))), issuer, async ({ vendor, send }) => {
      const failure = await assertRejects(send, UpstreamFailure);
      assertEquals([failure.kind, failure.message], [kind, NONE + message]);
      assertEquals([failure.facts.accepted, failure.isRetryable, vendor.seen.length], ["no", true, 0]);
      assert(!Deno.inspect(failure, { depth: 10 }).includes(SECRET));
    });
  });
}

Deno.test("a token address that sends slowly is given up after 30 seconds", async () => {
  const issuer = startScriptedUpstream(async (side) => {
    await side.request();
    await side.say("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
    await side.gone();
  });
  await withAzure(inTurn(answer(200, "{}")), issuer, async ({ issuer, clock, send }) => {
    const failing = assertRejects(send, UpstreamFailure, `${NONE}did not respond in time`);
    await untilSo(() => issuer.seen.length !== 0);
    clock.advance(30_000);
    assertEquals((await failing).kind, "timeout");
  });
});

Deno.test("entra_id has the address of the tenant by default, and no key beside it", () => {
  const { entraId, apiKey, headers } = readProviderConfig({ kind: "azure", base_url: BASE_URL, entra_id: ENTRA });
  assertEquals(entraId, {
    clientId: "app-1",
    clientSecret: SECRET,
    scope: "https://cognitiveservices.azure.com/.default",
    tokenUrl: "https://login.microsoftonline.com/acme.example/oauth2/v2.0/token",
  });
  assertEquals([apiKey, headers], [null, {}]);
  const text = JSON.stringify({ providers: { azure: { kind: "azure", base_url: BASE_URL, entra_id: ENTRA } } });
  assertEquals(configOf(text, { AZURE_OPENAI_API_KEY: "key-in-variable" }).providers.azure?.headers, {});
});

for (
  const [what, fields, field] of [
    ["a key", { api_key: "k" }, "api_key"],
    ["credentials", { credentials: [{ name: "a", api_key: "k" }] }, "credentials"],
    ["a header with a credential", { headers: { Authorization: "Bearer x" } }, "headers"],
    ["another kind", { kind: "openai" }, "entra_id"],
    ["a tenant with a path", { entra_id: { ...ENTRA, tenant: "a/../b" } }, "entra_id.tenant"],
  ] as const
) {
  Deno.test(`entra_id is refused with ${what}`, () => {
    const one = { kind: "azure", base_url: BASE_URL, entra_id: ENTRA, ...fields };
    const [problem, ...more] = problemsOf(JSON.stringify({ providers: { one } }));
    assert(problem?.includes(`providers.one.${field}: expected`), problem);
    assertEquals(more, []);
    assert(!problem?.includes(SECRET));
  });
}
