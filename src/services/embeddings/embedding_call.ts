import type { CallParts } from "../calls/paid_call.ts";
import { checkedTokens, inputUsage, logCorrected } from "../calls/text_measure.ts";
import type { WholeAttempt, WholeCall } from "../calls/whole_call.ts";
import { type GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { EmbeddingUpstream } from "../../vendors/upstreams/contract/embedding_upstream.ts";
import { encodedVector, type Vector } from "../../vendors/upstreams/contract/vector_list.ts";
import type { EmbeddingRequest } from "./embedding_request.ts";
import { embeddingBound, embeddingQuantities, measureOf } from "./measure.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";

/** Embeddings, and what is charged for them. */
export interface MadeEmbeddings {
  /** One for each input, in the encoding of the response. */
  readonly vectors: readonly Vector[];
  /** The charged input tokens. */
  readonly tokens: number;
}

/** The call for a request for embeddings. */
export function embeddingCall(
  request: EmbeddingRequest,
  { log }: Pick<CallParts, "log">,
): WholeCall<EmbeddingUpstream, MadeEmbeddings> {
  const { models, modelName, bodyPin, inputs, dimensions, encoding, extras, droppedFields } = request;
  const measure = measureOf(inputs);
  const orderFor = (model: string) => ({ model, inputs, dimensions, encoding, extras });
  return {
    kind: "embedding",
    models,
    modelName,
    bodyPin,
    capability: "makes embeddings",
    load: ({ capabilities }) => capabilities.embeddings?.load(),
    mistakeAt: (upstream) => mistakeFor(request, upstream),
    droppedAt: (upstream, model) => [...droppedFields, ...upstream.dropped(orderFor(model))],
    boundOf: (model) => embeddingBound(measure, model),
    async send(attempt) {
      const { candidate, upstream, exchange } = attempt;
      const { vectors: sent, reportedTokens } = await upstream.embed(orderFor(candidate.model), exchange);
      // For the body that is written; before the charge, as the request can fail here.
      exchange.reserve(sent.reduce((sum, { bytes }) => sum + bytes.length, 0));
      const vectors = await encoded(sent, request, attempt);
      const checked = checkedTokens(measure, reportedTokens);
      logCorrected(log, checked, reportedTokens, attempt);
      const { tokens } = checked;
      return { result: { vectors, tokens }, quantities: embeddingQuantities(tokens), usage: inputUsage(checked) };
    },
  };
}

/** A number of four bytes takes up to 24 characters, and base64 five and a third. */
const MAX_GROWTH = 5;

/** A few milliseconds of work. */
const CONVERTED_PER_TURN_BYTES = 200_000;

/** The vectors in the encoding of the response. A vector that cannot be converted is a failure of the vendor. */
async function encoded(
  vectors: readonly Vector[],
  { replyEncoding }: EmbeddingRequest,
  { provider: { outbound }, exchange }: WholeAttempt<EmbeddingUpstream>,
): Promise<readonly Vector[]> {
  if (vectors.every(({ encoding }) => encoding === replyEncoding)) return vectors;
  exchange.reserve(MAX_GROWTH * vectors.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const converted: Vector[] = [];
  try {
    let bytes = 0;
    for (const vector of vectors) {
      converted.push(encodedVector(vector, replyEncoding));
      bytes += vector.bytes.length;
      if (bytes < CONVERTED_PER_TURN_BYTES) continue;
      await nextTurn();
      bytes = 0;
    }
  } catch (cause) {
    throw outbound.failure("broken", "", { accepted: "unknown", cause });
  }
  return converted;
}

/** Why an upstream cannot serve a request; null if it can. */
function mistakeFor({ inputs, inputField }: EmbeddingRequest, upstream: EmbeddingUpstream): GatewayError | null {
  const { maxInputs } = upstream;
  if (maxInputs !== null && inputs.length > maxInputs) {
    const message = `expected at most ${maxInputs} inputs for this model's vendor, got ${inputs.length}`;
    return invalidField(inputField, message);
  }
  const unsupported = upstream.unsupported({ inputs });
  return unsupported === null ? null : invalidField(inputField, unsupported);
}
