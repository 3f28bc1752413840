import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type ClampedLimit, LimitClamp, withClampedBudget } from "../../../contract/clamped_limit.ts";
import { isObject } from "../../../neutral/wire_value.ts";

/** Lowers `maxOutputTokens` and, where needed, the reasoning budget, in either spelling. */
export function clampLimit(body: JsonObject, most: number): ClampedLimit | null {
  const lowering = new LimitClamp(most);
  for (const config of ["generationConfig", "generation_config"]) {
    const settings = body[config];
    if (isObject(settings)) lowerSettings(config, settings, lowering);
  }
  return lowering.result();
}

function lowerSettings(config: string, settings: JsonObject, lowering: LimitClamp): void {
  let lowered = settings;
  const fields: string[] = [];
  for (const key of ["maxOutputTokens", "max_output_tokens"]) {
    const before = lowered;
    lowered = lowering.clampSetting(lowered, key);
    if (lowered !== before) fields.push(`${config}.${key}`);
  }
  if (fields.length === 0) return;
  for (const key of ["thinkingConfig", "thinking_config"]) {
    for (const budget of ["thinkingBudget", "thinking_budget"]) {
      const thinking = withClampedBudget(lowered[key], budget, lowering);
      if (thinking === null) continue;
      lowered = { ...lowered, [key]: thinking };
      fields.push(`${config}.${key}.${budget}`);
    }
  }
  for (const field of fields) lowering.record(field, config, lowered);
}
