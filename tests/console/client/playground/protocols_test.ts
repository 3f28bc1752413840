import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Media, Tool } from "../../../../src/console/client/pages/playground/conversation.ts";
import { PROTOCOL_NAMES, PROTOCOLS } from "../../../../src/console/client/pages/playground/protocols/all.ts";
import { startTestGateway } from "../../../support/gateway.ts";
import { answerOf, PLAIN, userText } from "./text_requests.ts";

const MODELS = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];
const WEATHER: Tool = {
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  mockResult: '{"degrees": 21}',
};
const IMAGE: Media = {
  kind: "media",
  name: "dot.png",
  mediaType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};

const MANUAL: Media = { kind: "media", name: "manual.pdf", mediaType: "application/pdf", data: btoa("%PDF-1.4 hello") };
const NOTES: Media = { kind: "media", name: "notes.md", mediaType: "text/markdown", data: btoa("# Notes of May") };

for (const name of PROTOCOL_NAMES) {
  const protocol = PROTOCOLS[name];

  Deno.test(`playground: ${name} shows text, tokens and cost of each vendor`, async () => {
    const gateway = await startTestGateway();
    for (const model of MODELS) {
      const settings = { ...PLAIN, model, system: "Be brief", temperature: 0.5, maxTokens: 64 };
      const { reply } = await answerOf(protocol, protocol.write(settings, [userText("hello")]), gateway);
      assertEquals([reply.text, reply.error], ["You said: hello", null], model);
      assert(reply.usage !== null && reply.usage.input > 0 && reply.usage.output > 0, model);
      assert(reply.cost !== null && reply.cost > 0, model);
      assert(reply.stop !== null, model);
    }
    await gateway.stop();
  });

  Deno.test(`playground: ${name} takes the result of a tool, and keeps its reasoning`, async () => {
    const gateway = await startTestGateway();
    for (const model of MODELS) {
      const settings = { ...PLAIN, model, thinking: "low" as const, tools: [WEATHER] };
      const question = userText('[[think It depends]] [[tool weather {"city":"Bern"}]] Please');
      const { message, reply } = await answerOf(protocol, protocol.write(settings, [question]), gateway);
      assertEquals(reply.calls.map((call) => [call.name, JSON.parse(call.input)]), [["weather", { city: "Bern" }]]);
      const [call] = reply.calls;
      assert(call !== undefined && call.id !== "");
      const results = { role: "tool" as const, results: [{ ...call, text: WEATHER.mockResult }] };
      const next = await answerOf(protocol, protocol.write(settings, [question, message, results]), gateway);
      assert(next.reply.text.includes("weather answered") && next.reply.text.includes("21"), next.reply.text);
      // The conversation goes on in every other protocol, without the reasoning.
      for (const other of PROTOCOL_NAMES.map((each) => PROTOCOLS[each])) {
        const messages = [question, message, results, next.message, userText("thanks")];
        const written = other.write({ ...settings, thinking: "default" }, messages);
        const { reply: last } = await answerOf(other, written, gateway);
        assertEquals(last.text, "You said: thanks", `${name}, then ${other.name}, ${model}`);
      }
    }
    await gateway.stop();
  });

  Deno.test(`playground: ${name} shows reasoning`, async () => {
    const gateway = await startTestGateway();
    const settings = { ...PLAIN, model: "sandbox/messages-1", thinking: "medium" as const };
    const { reply } = await answerOf(
      protocol,
      protocol.write(settings, [userText("[[think It depends]] hi")]),
      gateway,
    );
    assertEquals([reply.thinking, reply.text], ["It depends", "You said: hi"]);
    await gateway.stop();
  });

  Deno.test(`playground: ${name} sends a PDF and a text file to each vendor`, async () => {
    const gateway = await startTestGateway();
    for (const model of MODELS) {
      for (const file of [MANUAL, NOTES]) {
        const message = { role: "user" as const, parts: [{ kind: "text" as const, text: "read" }, file] };
        const { reply } = await answerOf(protocol, protocol.write({ ...PLAIN, model }, [message]), gateway);
        assertEquals(reply.error, null, `${model}, ${file.name}`);
        assertMatch(reply.text, /^You said: read/, `${model}, ${file.name}`);
        const sent = JSON.stringify(gateway.sandbox.requests.at(-1)?.body);
        const hasContent = sent.includes(file.data) || sent.includes(atob(file.data));
        assert(hasContent, `${model} got no content of ${file.name}: ${sent}`);
      }
    }
    await gateway.stop();
  });

  Deno.test(`playground: ${name} sends pictures, and gets an instance of a schema`, async () => {
    const gateway = await startTestGateway();
    const message = { role: "user" as const, parts: [{ kind: "text" as const, text: "look" }, IMAGE] };
    const { reply } = await answerOf(protocol, protocol.write(PLAIN, [message]), gateway);
    assert(reply.text.includes("1 image (image/png"), reply.text);
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const structured = await answerOf(protocol, protocol.write({ ...PLAIN, schema }, [userText("where")]), gateway);
    assertEquals(Object.keys(JSON.parse(structured.reply.text)), ["city"]);
    await gateway.stop();
  });

  Deno.test(`playground: ${name} shows a failure in the stream`, async () => {
    const gateway = await startTestGateway();
    const { reply } = await answerOf(protocol, protocol.write(PLAIN, [userText("[[error 1]] one two three")]), gateway);
    assert(reply.error !== null && reply.error.message !== "", JSON.stringify(reply));
    await gateway.stop();
  });
}
