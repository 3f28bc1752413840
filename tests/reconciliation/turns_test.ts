import { assertEquals } from "@std/assert";
import { compare } from "../../src/vendors/reconciliation/compare.ts";
import { readOpenaiReport } from "../../src/vendors/reconciliation/openai_report.ts";
import { VendorSums } from "../../src/vendors/reconciliation/vendor_sums.ts";
import { EventLoopTurns } from "../support/event_loop_turns.ts";

const DAY_SECONDS = 86_400;
const DAYS = 30;
const MODELS = 100;

/** A month of a hundred models with three line items each. */
function pageOf(query: URLSearchParams) {
  const first = Number(query.get("page") ?? query.get("start_time"));
  const end = Math.min(Number(query.get("end_time")), first + Number(query.get("limit")) * DAY_SECONDS);
  const days = Array.from({ length: (end - first) / DAY_SECONDS }, (_, place) => first + place * DAY_SECONDS);
  const isCosts = query.get("group_by") === "line_item";
  const results = Array.from({ length: MODELS }, (_, place) => `model-${place}`).flatMap((model): readonly object[] =>
    isCosts
      ? ["input", "cached input", "output"].map((kind) => ({
        amount: { value: 0.001, currency: "usd" },
        line_item: `${model}, ${kind}`,
        quantity: 10,
      }))
      : [{ model, input_tokens: 20, input_cached_tokens: 10, output_tokens: 10, num_model_requests: 1 }]
  );
  const hasMore = end < Number(query.get("end_time"));
  return {
    data: days.map((start_time) => ({ start_time, results })),
    has_more: hasMore,
    next_page: hasMore ? String(end) : null,
  };
}

Deno.test("a month of a hundred models is read and compared in many turns of the event loop", async () => {
  const range = { fromDay: 20_000, toDay: 20_000 + DAYS };
  const sums = new VendorSums();
  using turns = new EventLoopTurns();
  await readOpenaiReport((_path, query) => Promise.resolve(pageOf(query)), range, sums);
  const ours = { rows: [], nameOf: (name: string) => name, firstDay: 0 };
  const { rows, total } = await compare({ theirs: sums.rows, ours, range, reported: range, today: 30_000 });
  assertEquals([rows.length, total.theirs.cost], [DAYS * MODELS, 90_000_000_000n]);
  assertEquals(total.theirs.counts.requests, DAYS * MODELS);
  turns.assertAbout(2 * DAYS + rows.length / 500, "the comparison");
});
