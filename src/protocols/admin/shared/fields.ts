import type { CaptureSetting } from "../../../money/limits/access_limits.ts";
import * as z from "zod";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { type Money, readMoney } from "../../../platform/lib/basics/money.ts";
import { nearestWord } from "../../../platform/lib/text/nearest_word.ts";

/**
 * Validates a body with its schema.
 *
 * @throws {GatewayError} `invalid_request` that names the first invalid field and the expected value; for an unknown
 * field, the nearest known one.
 */
export function readFields<T>(schema: z.ZodType<T>, body: unknown): T {
  const read = schema.safeParse(body, { error: expectationOf });
  if (read.success) return read.data;
  const issue = elementAt(read.error.issues, 0);
  if (issue.code === "unrecognized_keys") {
    const key = elementAt(issue.keys, 0);
    const known = issue.message.split(", ");
    const nearest = nearestWord(key, known);
    const hint = nearest === null ? `the fields here are ${known.join(", ")}` : `did you mean "${nearest}"?`;
    throw invalidField(pathOf([...issue.path, key]), `no such field; ${hint}`);
  }
  throw invalidField(pathOf(issue.path), `expected ${issue.message}`);
}

/** For issues without a message in the schema. */
function expectationOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "unrecognized_keys" && issue.inst instanceof z.ZodObject) {
    return Object.keys(issue.inst.shape).join(", ");
  }
  return issue.code === "invalid_type"
    ? `${issue.expected === "object" ? "an" : "a"} ${issue.expected}`
    : "a valid value";
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".").slice(0, 100) || "body";
}

/**
 * Reads an amount of a body, which must be at least `least`; by default, above zero.
 *
 * @throws {GatewayError} `invalid_request` that names the field.
 */
export function readAmount(field: string, text: string, least: Money = 1n): Money {
  try {
    const amount = readMoney(text);
    if (amount >= least) return amount;
  } catch { /* reported below */ }
  const bound = least > 0n ? "above zero" : "from zero";
  throw invalidField(
    field,
    `expected a decimal string of USD ${bound}, at most 10000000, with up to 10 fractional digits`,
  );
}

/**
 * Reads a signed amount of a body other than zero.
 *
 * @throws {GatewayError} `invalid_request` that names the field.
 */
export function readSignedAmount(field: string, text: string): Money {
  try {
    const amount = readMoney(text);
    if (amount !== 0n) return amount;
  } catch { /* reported below */ }
  throw invalidField(
    field,
    "expected a decimal string of USD from -10000000 to 10000000 except zero, with up to 10 fractional digits",
  );
}

/**
 * Refuses to switch on the capture of bodies where the gateway keeps none, as the setting would have no effect.
 *
 * @param capture As the operator gave it. Undefined, null and `none` capture nothing.
 * @param noBodiesReason Why no bodies are kept, as a clause for people; null if they are.
 * @throws {GatewayError} `invalid_request`, with the reason.
 */
export function refuseUnkeptCapture(capture: CaptureSetting | null | undefined, noBodiesReason: string | null): void {
  if (noBodiesReason === null || capture === undefined || capture === null || capture === "none") return;
  throw invalidField("capture", `expected none, as no bodies are kept: ${noBodiesReason}`);
}
