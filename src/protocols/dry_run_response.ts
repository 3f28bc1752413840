import { type ProbedAdmission, writeAdmission } from "../services/calls/dry_run.ts";
import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { type Money, writeMoney } from "../platform/lib/basics/money.ts";
import type { BatchMode } from "./service_batch.ts";
import { droppedFieldsHeader } from "../platform/http/request/dropped_fields_header.ts";

/** What a dry run found, in the form of its response. */
export interface DryRunAnswer {
  /** The id in the catalog. */
  readonly model: string;
  readonly mode: string;
  /** Most likely first. */
  readonly providers: readonly string[];
  readonly fallbacks?: readonly { readonly model: string; readonly providers: readonly string[] }[];
  readonly estimate: object;
  readonly dropped: readonly string[];
  /** Of texts: what each provider would be told about prefixes to cache. */
  readonly prompt_caching?: readonly {
    readonly provider: string;
    readonly marks: readonly string[];
    readonly cache_key: boolean;
  }[];
  /** Of batches: who would run the lines, and their highest cost, as the batch itself says. */
  readonly service_batch?: { readonly mode: BatchMode; readonly estimate: string };
  readonly admission: ProbedAdmission;
}

/** The response to a dry run. Source: docs/api/dry-runs.md. */
export function dryRunResponse(answer: DryRunAnswer) {
  const { model, mode, providers, fallbacks, estimate, dropped, service_batch, admission } = answer;
  const admitted = writeAdmission(admission);
  const found = { dry_run: true, model, mode, providers, fallbacks, estimate, dropped, service_batch, ...admitted };
  return Response.json(found, { headers: droppedHeader(dropped) });
}

/** `X-Service-Dropped`, unless nothing is dropped. */
export function droppedHeader(dropped: readonly string[]): Record<string, string> {
  return dropped.length === 0 ? {} : { "x-service-dropped": droppedFieldsHeader(dropped) };
}

/**
 * The highest cost in an estimate, as a decimal and as a number.
 *
 * @param kind The name of what costs it, such as `image`.
 */
export function writeEstimatedCost(kind: string, most: Money): JsonObject {
  const decimal = writeMoney(most);
  return { [`${kind}_cost`]: decimal, cost: Number(decimal) };
}
