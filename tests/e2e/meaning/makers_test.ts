import { assert, assertEquals } from "@std/assert";
import { PRICING, startTestGateway } from "../../support/gateway.ts";
import { type Json, responsesReply } from "./scripted_vendors.ts";

// Encrypted reasoning goes to the provider and the credential that made it, or is left out and named.

const ENCRYPTED = "ENC+/OF-ONE==";
const OUTPUT = [
  { id: "rs_1", type: "reasoning", summary: [], encrypted_content: ENCRYPTED },
  { id: "fc_1", type: "function_call", status: "completed", call_id: "c1", name: "f", arguments: "{}" },
];

interface Asked {
  /** The vendor's path and the key that it got. */
  readonly maker: string;
  readonly text: string;
}

const asked: Asked[] = [];
/** The makers that fail. */
const failing = new Set<string>();

/** Vendors of the responses format; each path is another provider. */
const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  const maker = `${new URL(request.url).pathname.split("/")[1]} ${request.headers.get("authorization")?.split(" ")[1]}`;
  const text = await request.text();
  asked.push({ maker, text });
  if (failing.has(maker)) return Response.json({ error: { message: "overloaded" } }, { status: 503 });
  if (JSON.parse(text).stream !== true) return Response.json(responsesReply(OUTPUT));
  const events = [
    { type: "response.created", response: responsesReply([], { status: "in_progress" }) },
    ...OUTPUT.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: responsesReply(OUTPUT) },
  ];
  return new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
});

/** The answer to a question with a history. */
interface Turn {
  readonly output: readonly Json[];
  readonly dropped: string;
  readonly asked: Asked;
}

for (const isolates of [1, 2]) {
  Deno.test(`encrypted reasoning goes to its maker only, with ${isolates} threads`, async (t) => {
    const base_url = `http://127.0.0.1:${vendor.addr.port}`;
    const provider = (path: string, more: Json) => ({
      kind: "openai",
      speaks: "responses",
      base_url: `${base_url}/${path}/v1`,
      ...more,
    });
    const gateway = await startTestGateway({
      isolates,
      config: {
        providers: {
          one: provider("one", { api_key: "key-one" }),
          two: provider("two", { api_key: "key-two" }),
          keys: provider("keys", {
            credentials: [{ name: "a", api_key: "key-a" }, { name: "b", api_key: "key-b" }],
          }),
        },
        models: [["both/gpt-5", ["one", "two"]], ["keys/gpt-5", ["keys"]], ["single/gpt-5", ["one"]]].map(
          ([id, providers]) => ({
            id,
            pricing: PRICING,
            context_length: 400_000,
            serves: (providers as string[]).map((each) => ({ provider: each, model: "gpt-5" })),
          }),
        ),
      },
    });

    async function ask(model: string, input: readonly Json[], isStream: boolean): Promise<Turn> {
      asked.length = 0;
      const response = await fetch(`${gateway.address}/v1/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, store: false, stream: isStream, input }),
      });
      const text = await response.text();
      assertEquals(response.status, 200, text);
      const events = text.split("\n").filter((line) => line.startsWith("data: ")).map((line) =>
        JSON.parse(line.slice("data: ".length))
      );
      const names = text.split("\n").filter((line) => line.startsWith("event: ")).map((line) => line.slice(7));
      assertEquals(names, events.map(({ type }) => type), "each event keeps its name");
      const items = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
      const whole = isStream ? events.at(-1).response.output : JSON.parse(text).output;
      if (isStream) assertEquals(items, whole);
      return {
        output: whole,
        dropped: response.headers.get("x-service-dropped") ?? "",
        asked: asked.at(-1)!,
      };
    }

    const QUESTION = { role: "user", content: "a" };
    const RESULT = { type: "function_call_output", call_id: "c1", output: "x" };
    try {
      for (const model of ["both/gpt-5", "keys/gpt-5"]) {
        for (const isStream of [false, true]) {
          await t.step(`${model}, ${isStream ? "streamed" : "whole"}`, async () => {
            for (let round = 0; round < 12; round++) {
              const first = await ask(model, [QUESTION], isStream);
              assert(!JSON.stringify(first.output).includes(ENCRYPTED), "it has its maker's name");
              const next = await ask(model, [QUESTION, ...first.output, RESULT], isStream);
              assertEquals(next.asked.maker, first.asked.maker, "the maker is preferred");
              assert(next.asked.text.includes(JSON.stringify(ENCRYPTED)), "the maker gets it as it was");
              assertEquals(next.dropped, "");
            }
          });
        }

        await t.step(`${model}: without its maker, it is left out and named`, async () => {
          const first = await ask(model, [QUESTION], false);
          failing.add(first.asked.maker);
          try {
            const next = await ask(model, [QUESTION, ...first.output, RESULT], false);
            assert(next.asked.maker !== first.asked.maker);
            assert(!next.asked.text.includes('encrypted_content":') && !next.asked.text.includes(ENCRYPTED));
            assert(next.dropped !== "", "the loss is named");
          } finally {
            failing.clear();
          }
        });
      }

      await t.step("a model with one provider keeps the vendor's bytes", async () => {
        const { output } = await ask("single/gpt-5", [QUESTION], false);
        assertEquals(output, OUTPUT);
      });
    } finally {
      await gateway.stop();
    }
  });
}

Deno.test.afterAll(() => vendor.shutdown());
