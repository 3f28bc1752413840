import type { QuantitiesBy } from "../billing/tariff.ts";
import type { WholeCall } from "../calls/whole_call.ts";
import { NO_USAGE } from "../conversation/usage.ts";
import type { SpeechOutcome, SpeechUpstream } from "../upstreams/speech_upstream.ts";
import type { SpeechRequest } from "./speech_request.ts";

/**
 * The call for a request to speak a text. It is charged when the first audio has arrived: vendors bill the text,
 * whether or not its audio is read to the end.
 */
export function speechCall(
  { models, modelName, bodyPin, input, characters, voice, format, asEvents, extras, droppedFields }: SpeechRequest,
): WholeCall<SpeechUpstream, SpeechOutcome> {
  const quantities = speechQuantities(characters);
  return {
    kind: "speech",
    models,
    modelName,
    bodyPin,
    capability: "speaks",
    load: ({ lazy, outbound }) => lazy?.speech?.(outbound),
    droppedAt: () => droppedFields,
    boundOf: () => ({ quantities, tokens: 0 }),
    async send({ candidate: { model }, upstream, exchange }) {
      const result = await upstream.speak({ model, input, voice, format, asEvents, extras }, exchange);
      return { result, quantities, usage: NO_USAGE };
    },
  };
}

/** The chargeable quantities of a request. */
export function speechQuantities(characters: number): QuantitiesBy<"speech"> {
  return { character: characters, request: 1 };
}
