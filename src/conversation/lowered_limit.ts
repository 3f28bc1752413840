import type { JsonObject } from "../lib/json_object.ts";
import { isObject } from "./wire_value.ts";

/** The changes that lower a request's output limits to the model's own. */
export interface LoweredLimit {
  /** The members of the request's top object that changed. */
  readonly set: Readonly<Record<string, unknown>>;
  /** The fields that were lowered, in the caller's spelling. */
  readonly fields: readonly string[];
}

/** Collects the lowered limits of one request. */
export class LimitLowering {
  readonly #set: Record<string, unknown> = {};
  readonly #fields: string[] = [];
  /** The largest limit that was lowered, as sent; 0 if none was. */
  highest = 0;

  /**
   * Creates a collection without lowered limits.
   *
   * @param most The model's limit of output tokens.
   */
  constructor(readonly most: number) {}

  /** Records a lowered field, and the new value of the top-level member that contains it. */
  lower(field: string, member: string, value: unknown): void {
    this.#fields.push(field);
    this.#set[member] = value;
  }

  /** The settings with one limit lowered; the same object when the limit is not above the model's. */
  limitIn(settings: JsonObject, key: string): JsonObject {
    const tokens = settings[key];
    if (typeof tokens !== "number" || tokens <= this.most) return settings;
    this.highest = Math.max(this.highest, tokens);
    return { ...settings, [key]: this.most };
  }

  /** A reasoning budget scaled down by the same factor as the requested limit. */
  shareOf(budgetTokens: number): number {
    return Math.floor(this.most * Math.min(budgetTokens / this.highest, 1));
  }

  /** The changes; null when no limit was lowered. */
  result(): LoweredLimit | null {
    return this.#fields.length === 0 ? null : { set: this.#set, fields: this.#fields };
  }
}

/**
 * Lowers limits that are top-level members of the request.
 *
 * @param fields Their names.
 */
export function lowerTopLimits(body: JsonObject, fields: readonly string[], lowering: LimitLowering): void {
  for (const field of fields) {
    const { [field]: tokens } = lowering.limitIn(body, field);
    if (tokens !== body[field]) lowering.lower(field, field, tokens);
  }
}

/** As {@linkcode lowerTopLimits}, for formats in which nothing else depends on the limit. */
export function topLimitsLowered(body: JsonObject, fields: readonly string[], most: number): LoweredLimit | null {
  const lowering = new LimitLowering(most);
  lowerTopLimits(body, fields, lowering);
  return lowering.result();
}

/** The settings with a reasoning budget lowered; null when it is below the model's limit. */
export function withBudgetLowered(settings: unknown, key: string, lowering: LimitLowering): JsonObject | null {
  if (!isObject(settings) || typeof settings[key] !== "number" || settings[key] < lowering.most) return null;
  return { ...settings, [key]: lowering.shareOf(settings[key]) };
}
