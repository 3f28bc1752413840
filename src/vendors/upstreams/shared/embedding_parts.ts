import type { EmbeddingOrder, EmbeddingOutcome } from "../contract/embedding_upstream.ts";

/** Of one order, so that it does not use up the vendor's limit of open requests. */
const REQUESTS_AT_ONCE = 8;

/**
 * Makes the embeddings of an order by several requests, for vendors that take few inputs in one. After a failure no
 * further request is sent.
 *
 * @param maxInputs Of one request.
 * @throws What `embed` throws.
 */
export async function embedInParts(
  order: EmbeddingOrder,
  maxInputs: number,
  embed: (order: EmbeddingOrder) => Promise<EmbeddingOutcome>,
): Promise<EmbeddingOutcome> {
  const count = Math.ceil(order.inputs.length / maxInputs);
  const outcomes = new Array<EmbeddingOutcome>(count);
  let next = 0;
  let hasFailed = false;
  const work = async () => {
    // Ends with the parts, or at the first failure.
    while (next < count && !hasFailed) {
      const part = next++;
      const inputs = order.inputs.slice(part * maxInputs, (part + 1) * maxInputs);
      try {
        outcomes[part] = await embed({ ...order, inputs });
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, REQUESTS_AT_ONCE) }, work));
  return { vectors: outcomes.flatMap(({ vectors }) => vectors), reportedTokens: sumOf(outcomes) };
}

/** The sum of the reports; the first that is no number, if there is one. */
function sumOf(outcomes: readonly EmbeddingOutcome[]): unknown {
  const odd = outcomes.find(({ reportedTokens }) => typeof reportedTokens !== "number");
  if (odd !== undefined) return odd.reportedTokens;
  return outcomes.reduce((sum, { reportedTokens }) => sum + Number(reportedTokens), 0);
}
