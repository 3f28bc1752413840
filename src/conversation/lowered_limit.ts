import type { JsonObject } from "../lib/json_object.ts";
import { isObject } from "./wire_value.ts";

/** A request whose limits of output tokens were lowered to what its model can write. */
export interface LoweredLimit {
  /** The members of the request's top object that changed. */
  readonly set: Readonly<Record<string, unknown>>;
  /** The fields that were lowered, in the caller's spelling. */
  readonly fields: readonly string[];
}

/** Collects what is lowered of one request. */
export class LimitLowering {
  readonly #set: Record<string, unknown> = {};
  readonly #fields: string[] = [];
  /** The largest limit that was lowered, as sent; 0 before one was. */
  highest = 0;

  /**
   * Begins with nothing lowered.
   *
   * @param most The model's limit of output tokens.
   */
  constructor(readonly most: number) {}

  /** Notes a field that was lowered, and the new value of the top member in which it stands. */
  lower(field: string, member: string, value: unknown): void {
    this.#fields.push(field);
    this.#set[member] = value;
  }

  /** Lowers a limit: the new settings, or those that came where it is not above the model's. */
  limitIn(settings: JsonObject, key: string): JsonObject {
    const tokens = settings[key];
    if (typeof tokens !== "number" || tokens <= this.most) return settings;
    this.highest = Math.max(this.highest, tokens);
    return { ...settings, [key]: this.most };
  }

  /** A budget of reasoning that is as large a share of the model's limit as it was of the limit that was asked for. */
  shareOf(budgetTokens: number): number {
    return Math.floor(this.most * Math.min(budgetTokens / this.highest, 1));
  }

  /** What was lowered; null when nothing was. */
  result(): LoweredLimit | null {
    return this.#fields.length === 0 ? null : { set: this.#set, fields: this.#fields };
  }
}

/**
 * Lowers limits that stand in the request's top object.
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

/** The settings with a budget of reasoning lowered where it is not below the model's limit. */
export function withBudgetLowered(settings: unknown, key: string, lowering: LimitLowering): JsonObject | null {
  if (!isObject(settings) || typeof settings[key] !== "number" || settings[key] < lowering.most) return null;
  return { ...settings, [key]: lowering.shareOf(settings[key]) };
}
