import { loadCapability } from "../calls/load_capability.ts";
import type { CallParts } from "../calls/paid_call.ts";
import { runWholeCall, type WholeCaller, type WholeOutcome } from "../calls/whole_call.ts";
import type { Model } from "../catalog/model.ts";
import { NO_USAGE } from "../conversation/usage.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import type { Candidate } from "../routing/candidates.ts";
import { TEXT_FALLBACK } from "../routing/fallback_rule.ts";
import type { EmbeddingUpstream } from "../upstreams/embedding_upstream.ts";
import { encodedVector, type Vector } from "../upstreams/vector_list.ts";
import type { WholeExchange } from "../upstreams/whole_exchange.ts";
import type { EmbeddingRequest } from "./embedding_request.ts";
import { checkedTokens, embeddingBound, type EmbeddingMeasure, embeddingQuantities, measureOf } from "./measure.ts";

/** Embeddings, and who made them. */
export interface MadeEmbeddings {
  /** One for each input, in the encoding of the response. */
  readonly vectors: readonly Vector[];
  /** The charged input tokens. */
  readonly tokens: number;
  readonly provider: string;
  readonly model: Model;
  /** The fields of the request that the provider was not sent. */
  readonly dropped: readonly string[];
}

type Made = Pick<MadeEmbeddings, "vectors" | "tokens" | "dropped">;

interface Attempt {
  readonly request: EmbeddingRequest;
  readonly measure: EmbeddingMeasure;
  readonly candidate: Candidate;
  readonly model: Model;
  readonly upstream: EmbeddingUpstream;
}

/**
 * Makes embeddings: routes, admits, sends and charges.
 *
 * @throws {GatewayError} As `runPaidCall`; `invalid_request` if no provider of the model takes the inputs.
 */
export async function makeEmbeddings(
  request: EmbeddingRequest,
  caller: WholeCaller,
  parts: CallParts,
): Promise<MadeEmbeddings> {
  const { models, modelName, bodyPin } = request;
  caller.record.model = modelName;
  const measure = measureOf(request.inputs);
  const upstreams = await loadCapability(models, parts.providers, ({ lazy, outbound }) => lazy?.embeddings?.(outbound));
  const { result, provider, model } = await runWholeCall<Made>(
    {
      kind: "embedding",
      models,
      bodyPin,
      rule: TEXT_FALLBACK,
      isAble: ({ provider: id }) => {
        const upstream = upstreams.get(id);
        return upstream !== undefined && mistakeFor(request, upstream) === null;
      },
      unable: (model) => unableFor(model, request, upstreams),
      boundOf: (model) => embeddingBound(measure, model),
      send: (candidate, model, exchange) => {
        const upstream = upstreams.get(candidate.provider)!;
        return send({ request, measure, candidate, model, upstream }, { caller, exchange, parts });
      },
    },
    caller,
    parts,
  );
  caller.record.dropped = result.dropped;
  return { ...result, provider, model };
}

async function send(
  { request, measure, candidate, model, upstream }: Attempt,
  { caller, exchange, parts }: {
    readonly caller: WholeCaller;
    readonly exchange: WholeExchange;
    readonly parts: CallParts;
  },
): Promise<WholeOutcome<Made>> {
  const { inputs, dimensions, encoding, extras, replyEncoding, droppedFields } = request;
  const order = { model: candidate.model, inputs, dimensions, encoding, extras };
  const { vectors: sent, reportedTokens } = await upstream.embed(order, exchange);
  const { outbound } = parts.providers.get(candidate.provider)!;
  const vectors: Vector[] = [];
  try {
    for (const [nth, vector] of sent.entries()) {
      vectors.push(encodedVector(vector, replyEncoding));
      // A conversion takes a fraction of a millisecond for each vector.
      if (vector.encoding !== replyEncoding && nth % 16 === 15) await new Promise((resolve) => setTimeout(resolve, 0));
    }
  } catch (cause) {
    throw outbound.failure("broken", "", { accepted: "unknown", cause });
  }
  const { tokens, reason } = checkedTokens(measure, reportedTokens);
  if (reason !== null && reason !== "missing") {
    const { requestId, accountId } = caller;
    const { provider } = candidate;
    const inputTokens = typeof reportedTokens === "number" ? reportedTokens : undefined;
    parts.log.warn("usage_implausible", { requestId, accountId, model: model.id, provider, reason, inputTokens });
  }
  const isEstimated = reason === "missing" || reason === "unreadable";
  return {
    result: { vectors, tokens, dropped: [...droppedFields, ...upstream.dropped(order)] },
    quantities: embeddingQuantities(tokens),
    usage: { ...NO_USAGE, freshTokens: tokens, ...isEstimated && { estimated: true } },
  };
}

/** Why an upstream cannot serve a request; null if it can. */
function mistakeFor({ inputs }: EmbeddingRequest, upstream: EmbeddingUpstream): string | null {
  const { maxInputs } = upstream;
  if (maxInputs !== null && inputs.length > maxInputs) {
    return `expected at most ${maxInputs} inputs for this model's vendor, got ${inputs.length}`;
  }
  return upstream.unsupported({ inputs });
}

function unableFor(
  model: Model,
  request: EmbeddingRequest,
  upstreams: ReadonlyMap<string, EmbeddingUpstream>,
): GatewayError {
  for (const { provider } of model.serves) {
    const upstream = upstreams.get(provider);
    const mistake = upstream === undefined ? null : mistakeFor(request, upstream);
    if (mistake !== null) return invalidField(request.inputField, mistake);
  }
  return new GatewayError("route_error", `Cannot route: no provider of "${model.id}" makes embeddings`);
}
