import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { lastDays, type ReconciledGateway, REPORT_KEY, withReconciledGateway } from "./reconciled_gateway.ts";

const RANGE = (() => {
  const { from, to } = lastDays();
  return `from=${from}&to=${to}`;
})();

const asOperator = ({ address, adminKey }: ReconciledGateway) =>
  callerOf(address, { authorization: `Bearer ${adminKey}` });

/** A vendor whose reports a test writes. */
function startReports(answer: (path: string, page: string | null) => Response) {
  const seen: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    seen.push(`${pathname} ${request.headers.get("authorization")}`);
    return answer(pathname, searchParams.get("page"));
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, seen, stop: () => server.shutdown() };
}

/** The answer of a gateway whose provider `openai` has these reports. */
async function refusalOf(answer: (path: string, page: string | null) => Response, config = {}) {
  const reports = startReports(answer);
  const openai = { kind: "openai", base_url: reports.baseUrl, api_key: "key-of-calls", report_key: REPORT_KEY };
  let result = { status: 0, message: "" };
  try {
    await withReconciledGateway({ providers: { openai }, config }, async (gateway) => {
      const { status, json, text } = await asOperator(gateway)("GET", `/admin/v1/reconcile?provider=openai&${RANGE}`);
      result = { status, message: json.error?.message ?? text };
      assert(!gateway.logLines.join("\n").includes(REPORT_KEY));
    });
  } finally {
    await reports.stop();
  }
  return { ...result, seen: reports.seen };
}

const said = (status: number, message: string) => () => Response.json({ error: { message } }, { status });
const bucketsOf = (results: readonly unknown[]) => ({
  data: [{ start_time: 1_795_824_000, results }],
  has_more: false,
});

const REFUSALS: readonly (readonly [string, (path: string, page: string | null) => Response, number, string])[] = [
  [
    "401",
    said(401, `Incorrect API key: ${REPORT_KEY}`),
    502,
    "it rejects the admin key (status 401: Incorrect API key: [redacted]); check providers.openai.report_key",
  ],
  [
    "403",
    said(403, "Missing scopes"),
    502,
    "the admin key may not read it, or it is the key of a project (status 403: Missing scopes); check providers.openai.report_key",
  ],
  [
    "404",
    said(404, "Invalid URL"),
    502,
    "/organization/costs does not exist at the provider's address (status 404: Invalid URL); check providers.openai.base_url",
  ],
  ["400", said(400, "start_time"), 502, "it refuses the range of days (status 400: start_time)"],
  ["429", said(429, "Slow down"), 502, "its rate limit is exceeded (status 429: Slow down); try again later"],
  ["500", () => new Response("oops", { status: 500 }), 502, "it failed (status 500); try again later"],
  [
    "a redirect",
    () => new Response(null, { status: 302, headers: { location: "https://example.com/" } }),
    502,
    "it failed (status 302); try again later",
  ],
  [
    "a million values",
    () => new Response(`{"data":[${"{},".repeat(600_000)}1]}`),
    502,
    "an answer of /organization/costs has more than 100000 JSON values; shorten the range of days",
  ],
  ["no JSON", () => new Response("<html>"), 502, "/organization/costs is not JSON"],
  ["another shape", () => Response.json({ data: {} }), 502, '/organization/costs has no list "data"'],
  [
    "no amount",
    () => Response.json(bucketsOf([{ line_item: "gpt, input" }])),
    502,
    'a cost has no number in "amount.value"',
  ],
  [
    "another currency",
    () => Response.json(bucketsOf([{ amount: { value: 1, currency: "eur" } }])),
    502,
    "expected amounts in usd, got eur",
  ],
  [
    "a large answer",
    () => new Response(`{"data":[],"x":"${"x".repeat(2_100_000)}"}`),
    502,
    "an answer of /organization/costs has more than 2097152 bytes; shorten the range of days",
  ],
  [
    "endless pages",
    (_path, page) => Response.json({ data: [], has_more: true, next_page: `${Number(page) + 1}` }),
    502,
    "/organization/costs has more than 60 pages; shorten the range of days",
  ],
];

for (const [name, answer, status, message] of REFUSALS) {
  Deno.test(`a report that cannot be read is refused with one clear message: ${name}`, async () => {
    const refusal = await refusalOf(answer);
    assertEquals(refusal.message, `Cannot read the vendor's report: ${message}`);
    assertEquals(refusal.status, status);
    assertEquals(refusal.seen[0], `/v1/organization/costs Bearer ${REPORT_KEY}`);
    assert(refusal.seen.length <= 60);
  });
}

Deno.test("a report at a private address is read only if the egress rules allow it", async () => {
  const { status, message, seen } = await refusalOf(said(200, ""), { egress: { allow: [] } });
  assertEquals([status, seen.length], [502, 0]);
  assertStringIncludes(message, "add the address of providers.openai.base_url to egress.allow");
});

Deno.test("a bad range, an unknown provider and a missing report_key are refused, each with its field", async () => {
  const groq = { kind: "groq", base_url: "http://127.0.0.1:9/v1", api_key: "k" };
  await withReconciledGateway({ providers: { groq } }, async (gateway) => {
    const ask = asOperator(gateway);
    const errorOf = async (query: string) => {
      const { status, json } = await ask("GET", `/admin/v1/reconcile?${query}`);
      return [status, json.error.field ?? null, json.error.message];
    };
    const openai = "provider=openai";
    assertEquals(await errorOf(`${openai}&from=2026-11-02&to=2026-11-01`), [
      400,
      "to",
      'Cannot read "to": expected a day that is not before from',
    ]);
    assertEquals(
      (await errorOf(`${openai}&from=2026-01-01&to=2026-11-01`))[2],
      'Cannot read "to": expected at most 92 days',
    );
    assertEquals((await errorOf(`${openai}&from=2099-01-01&to=2099-01-02`)).slice(0, 2), [400, "from"]);
    assertEquals((await errorOf(`${openai}&from=2026-02-30&to=2026-03-01`)).slice(0, 2), [400, "from"]);
    assertEquals((await errorOf(openai)).slice(0, 2), [400, "from"]);
    assertEquals((await errorOf(`${openai}&${RANGE}&form=csv`)).slice(0, 2), [400, "form"]);
    assertEquals((await errorOf(`provider=unknown&${RANGE}`))[0], 404);
    const [status, field, message] = await errorOf(`provider=groq&${RANGE}`);
    assertEquals([status, field], [409, "provider"]);
    assertStringIncludes(String(message), 'provider "groq" has no report_key');
  });
});

Deno.test("an invoice is compared by a key with the role read, and as CSV", async () => {
  await withReconciledGateway({}, async (gateway) => {
    await gateway.chat("openai", "chat-1", "Hello");
    const { from, to } = lastDays();
    const { json: made } = await asOperator(gateway)("POST", "/admin/v1/admin-keys", { name: "reader", role: "read" });
    const reader = callerOf(gateway.address, { authorization: `Bearer ${made.secret}` });
    const bill = { provider: "openai", from, to };
    const invoice = "model,cost\nchat-1,0.5\n=cmd,1\n";
    const { status, json, text } = await reader("POST", "/admin/v1/reconcile", { ...bill, invoice });
    assertEquals(status, 200, text);
    assertEquals([json.source, json.days, json.total.theirs.cost], ["invoice", [], "1.5000000000"]);
    assertEquals(json.data.map((row: { model: string }) => row.model), ["=cmd", "chat-1"]);
    assertEquals(json.data[1].gateway_models, ["test/chat-1"]);
    const csv = await reader("POST", "/admin/v1/reconcile", { ...bill, invoice, format: "csv" });
    assertStringIncludes(csv.text, "day,model,their_cost,");
    assertStringIncludes(csv.text, ",'=cmd,1.0000000000,");
    const bad = await reader("POST", "/admin/v1/reconcile", { ...bill, invoice: "a,b\n1,2" });
    assertEquals([bad.status, bad.json.error.field], [400, "invoice"]);
  });
});

Deno.test("the admin key of a vendor is hidden like the key of its calls", async () => {
  await withReconciledGateway({}, async (gateway) => {
    const { text } = await asOperator(gateway)("GET", "/admin/v1/config");
    assertStringIncludes(text, '"report_key"');
    assert(!text.includes(REPORT_KEY));
  });
});
