import type { QuantitiesBy } from "../billing/tariff.ts";
import type { CallParts } from "../calls/paid_call.ts";
import { runWholeCall, type WholeCaller, type WholeResult } from "../calls/whole_call.ts";
import { NO_USAGE } from "../conversation/usage.ts";
import type { SpeechOutcome } from "../upstreams/speech_upstream.ts";
import type { SpeechRequest } from "./speech_request.ts";

/**
 * Speaks a text: routes, admits, sends and charges. Resolves when the first audio has arrived and is charged: vendors
 * bill the text, whether or not its audio is read to the end.
 *
 * @throws {GatewayError} As `runWholeCall`.
 */
export async function speak(
  request: SpeechRequest,
  caller: WholeCaller,
  parts: CallParts,
): Promise<WholeResult<SpeechOutcome>> {
  const { models, modelName, bodyPin, input, characters, voice, format, asEvents, extras, droppedFields } = request;
  caller.record.model = modelName;
  caller.record.dropped = droppedFields;
  const quantities = speechQuantities(characters);
  return await runWholeCall(
    {
      kind: "speech",
      models,
      bodyPin,
      capability: "speaks",
      load: ({ lazy, outbound }) => lazy?.speech?.(outbound),
      boundOf: () => ({ quantities, tokens: 0 }),
      send: async ({ candidate: { model }, upstream, exchange }) => {
        const result = await upstream.speak({ model, input, voice, format, asEvents, extras }, exchange);
        return { result, quantities, usage: NO_USAGE };
      },
    },
    caller,
    parts,
  );
}

/** The chargeable quantities of a request. */
export function speechQuantities(characters: number): QuantitiesBy<"speech"> {
  return { character: characters, request: 1 };
}
