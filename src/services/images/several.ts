import type {
  ImageCall,
  ImageOrder,
  ImageOutcome,
  ImageUpstream,
} from "../../vendors/upstreams/contract/image_upstream.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import { maxPerCallFor } from "../../vendors/upstreams/shared/images/image_limits.ts";
import { sumOfConsumptions } from "../../vendors/upstreams/shared/images/image_reply.ts";
import { sumOfSvgUsages } from "./svg_usage.ts";

/** The type of vendor call. */
export type ImageKind = "generate" | "edit";

/**
 * Runs an order, with several concurrent calls if the vendor makes fewer pictures per call. If some calls fail, the
 * result contains the pictures of the others. If all fail, the error is one with an unknown outcome if there is one,
 * else the first.
 */
export async function makeImages(
  upstream: ImageUpstream,
  kind: ImageKind,
  order: ImageOrder,
  call: ImageCall,
): Promise<ImageOutcome> {
  const make = (part: ImageOrder) => kind === "edit" ? upstream.edit!(part, call) : upstream.generate(part, call);
  const maxPerCall = maxPerCallFor(upstream, order);
  if (order.count <= maxPerCall) return await make(order);
  const settled = await Promise.allSettled(
    countsOf(order.count, maxPerCall).map((count) => make({ ...order, count })),
  );
  const outcomes = settled.flatMap((each) => each.status === "fulfilled" ? [each.value] : []);
  const [first, ...others] = outcomes;
  if (first !== undefined) return joined([first, ...others]);
  const failures = settled.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
  throw failures.find((failure) => failure instanceof UpstreamFailure && failure.facts.accepted === "unknown") ??
    failures[0];
}

function countsOf(count: number, most: number): number[] {
  return Array.from({ length: Math.ceil(count / most) }, (_, at) => Math.min(most, count - at * most));
}

function joined(outcomes: readonly [ImageOutcome, ...ImageOutcome[]]): ImageOutcome {
  return {
    ...outcomes[0],
    images: outcomes.flatMap(({ images }) => images),
    consumption: sumOfConsumptions(outcomes.map(({ consumption }) => consumption)),
    ...sumOfSvgUsages(outcomes.flatMap(({ svgUsage }) => svgUsage === undefined ? [] : [svgUsage])),
  };
}
