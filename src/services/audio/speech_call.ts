import type { CallParts } from "../calls/paid_call.ts";
import { logCorrected, measureTexts } from "../calls/text_measure.ts";
import type { WholeCall } from "../calls/whole_call.ts";
import type { SpeechOutcome, SpeechUpstream } from "../../vendors/upstreams/contract/speech_upstream.ts";
import { checkedSpeech, maxSpeech, type SpeechMeasure, speechQuantities } from "./speech_charge.ts";
import type { SpeechRequest } from "./speech_request.ts";
import { mistakeOf } from "./unsupported.ts";

/**
 * The call for a request to speak a text. It is charged when the first audio has arrived: vendors bill the text,
 * whether or not its audio is read to the end.
 */
export function speechCall(
  request: SpeechRequest,
  { log }: Pick<CallParts, "log">,
): WholeCall<SpeechUpstream, Pick<SpeechOutcome, "mediaType" | "body">> {
  const { models, modelName, bodyPin, input, voice, format, asEvents, extras, droppedFields } = request;
  const order = { input, voice, format, asEvents, extras };
  const measure = measureOf(request);
  return {
    kind: "speech",
    models,
    modelName,
    bodyPin,
    capability: "speaks",
    load: ({ capabilities }) => capabilities.speech?.load(),
    mistakeAt: (upstream) => mistakeOf(upstream.unsupported(order)),
    droppedAt: (upstream) => [...droppedFields, ...upstream.dropped(order)],
    boundOf: (model) => {
      const most = maxSpeech(measure, model);
      return { quantities: speechQuantities(most), tokens: most.promptTokens + most.audioTokens };
    },
    async send(attempt) {
      const { candidate, model, upstream, exchange } = attempt;
      const { mediaType, body, report } = await upstream.speak({ ...order, model: candidate.model }, exchange);
      const checked = checkedSpeech(measure, report, model);
      logCorrected(log, checked, report?.promptTokens, attempt);
      return {
        result: { mediaType, body },
        quantities: speechQuantities(checked.consumption),
        usage: checked.usage,
      };
    },
  };
}

function measureOf({ characters, input, extras: { instructions } }: SpeechRequest): SpeechMeasure {
  return { characters, texts: measureTexts([input, ...typeof instructions === "string" ? [instructions] : []]) };
}
