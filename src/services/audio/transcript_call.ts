import type { CallParts } from "../calls/paid_call.ts";
import { logCorrected } from "../calls/text_measure.ts";
import type { WholeCall, WholeCaller } from "../calls/whole_call.ts";
import { NO_USAGE } from "../../conversation/neutral/usage.ts";
import type { Spooled } from "../../platform/files/spool.ts";
import type { TranscriptOutcome, TranscriptUpstream } from "../../vendors/upstreams/contract/transcript_upstream.ts";
import type { MediaWork } from "../../platform/workers/media_work.ts";
import {
  checkedConsumption,
  maxConsumption,
  type TranscriptMeasure,
  transcriptQuantities,
} from "./transcript_charge.ts";
import type { TranscriptRequest } from "./transcript_request.ts";
import { mistakeOf } from "./unsupported.ts";

/** The dependencies of transcriptions. */
export interface TranscriptParts extends CallParts {
  readonly media: Pick<MediaWork, "measureAudio">;
}

/**
 * Measures what determines the cost of a request.
 *
 * @throws {GatewayError} `overloaded` if the memory or the threads do not suffice.
 */
export async function measureTranscript(
  { audio, mediaType, promptCharacters }: TranscriptRequest,
  { accountId, memory }: Pick<WholeCaller, "accountId" | "memory">,
  { media }: Pick<TranscriptParts, "media">,
): Promise<TranscriptMeasure> {
  memory.reserve(audio.lengthBytes);
  const { seconds } = await media.measureAudio(await bytesOf(audio), mediaType, accountId);
  return { seconds, bytes: audio.lengthBytes, promptCharacters };
}

/** The call for a request to write audio down. */
export function transcriptCall(
  { models, modelName, translates, audio, mediaType, filename, format, fields, droppedFields }: TranscriptRequest,
  measure: TranscriptMeasure,
  { log }: Pick<CallParts, "log">,
): WholeCall<TranscriptUpstream, Pick<TranscriptOutcome, "bytes">> {
  const file = { mediaType, lengthBytes: audio.lengthBytes, open: () => audio.open() };
  return {
    kind: "transcription",
    models,
    modelName,
    bodyPin: null,
    capability: "writes audio down",
    load: ({ capabilities }) => capabilities.transcripts?.load(),
    mistakeAt: (upstream) => mistakeOf(upstream.unsupported({ format })),
    droppedAt: (upstream) => [...droppedFields, ...upstream.dropped({ fields })],
    boundOf: (model) => {
      const most = maxConsumption(measure, model);
      const tokens = most.textTokens + most.audioTokens + most.outputTokens;
      return { tokens, quantities: transcriptQuantities(most) };
    },
    async send(attempt) {
      const { candidate, model, upstream, exchange } = attempt;
      const order = { model: candidate.model, translates, file, filename, format, fields };
      const { bytes, characters, report } = await upstream.transcribe(order, exchange);
      const { consumption, isEstimated, isCorrected } = checkedConsumption(measure, report, { characters, model });
      logCorrected(log, { reason: isCorrected ? "above_ceiling" : null }, report.audioTokens, attempt);
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
  };
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
