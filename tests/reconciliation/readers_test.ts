import { assertEquals, assertRejects } from "@std/assert";
import { readCsv } from "../../src/platform/lib/text/csv.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { moneyOf, readExactUsd } from "../../src/vendors/reconciliation/exact_usd.ts";
import { readInvoice } from "../../src/vendors/reconciliation/invoice.ts";
import { readLineItem } from "../../src/vendors/reconciliation/openai_report.ts";
import { VendorSums } from "../../src/vendors/reconciliation/vendor_sums.ts";

const USD = 10n ** 18n;

Deno.test("an amount is read exactly, as number or text, in dollars or cents", () => {
  assertEquals(readExactUsd(0.06), 6n * USD / 100n);
  assertEquals(readExactUsd("0.8958740000000000"), 895_874n * USD / 1_000_000n);
  assertEquals(readExactUsd(1.5e-7), 15n * 10n ** 10n);
  assertEquals(readExactUsd("123.45", 2), 12_345n * USD / 10_000n);
  assertEquals(readExactUsd("-1.00000000000000000099"), -USD);
  for (const value of [NaN, Infinity, "", "1,5", "abc", null, {}, "1e400", "9".repeat(40)]) {
    assertEquals(readExactUsd(value), null, String(value));
  }
});

Deno.test("an amount is rounded half away from zero", () => {
  const unit = 10n ** 8n;
  assertEquals([unit / 2n, unit / 2n - 1n, -unit / 2n, unit * 3n].map(moneyOf), [1n, 0n, -1n, 3n]);
});

Deno.test("a line item of OpenAI has a model, a kind of tokens, and conditions", () => {
  const texts = [
    "gpt-6-sol-2026-09-01, cached input",
    "priority | gpt-6-sol, output, long context",
    "gpt-image-2 image, output",
    "gpt-audio-2 audio, input",
    "gpt-6-astra, input_tokens",
    "gpt-6-sol, cache write 12h",
    "web search tool calls",
  ];
  assertEquals(texts.map(readLineItem), [
    { model: "gpt-6-sol-2026-09-01", dimension: "input_cache_read", condition: null },
    { model: "gpt-6-sol", dimension: "completion", condition: "priority, long context" },
    { model: "gpt-image-2", dimension: "image_output", condition: null },
    { model: "gpt-audio-2", dimension: "audio", condition: null },
    { model: "gpt-6-astra", dimension: "prompt", condition: null },
    { model: "gpt-6-sol", dimension: "input_cache_write_12h", condition: null },
    { model: null, dimension: "web search tool calls", condition: null },
  ]);
});

Deno.test("a table is read with quotes, line feeds within them, other separators and empty lines", () => {
  const cells = (text: string) => [...readCsv(text)].map((line) => [line.number, ...line.cells]);
  assertEquals(cells('\ufeffa,b\r\n"1 ""x""","2\n3"\r\n\r\n4,5'), [[1, "a", "b"], [2, '1 "x"', "2\n3"], [5, "4", "5"]]);
  assertEquals(cells("a;b\n1,5;2\n"), [[1, "a", "b"], [2, "1,5", "2"]]);
  assertEquals(cells(""), []);
});

const NOVEMBER = { fromDay: 20_758, toDay: 20_788 };

async function sumsOf(invoice: string) {
  const sums = new VendorSums();
  await readInvoice(invoice, NOVEMBER, sums);
  return sums.rows.map(({ day, name, isModel, amount, counts, dimensions }) => ({
    day,
    name,
    isModel,
    cost: moneyOf(amount),
    input: counts.inputTokens,
    keys: [...dimensions.values()].map(({ dimension }) => dimension),
  }));
}

Deno.test("an invoice is summed by day and model; other days and the names of columns do not matter", async () => {
  const invoice = [
    "Date,Model Name,Amount USD,Prompt Tokens,Item",
    "2026-11-01,llama,$0.5,100,prompt",
    '2026-11-01,llama,0.25,"1,000",completion',
    "2026-12-01,llama,9,1,prompt",
    "2026-11-30T00:00:00Z,,1,,Support",
  ].join("\n");
  assertEquals(await sumsOf(invoice), [
    { day: 20_758, name: "llama", isModel: true, cost: 7_500_000_000n, input: 1_100, keys: ["prompt", "completion"] },
    { day: 20_787, name: "Support", isModel: false, cost: 10_000_000_000n, input: null, keys: ["Support"] },
  ]);
  assertEquals((await sumsOf("model,cost\nllama,1")).map(({ day, cost }) => [day, cost]), [[null, 10_000_000_000n]]);
});

Deno.test("a bad invoice is refused with its line and column", async () => {
  const messageOf = async (invoice: string) => (await assertRejects(() => sumsOf(invoice), GatewayError)).message;
  const refused = async (invoice: string, expected: string) => {
    assertEquals(await messageOf(invoice), `Cannot read "invoice": ${expected}`);
  };
  await refused("", "expected a line of names and at least one line of values");
  await refused("model,cost", "expected a line of names and at least one line of values");
  await refused("day,cost\n1,2", 'expected a column "model" or "model_name" or "sku" in the first line');
  await refused("model,cost\na,NaN", 'line 2, column "cost": expected US dollars such as 1.25');
  await refused("model,cost,date\na,1,soon", 'line 2, column "date": expected a UTC day such as 2026-11-21');
  await refused("model,cost,requests\na,1,-2", 'line 2, column "requests": expected a number that is not negative');
  await refused('model,cost\n"a,1', "Cannot read line 2: expected a quote at the end of a cell");
});

Deno.test("a bill with too many rows is refused", () => {
  const sums = new VendorSums();
  const add = (place: number) =>
    sums.addItem({ day: 1, model: `m${place}`, dimension: null, condition: null, amount: 1n, quantity: null });
  for (let place = 0; place < 5_000; place++) add(place);
  let message = "";
  try {
    add(5_000);
  } catch (error) {
    message = (error as Error).message;
  }
  assertEquals(message, "Cannot reconcile: the vendor's bill has more than 5000 rows; shorten the range");
});
