import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { isObject } from "../neutral/wire_value.ts";

/** The changes that lower a request's output limits to the model's own. */
export interface ClampedLimit {
  /** The members of the request's top object that changed. */
  readonly set: Readonly<Record<string, unknown>>;
  /** The fields that were lowered, in the caller's spelling. */
  readonly fields: readonly string[];
}

/** Collects the lowered limits of one request. */
export class LimitClamp {
  readonly #set: Record<string, unknown> = {};
  readonly #fields: string[] = [];
  /** The largest limit that was lowered, as sent; 0 if none was. */
  largestRequested = 0;

  /**
   * Creates a collection without lowered limits.
   *
   * @param maxTokens The model's limit of output tokens.
   */
  constructor(readonly maxTokens: number) {}

  /** Records a lowered field, and the new value of the top-level member that contains it. */
  record(field: string, member: string, value: unknown): void {
    this.#fields.push(field);
    this.#set[member] = value;
  }

  /** The settings with one limit lowered; the same object when the limit is not above the model's. */
  clampSetting(settings: JsonObject, key: string): JsonObject {
    const tokens = settings[key];
    if (typeof tokens !== "number" || tokens <= this.maxTokens) return settings;
    this.largestRequested = Math.max(this.largestRequested, tokens);
    return { ...settings, [key]: this.maxTokens };
  }

  /** A reasoning budget scaled down by the same factor as the requested limit. */
  scaledBudget(budgetTokens: number): number {
    return Math.floor(this.maxTokens * Math.min(budgetTokens / this.largestRequested, 1));
  }

  /** The changes; null when no limit was lowered. */
  result(): ClampedLimit | null {
    return this.#fields.length === 0 ? null : { set: this.#set, fields: this.#fields };
  }
}

/**
 * Lowers limits that are top-level members of the request.
 *
 * @param fields Their names.
 */
export function clampTopLevelLimits(body: JsonObject, fields: readonly string[], lowering: LimitClamp): void {
  for (const field of fields) {
    const { [field]: tokens } = lowering.clampSetting(body, field);
    if (tokens !== body[field]) lowering.record(field, field, tokens);
  }
}

/** As {@linkcode clampTopLevelLimits}, for formats in which nothing else depends on the limit. */
export function clampedTopLevelLimits(body: JsonObject, fields: readonly string[], most: number): ClampedLimit | null {
  const lowering = new LimitClamp(most);
  clampTopLevelLimits(body, fields, lowering);
  return lowering.result();
}

/** The settings with a reasoning budget lowered; null when it is below the model's limit. */
export function withClampedBudget(settings: unknown, key: string, lowering: LimitClamp): JsonObject | null {
  if (!isObject(settings) || typeof settings[key] !== "number" || settings[key] < lowering.maxTokens) return null;
  return { ...settings, [key]: lowering.scaledBudget(settings[key]) };
}
