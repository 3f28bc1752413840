import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { toneFile } from "../../../src/sandbox/tones.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type {
  TranscriptOrder,
  TranscriptUpstream,
} from "../../../src/vendors/upstreams/contract/transcript_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { imageOf, type Seen, type VendorAnswer, withVendor } from "../vendor.ts";

const EXCHANGE = { reserve: () => {}, onResponse: () => {} };
const AUDIO = toneFile("a red fox");
const ORDER: TranscriptOrder = {
  model: "gemini-3.5-flash",
  translates: false,
  file: imageOf(AUDIO, "audio/vnd.wave"),
  filename: "audio.wav",
  format: "json",
  fields: [],
};
const USAGE = {
  promptTokenCount: 90,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 6,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 60 }, { modality: "AUDIO", tokenCount: 30 }],
};
const answerOf = (parts: readonly unknown[], more: Record<string, unknown> = {}): VendorAnswer => ({
  body: { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", ...more }], usageMetadata: USAGE },
});

function withTranscripts(
  answer: VendorAnswer,
  test: (transcripts: TranscriptUpstream, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  return withVendor("google", [answer], async (provider, seen) => {
    await test(await provider.capabilities.transcripts!.load(), seen);
  });
}

Deno.test("Gemini transcripts: the audio precedes the instruction, with least reasoning", async () => {
  await withTranscripts(answerOf([{ text: "A red fox." }]), async (transcripts, seen) => {
    const fields = [["language", "de"], ["prompt", "Rotfuchs"], ["temperature", "0.2"], ["include[]", "x"]] as const;
    await transcripts.transcribe({ ...ORDER, fields }, EXCHANGE);
    await transcripts.transcribe({ ...ORDER, model: "gemini-2.5-pro", translates: true }, EXCHANGE);
    await transcripts.transcribe({ ...ORDER, model: "gemini-2.5-flash" }, EXCHANGE);
    await transcripts.transcribe({ ...ORDER, model: "gemini-flash-latest", filename: "audio.mp3" }, EXCHANGE);
    const [first, second, third, last] = seen.map(({ json }) => json);
    assertEquals(seen[0]?.path, "/base/v1beta/models/gemini-3.5-flash:generateContent");
    const [sound, instruction] = first.contents[0].parts;
    assertEquals(sound, { inlineData: { mimeType: "audio/wav", data: AUDIO.toBase64() } });
    assertStringIncludes(instruction.text, "word for word");
    assertStringIncludes(instruction.text, "The language of the audio: de");
    assertStringIncludes(instruction.text, "Rotfuchs");
    assertEquals(first.generationConfig, { temperature: 0.2, thinkingConfig: { thinkingLevel: "MINIMAL" } });
    assertStringIncludes(second.contents[0].parts[1].text, "into English");
    assertEquals(second.generationConfig, { thinkingConfig: { thinkingBudget: 128 } });
    assertEquals(third.generationConfig, { thinkingConfig: { thinkingBudget: 0 } });
    assertEquals([last.generationConfig, last.contents[0].parts[0].inlineData.mimeType], [undefined, "audio/mp3"]);
    assertEquals(transcripts.dropped({ fields }), ["include[]"]);
  });
});

Deno.test("Gemini transcripts: the text without drafts, and the tokens by modality", async () => {
  const parts = [{ thought: true, text: "Hm" }, { text: "A red " }, { text: "fox.\n" }];
  await withTranscripts(answerOf(parts), async (transcripts) => {
    const { bytes, characters, report } = await transcripts.transcribe(ORDER, EXCHANGE);
    assertEquals(JSON.parse(new TextDecoder().decode(bytes)), {
      text: "A red fox.",
      usage: {
        type: "tokens",
        input_tokens: 90,
        input_token_details: { text_tokens: 60, audio_tokens: 30 },
        output_tokens: 10,
        total_tokens: 100,
      },
    });
    assertEquals(characters, 10);
    assertEquals(report, { seconds: null, textTokens: 60, audioTokens: 30, outputTokens: 10 });
    const plain = await transcripts.transcribe({ ...ORDER, format: "text" }, EXCHANGE);
    assertEquals(new TextDecoder().decode(plain.bytes), "A red fox.");
  });
});

Deno.test("Gemini transcripts: audio in which nothing is said has no text", async () => {
  await withTranscripts({ body: { candidates: [{ finishReason: "STOP" }] } }, async (transcripts) => {
    const { bytes, report } = await transcripts.transcribe(ORDER, EXCHANGE);
    assertEquals(new TextDecoder().decode(bytes), '{"text":""}');
    assertEquals(report, { seconds: null, textTokens: null, audioTokens: null, outputTokens: null });
  });
});

Deno.test("Gemini transcripts: formats with times or speakers are unsupported, by their field", async () => {
  await withTranscripts(answerOf([]), (transcripts) => {
    for (const format of ["srt", "vtt", "verbose_json", "diarized_json"] as const) {
      assertEquals(transcripts.unsupported({ format })?.field, "response_format");
    }
    for (const format of ["json", "text"] as const) assertEquals(transcripts.unsupported({ format }), null);
    return Promise.resolve();
  });
});

Deno.test("Gemini transcripts: refused, cut and broken replies are failures of their kind", async () => {
  const cases: readonly [answer: VendorAnswer, kind: string][] = [
    [{ body: { promptFeedback: { blockReason: "SAFETY" } } }, "invalid"],
    [answerOf([{ text: "A red" }], { finishReason: "MAX_TOKENS" }), "invalid"],
    [answerOf([], { finishReason: "OTHER" }), "unavailable"],
    [{ body: {} }, "broken"],
    [{ body: "[" }, "broken"],
  ];
  for (const [answer, kind] of cases) {
    await withTranscripts(answer, async (transcripts) => {
      const failure = await assertRejects(() => transcripts.transcribe(ORDER, EXCHANGE), UpstreamFailure);
      assertEquals(failure.kind, kind);
    });
  }
});

Deno.test("Vertex transcripts: the same format, at the path of the project", async () => {
  await withVendor("vertex", [answerOf([{ text: "A red fox." }])], async (provider, seen) => {
    const transcripts = await provider.capabilities.transcripts!.load();
    await transcripts.transcribe(ORDER, EXCHANGE);
    const path = "/base/v1beta1/projects/acme/locations/global/publishers/google/models/gemini-3.5-flash";
    assertEquals(itemAt(seen, 0).path, `${path}:generateContent`);
  });
});
