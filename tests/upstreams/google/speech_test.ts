import { assertEquals, assertRejects } from "@std/assert";
import { waveHeader } from "../../../src/platform/lib/collections/wave.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type { SpeechOrder, SpeechUpstream } from "../../../src/vendors/upstreams/contract/speech_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { bytesOf, type Seen, type VendorAnswer, withVendor } from "../vendor.ts";

const EXCHANGE = { reserve: () => {}, onResponse: () => {} };
const ORDER: SpeechOrder = {
  model: "gemini-3.8-flash-tts",
  input: "A fox",
  voice: "Kore",
  format: null,
  asEvents: false,
  extras: {},
};
const FORMAT = { rate: 24_000, channels: 1, bitsPerSample: 16 };
const SAMPLES = Uint8Array.from({ length: 480 }, (_, nth) => nth % 251);
const USAGE = {
  promptTokenCount: 7,
  candidatesTokenCount: 30,
  candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 30 }],
};

const inline = (mimeType: string, bytes: Uint8Array = SAMPLES) => ({
  inlineData: { mimeType, data: bytes.toBase64() },
});
const answerOf = (parts: readonly unknown[], more: Record<string, unknown> = {}): VendorAnswer => ({
  body: { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", ...more }], usageMetadata: USAGE },
});
const L16 = "audio/L16;codec=pcm;rate=24000";

function withSpeech(
  answer: VendorAnswer,
  test: (speech: SpeechUpstream, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  return withVendor("google", [answer], async (provider, seen) => {
    await test(await provider.capabilities.speech!.load(), seen);
  });
}

Deno.test("Gemini speech: current models get the text as it is, and the style beside it", async () => {
  await withSpeech(answerOf([inline(L16)]), async (speech, seen) => {
    await speech.speak({ ...ORDER, extras: { instructions: "calmly", speed: 2 } }, EXCHANGE);
    await speech.speak({ ...ORDER, voice: { id: "voice_7" } }, EXCHANGE);
    assertEquals(seen[0]?.path, "/base/v1beta/models/gemini-3.8-flash-tts:generateContent");
    assertEquals(seen.map(({ json }) => json), [
      {
        contents: [{ role: "user", parts: [{ text: "A fox", speechMetadata: { style: "calmly" } }] }],
        generationConfig: { responseModalities: ["AUDIO"], speechConfig: { voiceConfig: { voice: "Kore" } } },
      },
      {
        contents: [{ role: "user", parts: [{ text: "A fox" }] }],
        generationConfig: { responseModalities: ["AUDIO"], speechConfig: { voiceConfig: { voice: "voice_7" } } },
      },
    ]);
    assertEquals(speech.dropped({ ...ORDER, extras: { instructions: "calmly", speed: 2 } }), ["speed"]);
  });
});

Deno.test("Gemini speech: earlier models get the style in the text, and a prebuilt voice", async () => {
  await withSpeech(answerOf([inline(L16)]), async (speech, seen) => {
    for (const model of ["gemini-2.5-flash-preview-tts", "gemini-3.1-flash-tts-preview"]) {
      await speech.speak({ ...ORDER, model, extras: { instructions: "Speak calmly." } }, EXCHANGE);
    }
    await speech.speak({ ...ORDER, model: "gemini-2.5-pro-preview-tts" }, EXCHANGE);
    const voiceConfig = { prebuiltVoiceConfig: { voiceName: "Kore" } };
    for (const { json } of seen) assertEquals(json.generationConfig.speechConfig, { voiceConfig });
    const styled = "Speak calmly.\n\nSay exactly this:\nA fox";
    assertEquals(seen.map(({ json }) => json.contents[0].parts), [[{ text: styled }], [{ text: styled }], [{
      text: "A fox",
    }]]);
  });
});

Deno.test("Gemini speech: samples become a WAV file, or stay samples", async () => {
  const answers = [
    answerOf([inline(L16)]),
    answerOf([inline("audio/l16; rate=24000; channels=1", SAMPLES.slice(0, 100)), inline(L16, SAMPLES.slice(100))]),
    answerOf([inline("audio/wav", Uint8Array.from([...waveHeader(FORMAT, SAMPLES.length), ...SAMPLES]))]),
    // What follows the samples of a file is no sound.
    answerOf([inline("audio/wav", Uint8Array.from([...waveHeader(FORMAT, SAMPLES.length), ...SAMPLES, 1, 2, 3, 4]))]),
  ];
  for (const answer of answers) {
    await withSpeech(answer, async (speech) => {
      const wav = await speech.speak(ORDER, EXCHANGE);
      assertEquals(wav.mediaType, "audio/wav");
      const expected = Uint8Array.from([...waveHeader(FORMAT, SAMPLES.length), ...SAMPLES]);
      assertEquals(await bytesOf(wav.body), expected);
      assertEquals(wav.report, { promptTokens: 7, audioTokens: 30, seconds: 0.01 });
      const pcm = await speech.speak({ ...ORDER, format: "pcm" }, EXCHANGE);
      assertEquals(pcm.mediaType, "audio/pcm");
      assertEquals(await bytesOf(pcm.body), SAMPLES);
    });
  }
});

Deno.test("Gemini speech: other rates are stated in a WAV file, and are no pcm", async () => {
  await withSpeech(answerOf([inline("audio/L16;rate=16000")]), async (speech) => {
    const wav = await bytesOf((await speech.speak(ORDER, EXCHANGE)).body);
    assertEquals(wav.slice(0, 44), waveHeader({ ...FORMAT, rate: 16_000 }, SAMPLES.length));
    const failure = await assertRejects(() => speech.speak({ ...ORDER, format: "pcm" }, EXCHANGE), UpstreamFailure);
    assertEquals(failure.kind, "broken");
  });
});

Deno.test("Gemini speech: long audio is decoded in pieces without loss", async () => {
  const long = Uint8Array.from({ length: 500_001 }, (_, nth) => nth % 253);
  await withSpeech(answerOf([inline(L16, long)]), async (speech) => {
    assertEquals(await bytesOf((await speech.speak({ ...ORDER, format: "pcm" }, EXCHANGE)).body), long);
  });
});

Deno.test("Gemini speech: other formats and events are unsupported, by their field", async () => {
  await withSpeech(answerOf([]), (speech) => {
    for (const format of ["mp3", "opus", "aac", "flac"]) {
      assertEquals(speech.unsupported({ ...ORDER, format })?.field, "response_format");
    }
    for (const format of [null, "wav", "pcm"]) assertEquals(speech.unsupported({ ...ORDER, format }), null);
    assertEquals(speech.unsupported({ ...ORDER, asEvents: true })?.field, "stream_format");
    return Promise.resolve();
  });
});

Deno.test("Gemini speech: replies without sound are failures of their kind", async () => {
  const cases: readonly [answer: VendorAnswer, kind: string, isContentRefusal?: boolean][] = [
    [answerOf([], { finishReason: "PROHIBITED_CONTENT" }), "invalid", true],
    [{ body: { promptFeedback: { blockReason: "SAFETY" } } }, "invalid", true],
    [answerOf([], { finishReason: "OTHER" }), "unavailable"],
    [answerOf([inline(L16)], { finishReason: "MAX_TOKENS" }), "invalid"],
    [answerOf([{ text: "I cannot" }]), "invalid"],
    [answerOf([]), "broken"],
    [{ body: {} }, "broken"],
    [answerOf([inline(L16, new Uint8Array(0))]), "broken"],
    [answerOf([inline("audio/wav")]), "broken"],
    [answerOf([{ inlineData: { mimeType: L16, data: "no base64!" } }]), "broken"],
  ];
  for (const [answer, kind, isContentRefusal] of cases) {
    await withSpeech(answer, async (speech) => {
      const failure = await assertRejects(() => speech.speak(ORDER, EXCHANGE), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.isContentRefusal ?? false], [kind, isContentRefusal ?? false]);
    });
  }
});

Deno.test("Vertex speech: the same format, at the path of the project", async () => {
  await withVendor("vertex", [answerOf([inline(L16)])], async (provider, seen) => {
    const speech = await provider.capabilities.speech!.load();
    await speech.speak(ORDER, EXCHANGE);
    const path = "/base/v1beta1/projects/acme/locations/global/publishers/google/models/gemini-3.8-flash-tts";
    assertEquals(itemAt(seen, 0).path, `${path}:generateContent`);
  });
});
