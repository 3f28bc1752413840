import type { CallerFormat } from "../conversation/caller_format.ts";
import type { Frame } from "../lib/frame.ts";
import { withMember } from "../lib/json_member.ts";
import { writeMoney } from "../lib/money.ts";
import type { TextAttempt } from "./attempt.ts";

/**
 * The cost of a streamed reply in its last usage event: `cost`, a number in USD with the digits of `X-Service-Cost`. A
 * stream is charged after its headers were sent, so they cannot have it. Source: docs/api/money.md#charges.
 */

/** Returns the data of a usage event with the cost of its call; null if it has no usage or the call is not charged. */
export function dataWithCost(data: string, { request, settlement }: TextAttempt): string | null {
  return withCost(data, request.format, settlement.facts.record.cost);
}

/** Returns the last frames of a stream, of which the last one with usage has the cost. */
export function framesWithCost(frames: readonly Frame[], { request, settlement }: TextAttempt): readonly Frame[] {
  const { cost } = settlement.facts.record;
  for (let place = frames.length - 1; place >= 0; place--) {
    const frame = frames[place]!;
    const data = withCost(frame.data, request.format, cost);
    if (data !== null) return frames.with(place, { ...frame, data });
  }
  return frames;
}

function withCost(data: string, { streamUsagePath }: CallerFormat, cost: bigint | null): string | null {
  return cost === null ? null : withMember(data, streamUsagePath, { name: "cost", value: writeMoney(cost) });
}
