import { parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { BatchRecord } from "../records/batch.ts";
import type { LineReply } from "../lines/line_runner.ts";

/** The codes of failures that a batch counts; others count as `other`. A vendor can have any number of them. */
const MAX_CODES = 20;
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * The failed lines of a batch by their codes, after some more.
 *
 * @param replies With the status 400 or more.
 */
export function failuresAfter(
  { failures = {} }: Pick<BatchRecord, "failures">,
  replies: readonly Pick<LineReply, "status" | "body">[],
): Readonly<Record<string, number>> {
  const counts = new Map(Object.entries(failures));
  for (const reply of replies) {
    const code = codeOf(reply);
    const counted = counts.has(code) || counts.size < MAX_CODES ? code : "other";
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/** The code of an error in any caller's format, or its status. */
function codeOf({ status, body }: Pick<LineReply, "status" | "body">): string {
  const parsed = parsedOrNull(new TextDecoder().decode(body));
  const error = memberOf(parsed, "error");
  const code = [memberOf(error, "code"), memberOf(error, "status"), memberOf(error, "type")]
    .find((each) => typeof each === "string" && CODE.test(each));
  return typeof code === "string" ? code : String(status);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : null;
}
