import { assertEquals } from "@std/assert";
import { readAnswers, readQuote } from "../../../src/console/client/pages/playground/batches/batch_answers.ts";
import { linesOfOrder, writeBatchOrder } from "../../../src/console/client/pages/playground/batches/batch_order.ts";

const SETTINGS = {
  system: "Be short.",
  temperature: null,
  maxTokens: 50,
  thinking: "default",
  tools: [],
  schema: null,
} as const;

Deno.test("console: a batch of the playground has a line for each prompt and model", () => {
  const lines = linesOfOrder({
    prompts: [{ id: 0, text: " Hello ", files: [] }, { id: 1, text: "  ", files: [] }, {
      id: 2,
      text: "Bye",
      files: [],
    }],
    models: ["a/one", "a/two", "a/one"],
    settings: SETTINGS,
  });
  assertEquals(lines.map(({ customId, prompt, model }) => [customId, prompt, model]), [
    ["1 a/one", "Hello", "a/one"],
    ["1 a/two", "Hello", "a/two"],
    ["2 a/one", "Bye", "a/one"],
    ["2 a/two", "Bye", "a/two"],
  ]);
  const { requests, ...create } = writeBatchOrder(lines.slice(0, 1));
  assertEquals(create, { endpoint: "/v1/chat/completions", completion_window: "24h" });
  assertEquals(requests, [{
    custom_id: "1 a/one",
    body: {
      model: "a/one",
      messages: [{ role: "system", content: "Be short." }, { role: "user", content: "Hello" }],
      max_completion_tokens: 50,
    },
  }]);
});

Deno.test("console: the estimate of a batch has its lines, its highest cost, who runs them and a refusal", () => {
  const response = {
    estimate: { requests: 4, batch_cost: "0.0012000000", cost: 0.0012 },
    service_batch: { mode: "mixed", estimate: "0.0012000000" },
    refused_by: { code: "insufficient_credits", message: "No money" },
  };
  assertEquals(readQuote(response), { lines: 4, estimate: "0.0012000000", mode: "mixed", refusal: "No money" });
  assertEquals(readQuote({ ...response, refused_by: null }).refusal, "");
});

Deno.test("console: replies, failures and lines that were not run are read by their ids", () => {
  const body = {
    choices: [{ message: { content: "Hi", tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] } }],
    usage: { prompt_tokens: 3, completion_tokens: 5 },
  };
  const none = { text: "", calls: [], tokens: { input: 0, output: 0 } };
  const file = [
    { custom_id: "a", response: { status_code: 200, body }, error: null },
    { custom_id: "b", response: { status_code: 400, body: { error: { code: "no", message: "No" } } }, error: null },
    { custom_id: "c", response: null, error: { code: "batch_cancelled", message: "Too late" } },
  ].map((line) => `${JSON.stringify(line)}\n`).join("");
  assertEquals(Object.fromEntries(readAnswers(file)), {
    a: { text: "Hi", calls: [{ id: "c", name: "f", input: "{}" }], tokens: { input: 3, output: 5 }, error: null },
    b: { ...none, error: { code: "no", message: "No" } },
    c: { ...none, error: { code: "batch_cancelled", message: "Too late" } },
  });
});
