import type { CallerFormat } from "../../../conversation/contract/caller_format.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { RequestRecord } from "../../../platform/http/request/request_record.ts";
import { withMember } from "../../../platform/lib/json/json_member.ts";
import { writeMoney } from "../../../platform/lib/basics/money.ts";
import type { TextAttempt } from "../plan/attempt.ts";

/**
 * The cost of a streamed reply in its last usage event: `cost`, a number in USD with the digits of `X-Service-Cost`. A
 * translated one has `cache_saved` too, with those of `X-Service-Cache-Saved`. A stream is charged after its headers
 * were sent, so they cannot have them. Source: docs/api/money.md#charges.
 */

/** Returns the data of a usage event with the cost of its call; null if it has no usage or the call is not charged. */
export function dataWithCost(data: string, { request, settlement }: TextAttempt): string | null {
  return withCost(data, request.format, settlement.facts.record.cost);
}

/** Returns the last frames of a stream, of which the last one with usage has the cost. */
export function framesWithCost(frames: readonly Frame[], { request, settlement }: TextAttempt): readonly Frame[] {
  const { record } = settlement.facts;
  for (let place = frames.length - 1; place >= 0; place--) {
    const frame = frames[place]!;
    const data = withSums(frame.data, request.format, record);
    if (data !== null) return frames.with(place, { ...frame, data });
  }
  return frames;
}

function withSums(data: string, format: CallerFormat, { cost, cacheSaved }: CostOfCall): string | null {
  const withSum = withCost(data, format, cost);
  if (withSum === null || cacheSaved === undefined) return withSum;
  return withMember(withSum, format.streamUsagePath, { name: "cache_saved", value: writeMoney(cacheSaved) });
}

type CostOfCall = Pick<RequestRecord, "cost" | "cacheSaved">;

function withCost(data: string, { streamUsagePath }: CallerFormat, cost: bigint | null): string | null {
  return cost === null ? null : withMember(data, streamUsagePath, { name: "cost", value: writeMoney(cost) });
}
