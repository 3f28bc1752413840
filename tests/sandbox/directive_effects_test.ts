import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ApiError } from "@google/genai";
import OpenAI from "openai";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { ENDPOINTS, FORMS, inSandbox, post, postStreamed } from "./support.ts";

/** Returns the body of a response, and whether its connection broke. */
async function received(response: Response): Promise<{ text: string; broke: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
    return { text, broke: false };
  } catch {
    return { text, broke: true };
  }
}

/** Returns the text of a streamed reply. */
function said(text: string): string {
  return [...text.matchAll(/"(?:content|delta|text)":"([^"]*)"/g)].map(([, word]) => word).join("");
}

const chat = (content: string) => ({ model: "m", messages: [{ role: "user" as const, content }] });
const messages = (content: string) => ({ ...chat(content), max_tokens: 1000 });

Deno.test("[[fail]] fails with that status in each vendor's shape", () =>
  inSandbox(async ({ openai, anthropic, google }) => {
    const ofChat = () => openai.chat.completions.create(chat("[[fail 503]]"));
    assertEquals((await assertRejects(ofChat, OpenAI.InternalServerError)).type, "server_error");
    const ofResponses = () => openai.responses.create({ model: "m", input: "[[fail 400 Too odd]]" });
    assertEquals((await assertRejects(ofResponses, OpenAI.BadRequestError)).message, "400 Too odd");
    const ofMessages = await assertRejects(
      () => anthropic.messages.create(messages("[[fail 529]]")),
      Anthropic.InternalServerError,
    );
    assertMatch(ofMessages.message, /overloaded_error/);
    const contents = "[[fail 500]]";
    const ofContent = await assertRejects(() => google.models.generateContent({ model: "m", contents }), ApiError);
    assertMatch(ofContent.message, /INTERNAL/);
  }));

Deno.test("[[fail 429 7]] reports the retry time as each vendor does", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of FORMS) {
      const response = await post(sandbox, form, ENDPOINTS[form].body("[[fail 429 7]]"));
      const text = await response.text();
      assertEquals(response.status, 429);
      if (form === "content") assertMatch(text, /"retryDelay":"7s"/);
      else assertEquals(response.headers.get("retry-after"), "7");
    }
  }));

Deno.test("[[fail]] of a stream returns a plain error", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of FORMS) {
      const response = await postStreamed(sandbox, form, "[[fail 503]]");
      assertEquals([response.status, response.headers.get("content-type")], [503, "application/json"]);
      await response.body?.cancel();
    }
  }));

Deno.test("a directive with a vendor's name applies only to that vendor", () =>
  inSandbox(async ({ sandbox }) => {
    const statuses = await Promise.all(FORMS.map(async (form) => {
      const response = await post(sandbox, form, ENDPOINTS[form].body("[[anthropic: fail 503]] Hi"));
      await response.body?.cancel();
      return response.status;
    }));
    assertEquals(statuses, [200, 200, 503, 200]);
  }));

Deno.test("[[flaky 2]] fails twice per text, then succeeds", () =>
  inSandbox(async ({ sandbox }) => {
    const status = async (text: string) => {
      const response = await post(sandbox, "chat", chat(text));
      await response.body?.cancel();
      return response.status;
    };
    const statuses = [];
    for (const text of ["a", "a", "b", "a", "a"]) statuses.push(await status(`[[flaky 2]] ${text}`));
    assertEquals(statuses, [503, 503, 503, 200, 200]);
  }));

Deno.test("[[stall]] delays the first byte", async () => {
  const clock = new ManualClock();
  await inSandbox(async ({ sandbox }) => {
    let answered = false;
    const response = post(sandbox, "chat", chat("[[stall 2000]] Hi")).then((answer) => {
      answered = true;
      return answer;
    });
    await until(() => clock.waiting === 1);
    clock.advance(1999);
    assert(!answered && clock.waiting === 1);
    clock.advance(1);
    assertMatch(await (await response).text(), /You said: Hi/);
  }, { clock });
});

Deno.test("[[pause]] delays the middle of a stream", async () => {
  const clock = new ManualClock();
  await inSandbox(async ({ sandbox }) => {
    const reader = (await postStreamed(sandbox, "chat", "[[pause 1000]] [[say a b c d]]")).body!.getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!said(text).includes("b")) text += decoder.decode((await reader.read()).value);
    await until(() => clock.waiting === 1);
    assertEquals(said(text), "a b");
    clock.advance(1000);
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) text += decoder.decode(chunk.value);
    assertEquals(said(text), "a b c d");
  }, { clock });
});

Deno.test("[[gap]] delays each delta", async () => {
  const clock = new ManualClock();
  await inSandbox(async ({ sandbox }) => {
    const response = await postStreamed(sandbox, "chat", "[[gap 10]] [[say a b c]]");
    const text = response.text();
    const started = clock.now();
    for (let delta = 0; delta < 3; delta++) {
      await until(() => clock.waiting === 1);
      clock.advance(10);
    }
    assertEquals(said(await text), "a b c");
    assertEquals(clock.now() - started, 30);
  }, { clock });
});

Deno.test("[[cut 3]] breaks the connection after three deltas", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of FORMS) {
      const { text, broke } = await received(await postStreamed(sandbox, form, "[[cut 3]] [[say a b c d e]]"));
      assertEquals([said(text), broke], ["a b c", true], form);
    }
    assert((await received(await post(sandbox, "chat", chat("[[cut 3]] Hi")))).broke);
  }));

Deno.test("[[close 3]] ends the body after three deltas as if it were complete", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of FORMS) {
      const { text, broke } = await received(await postStreamed(sandbox, form, "[[close 3]] [[say a b c d e]]"));
      assertEquals([said(text), broke], ["a b c", false], form);
    }
  }));

Deno.test("[[error 2]] reports the vendor's own error in the stream", () =>
  inSandbox(async ({ openai, anthropic, google, sandbox }) => {
    const prompt = "[[error 2]] [[say a b c]]";
    const inChat = async () => {
      for await (const _ of await openai.chat.completions.create({ ...chat(prompt), stream: true }));
    };
    assertMatch((await assertRejects(inChat, OpenAI.APIError)).message, /server had an error/);
    const inResponses = async () => {
      for await (const _ of await openai.responses.create({ model: "m", input: prompt, stream: true }));
    };
    await assertRejects(inResponses, OpenAI.APIError);
    assertMatch(await (await postStreamed(sandbox, "responses", prompt)).text(), /event: error[^]*response\.failed/);
    const inMessages = () => anthropic.messages.stream(messages(prompt)).finalMessage();
    assertMatch((await assertRejects(inMessages, Anthropic.APIError)).message, /overloaded_error/);
    const inContent = async () => {
      for await (const _ of await google.models.generateContentStream({ model: "m", contents: prompt }));
    };
    assertMatch((await assertRejects(inContent)).message, /UNAVAILABLE/);
  }));

Deno.test("[[error]] fails a request without streaming", () =>
  inSandbox(async ({ openai }) => {
    const create = () => openai.chat.completions.create(chat("[[error 2]]"));
    assertEquals((await assertRejects(create, OpenAI.InternalServerError)).status, 503);
  }));

Deno.test("[[truncate]] ends the body inside a JSON text", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of FORMS) {
      const whole = await post(sandbox, form, ENDPOINTS[form].body("[[truncate]] Hi"));
      assertEquals(whole.status, 200);
      await assertRejects(() => whole.json(), SyntaxError);
      const { text, broke } = await received(await postStreamed(sandbox, form, "[[truncate]] Hi"));
      const last = text.trimEnd().split("data: ").at(-1)!;
      await assertRejects(() => Promise.resolve().then(() => JSON.parse(last)), SyntaxError);
      assert(!broke);
    }
  }));

Deno.test("[[html]] returns a page with status 200", () =>
  inSandbox(async ({ sandbox }) => {
    const response = await post(sandbox, "content", ENDPOINTS.content.body("[[html]]"));
    assertEquals([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assertMatch(await response.text(), /<h1>/);
  }));

Deno.test("[[nousage]] omits the usage", () =>
  inSandbox(async ({ sandbox }) => {
    for (const form of FORMS) {
      const whole = await post(sandbox, form, ENDPOINTS[form].body("[[nousage]] Hi"));
      const streamed = await postStreamed(sandbox, form, "[[nousage]] Hi");
      for (const text of [await whole.text(), await streamed.text()]) {
        assert(!/"usage(Metadata)?":\{/.test(text), text);
      }
    }
  }));

Deno.test("[[say]] replaces the echo with its text", () =>
  inSandbox(async ({ openai }) => {
    const { output_text } = await openai.responses.create({ model: "m", input: "Hi [[say Good day.]]" });
    assertEquals(output_text, "Good day.");
  }));

Deno.test("[[words]] returns that many words, one per delta", () =>
  inSandbox(async ({ anthropic }) => {
    const deltas: string[] = [];
    await anthropic.messages.stream(messages("[[words 200]]")).on("text", (text) => deltas.push(text)).finalMessage();
    assertEquals([deltas.length, deltas[0], deltas[199]], [200, "word1", " word200"]);
  }));

Deno.test("[[think]] adds reasoning, [[redact]] hides it", () =>
  inSandbox(async ({ anthropic, google }) => {
    const blocks = async (text: string) => (await anthropic.messages.create(messages(text))).content;
    const thought = itemAt(await blocks("[[think It depends]] Hi"), 0);
    assertEquals(thought.type === "thinking" && thought.thinking, "It depends");
    const hidden = await blocks("[[redact It depends]] Hi");
    assertEquals(hidden.map(({ type }) => type), ["redacted_thinking", "text"]);
    const again = [{ role: "assistant" as const, content: hidden }, { role: "user" as const, content: "And?" }];
    const both = { ...messages("Hi"), messages: [...messages("Hi").messages, ...again] };
    assertEquals((await anthropic.messages.create(both)).stop_reason, "end_turn");
    const shown = await google.models.generateContent({ model: "m", contents: "[[redact It depends]] Hi" });
    assertEquals(itemAt(shown.candidates!, 0).content!.parts!.length, 1);
  }));

Deno.test("[[tool]] calls the tool with the given or generated arguments", () =>
  inSandbox(async ({ google }) => {
    const { functionCalls } = await google.models.generateContent({
      model: "m",
      contents: '[[tool f {"a":1}]] [[tool f]]',
      config: {
        tools: [{
          functionDeclarations: [{
            name: "f",
            parametersJsonSchema: { type: "object", properties: { a: { type: "integer", minimum: 9 } } },
          }],
        }],
      },
    });
    assertEquals(functionCalls!.map(({ args }) => args), [{ a: 1 }, { a: 9 }]);
  }));

Deno.test("[[stop]] reports that reason in each format's term", () =>
  inSandbox(async ({ openai, anthropic, google }) => {
    const text = "[[stop max_tokens]] Hi";
    assertEquals((await openai.chat.completions.create(chat(text))).choices[0]?.finish_reason, "length");
    assertEquals((await openai.responses.create({ model: "m", input: text })).status, "incomplete");
    assertEquals((await anthropic.messages.create(messages(text))).stop_reason, "max_tokens");
    const reply = await google.models.generateContent({ model: "m", contents: text });
    assertEquals(itemAt(reply.candidates!, 0).finishReason as string, "MAX_TOKENS");
  }));

Deno.test("[[refuse]] declines as each vendor does", () =>
  inSandbox(async ({ openai, anthropic, google }) => {
    const { message } = itemAt((await openai.chat.completions.create(chat("[[refuse]]"))).choices, 0);
    assertEquals([message.content, message.refusal], [null, "I cannot help with that."]);
    const item = itemAt((await openai.responses.create({ model: "m", input: "[[refuse]]" })).output, 0);
    assertEquals(item.type === "message" && itemAt(item.content, 0).type, "refusal");
    const reply = await anthropic.messages.create(messages("[[refuse]]"));
    assertEquals([reply.stop_reason, reply.content.length], ["refusal", 0]);
    const blocked = await google.models.generateContent({ model: "m", contents: "[[refuse]]" });
    assertEquals(blocked.promptFeedback?.blockReason as string, "PROHIBITED_CONTENT");
  }));
