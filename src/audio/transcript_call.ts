import type { CallParts } from "../calls/paid_call.ts";
import { logCorrected } from "../calls/text_measure.ts";
import { runWholeCall, type WholeCaller, type WholeResult } from "../calls/whole_call.ts";
import { NO_USAGE } from "../conversation/usage.ts";
import type { Spooled } from "../files/spool.ts";
import type { TranscriptOutcome } from "../upstreams/transcript_upstream.ts";
import type { MediaWork } from "../workers/media_work.ts";
import { checkedConsumption, maxConsumption, transcriptQuantities } from "./transcript_charge.ts";
import type { TranscriptRequest } from "./transcript_request.ts";

/** The dependencies of transcriptions. */
export interface TranscriptParts extends CallParts {
  readonly media: Pick<MediaWork, "measureAudio">;
}

/**
 * Writes audio down: measures, routes, admits, sends and charges.
 *
 * @throws {GatewayError} As `runWholeCall`; `overloaded` if the memory or the threads do not suffice to measure.
 */
export async function transcribe(
  request: TranscriptRequest,
  caller: WholeCaller,
  parts: TranscriptParts,
): Promise<WholeResult<Pick<TranscriptOutcome, "bytes">>> {
  const { models, modelName, translates, audio, mediaType, filename, format, fields, promptCharacters } = request;
  caller.record.model = modelName;
  // An account without credit is refused before its audio is measured.
  await parts.meter.allowance(caller);
  caller.memory.reserve(audio.lengthBytes);
  const bytes = await bytesOf(audio);
  const { seconds } = await parts.media.measureAudio(bytes, mediaType, caller.accountId);
  const measure = { seconds, bytes: audio.lengthBytes, promptCharacters };
  const most = maxConsumption(measure);
  const tokens = most.textTokens + most.audioTokens + most.outputTokens;
  const file = { mediaType, lengthBytes: audio.lengthBytes, open: () => audio.open() };
  return await runWholeCall(
    {
      kind: "transcription",
      models,
      bodyPin: null,
      capability: "writes audio down",
      load: ({ lazy, outbound }) => lazy?.transcripts?.(outbound),
      boundOf: () => ({ tokens, quantities: transcriptQuantities(most) }),
      send: async (attempt) => {
        const { candidate: { model }, upstream, exchange } = attempt;
        const order = { model, translates, file, filename, format, fields };
        const { bytes, characters, report } = await upstream.transcribe(order, exchange);
        const { consumption, isEstimated, isCorrected } = checkedConsumption(measure, report, characters);
        const reason = isCorrected ? "above_ceiling" : null;
        logCorrected(parts.log, { reason }, { reported: report.audioTokens, caller, attempt });
        const { textTokens, audioTokens, outputTokens } = consumption;
        return {
          result: { bytes },
          quantities: transcriptQuantities(consumption),
          usage: {
            ...NO_USAGE,
            freshTokens: textTokens + audioTokens,
            audioInputTokens: audioTokens,
            outputTokens,
            ...isEstimated && { estimated: true },
          },
        };
      },
    },
    caller,
    parts,
  );
}

async function bytesOf(audio: Spooled): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(audio.lengthBytes);
  let at = 0;
  for await (const piece of audio.open()) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
