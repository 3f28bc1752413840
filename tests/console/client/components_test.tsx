import { assert, assertEquals } from "@std/assert";
import { render } from "preact-render-to-string";
import { ApiError } from "../../../src/console/client/api.ts";
import { StatusBadge } from "../../../src/console/client/components/badge.tsx";
import { DataTable } from "../../../src/console/client/components/tables/data_table.tsx";
import { ErrorNotice } from "../../../src/console/client/components/error_notice.tsx";
import { Instant } from "../../../src/console/client/components/instant.tsx";
import { NearEndCards } from "../../../src/console/client/pages/overview/near_end_cards.tsx";
import { EndingCard } from "../../../src/console/client/pages/overview/ending_card.tsx";
import { ErrorsCard } from "../../../src/console/client/pages/overview/errors_card.tsx";
import { PriceNoticeText } from "../../../src/console/client/pages/overview/price_notice.tsx";
import { ProvidersCard } from "../../../src/console/client/pages/overview/providers_card.tsx";
import { QueuesCard } from "../../../src/console/client/pages/overview/queues_card.tsx";
import { SetupSteps } from "../../../src/console/client/pages/overview/setup_card.tsx";
import { TrafficStats } from "../../../src/console/client/pages/overview/traffic_stats.tsx";
import { DeliveryAttempts } from "../../../src/console/client/pages/webhooks/delivery_attempts.tsx";
import { PendingTable } from "../../../src/console/client/pages/prices/pending_table.tsx";
import { SourceFacts } from "../../../src/console/client/pages/prices/prices_page.tsx";
import { Timeline } from "../../../src/console/client/pages/requests/timeline.tsx";
import { ComparedBills } from "../../../src/console/client/pages/bills/compared_bills.tsx";
import { pagesFor } from "../../../src/console/client/pages.ts";
import type { PriceSource, Reconciliation } from "../../../src/console/client/shapes.ts";
import { session } from "../../../src/console/client/session_state.ts";
import { SignIn } from "../../../src/console/client/sign_in.tsx";
import { LOGGED_REQUEST, TRAFFIC } from "./samples.ts";

const SCRIPT = '<img src=x onerror="alert(1)">';

Deno.test("console: an error has its message and the id of the request, as text", () => {
  const error = new ApiError(SCRIPT, 500, "internal_error", "req_1");
  const html = render(<ErrorNotice error={error} />);
  assert(html.includes('role="alert"') && html.includes("<code>req_1</code>"));
  assert(!html.includes("<img") && html.includes("&lt;img"));
});

Deno.test("console: an instant is in the viewer's zone, with UTC on hover", () => {
  const html = render(<Instant at={1_795_349_563.25} />);
  assert(html.includes('datetime="2026-11-22T12:12:43.250Z"'), html);
  assert(html.includes('title="2026-11-22 12:12:43.250 UTC"'), html);
});

Deno.test("console: a table has a label, heads of columns, and texts of callers without markup", () => {
  const html = render(
    <DataTable
      label="Models"
      rows={[{ id: SCRIPT }]}
      keyOf={({ id }) => id}
      hrefOf={() => "/console/requests/req_1"}
      columns={[{ title: "Model", cell: ({ id }) => id }]}
    />,
  );
  assert(html.includes('aria-label="Models"') && html.includes('<th scope="col" role="columnheader">Model</th>'));
  assert(html.includes('href="/console/requests/req_1"') && !html.includes("<img"));
});

Deno.test("console: the steps to a first request lead to the forms, and the next one is the most prominent", () => {
  const html = render(<SetupSteps setup={{ hasProvider: true, account: "shop", hasKey: false, hasRequest: false }} />);
  assertEquals(html.match(/class="done"/g)?.length, 2);
  assert(html.includes('class="button primary" href="/console/accounts/shop?form=key"'), html);
  assert(html.includes('class="button" href="/console/playground"'), html);
});

Deno.test("console: a status is green, yellow or red by its class", () => {
  const toneOf = (status: number) => /badge (\w+)/.exec(render(<StatusBadge status={status} />))?.[1];
  assertEquals([200, 302, 404, 429, 500, 503].map(toneOf), ["good", "good", "warn", "warn", "bad", "bad"]);
});

Deno.test("console: the overview has the rate, the failures, the spend and the latencies of a span", () => {
  const html = render(<TrafficStats answer={TRAFFIC} isRange={false} />);
  for (const text of ["0.5", "10%", "$1.25", "1.5K", "120 ms", "p95 800 ms", "1.2 s", "512 KiB"]) {
    assert(html.includes(`>${text}`) || html.includes(text), text);
  }
});

Deno.test("console: the overview has the jobs by kind, and a provider's waiting requests", () => {
  const html = render(<QueuesCard jobs={{ video_poll: 2, webhook: 1_200, other_kind: 1, cache_delete: 0 }} />);
  assert(html.indexOf("Webhooks to deliver") < html.indexOf("Videos to poll"));
  assert(html.includes(">1,200<") && html.includes("<code>other_kind</code>") && !html.includes("Caches"), html);
  assert(render(<QueuesCard jobs={{}} />).includes("No jobs"));
  const health = {
    state: "ready" as const,
    circuit: "closed" as const,
    failures_in_a_row: 0,
    rests_until: null,
    models: [],
    last_failure_at: null,
    succeeded: 1,
    failed: 0,
    kind: "openai",
    credentials: [],
  };
  const limits = { rpm: null, tpm: null, concurrency: 2, open: 2, waiting: 37 };
  const providers = [{ ...health, name: "busy", limits }, { ...health, name: "free", limits: null }];
  assert(render(<ProvidersCard providers={providers} />).includes(">37<"));
});

Deno.test("console: each code of errors leads to its requests, and no errors say so", () => {
  const html = render(<ErrorsCard errors={{ not_found: 2, rate_limited: 5 }} />);
  assert(html.indexOf("rate_limited") < html.indexOf("not_found"));
  assert(html.includes('href="/console/requests?code=rate_limited"'));
  assert(render(<ErrorsCard errors={{}} />).includes("No request failed"));
});

Deno.test("console: balances that end soon lead to their accounts, with what is left and until when it lasts", () => {
  const ending = [{
    account: "acme",
    left: "12.5000000000",
    spent_per_day: "4.0000000000",
    lasts_until: 1_796_256_000,
  }];
  const html = render(<EndingCard ending={ending} />);
  assert(html.includes('href="/console/accounts/acme"'), html);
  assert(html.includes("$12.50") && html.includes("$4.00"), html);
  assert(html.includes('datetime="2026-12-03T00:00:00.000Z"'), html);
});

Deno.test("console: budgets that are nearly spent, and keys that expire soon, lead to their account or key", () => {
  const now = { open_streams: 0, memory: { in_use: 0, limit: 0 }, jobs: {} };
  assertEquals(render(<NearEndCards now={now} />), "");
  const budget = { amount: "20.0000000000", per: "month", spent: "17.9800000000", resets_at: 1_796_256_000 } as const;
  const key = { account: "acme", key: "key_1", name: "ci" };
  const expiring = [{ account: "beta", key: null, name: "Beta Ltd", expires_at: 1_796_256_000 }];
  const html = render(<NearEndCards now={{ ...now, budgets: [{ ...key, ...budget }], expiring }} />);
  assert(html.includes('href="/console/accounts/acme/keys/key_1"') && html.includes("acme · ci"), html);
  assert(html.includes("89 %") && html.includes("$20.00"), html);
  assert(html.includes('href="/console/accounts/beta"'), html);
});

Deno.test("console: the timeline shows each attempt at its time, and why it failed", () => {
  const html = render(<Timeline request={LOGGED_REQUEST} />);
  assert(html.includes("1. openai") && html.includes("2. azure"));
  assert(html.includes("unavailable: The engine is overloaded"));
  assert(html.includes("left:10%") || html.includes("left: 10%"), html);
});

Deno.test("console: an attempt of a delivery has the answer of the receiver, as text", () => {
  const attempt = { number: 1, started_at: 1, duration_ms: 5, failure: "status", reason: null, answer_bytes: 40 };
  const html = render(<DeliveryAttempts attempts={[{ ...attempt, status: 403, answer_start: SCRIPT }]} />);
  assert(html.includes("403") && html.includes("&lt;img") && !html.includes("<img"));
});

Deno.test("console: the sign-in page has one labelled field that keeps its key hidden", () => {
  const html = render(<SignIn problem={null} />);
  assert(
    html.includes('type="password"') && html.includes("<label") && html.includes('aria-describedby="sign-in-hint"'),
  );
});

const SOURCE: PriceSource = {
  source: "https://prices.example/list.json",
  is_built_in: false,
  every: 21_600,
  max_change: 0.5,
  keep: 2_592_000,
  models: 412,
  read_at: 1_795_349_563,
  effective_from: 1_795_349_565,
  is_stale: false,
  failure: null,
  pending: [{
    model: SCRIPT,
    before: { prompt: "0.000002" },
    after: null,
    reason: "vanished",
  }],
};

Deno.test("console: prices that wait are shown with a button for those who may apply them", () => {
  const applied: (readonly string[])[] = [];
  const shown = render(<PendingTable pending={SOURCE.pending} onApply={(models) => void applied.push(models)} />);
  assert(
    shown.includes("left out") && shown.includes("prompt: $2.00 per million tokens") &&
      shown.includes(">Apply</button>"),
    shown,
  );
  assert(!shown.includes("<img"));
  assert(!render(<PendingTable pending={SOURCE.pending} onApply={null} />).includes("<button"));
});

Deno.test("console: a price source that is not read is named at its page and at the overview", () => {
  const stale = { ...SOURCE, is_stale: true, failure: { at: 1_795_349_563, reason: "expected status 200, got 503" } };
  assert(render(<SourceFacts source={stale} />).includes("expected status 200, got 503"));
  assert(render(<PriceNoticeText source={stale} />).includes("The last prices stay in effect"));
  assert(render(<PriceNoticeText source={SOURCE} />).includes("1 price change is waiting"));
  assertEquals(render(<PriceNoticeText source={{ ...SOURCE, pending: [] }} />), "");
  assert(render(<SourceFacts source={{ ...SOURCE, is_built_in: true }} />).includes("built-in"));
});

const sumsOf = (cost: string, requests: number | null) => ({
  cost,
  requests,
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
});
const COMPARED = {
  theirs: sumsOf("2.7500000000", 2),
  ours: sumsOf("2.5000000000", 1),
  difference: sumsOf("0.2500000000", null),
};

Deno.test("console: a bill has both sides, marked days, reasons with their requests, and texts without markup", () => {
  const found: Reconciliation = {
    provider: "openai",
    source: "openai",
    total: COMPARED,
    days: [{ day: "2026-11-20", state: "not_recorded", theirs: null, ours: null, difference: null }],
    explanations: [{
      day: "2026-11-21",
      model: SCRIPT,
      difference: "0.2500000000",
      ours_from: "request_log",
      dimensions: [],
      reasons: [{ kind: "price", text: SCRIPT, dimension: "prompt", amount: null, requests: ["req_1"] }],
    }],
    data: [{ day: "2026-11-21", model: SCRIPT, gateway_models: [], ...COMPARED }],
  };
  const html = render(<ComparedBills found={found} />);
  for (const text of ["2.75", "2.5", "0.25", "2026-11-20: before the first entry", "requests/req_1", "–"]) {
    assert(html.includes(text), text);
  }
  assert(!html.includes("<img"));
  assert(render(<ComparedBills found={{ ...found, explanations: [] }} />).includes("Both sides match"));
});

Deno.test("console: operators and callers have different pages, with different paths", () => {
  const pathsOf = (kind: "operator" | "caller") => pagesFor({ kind }).map(({ path }) => path);
  assertEquals(pathsOf("operator"), [
    "overview",
    "playground",
    "requests",
    "videos",
    "batches",
    "webhooks",
    "caches",
    "usage",
    "accounts",
    "models",
    "prices",
    "bills",
    "providers",
    "configuration",
    "audit",
  ]);
  assertEquals(pathsOf("caller"), ["account", "playground", "requests", "videos", "batches", "usage", "models"]);
  assertEquals(session.value, undefined);
});
