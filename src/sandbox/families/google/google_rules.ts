import { checkOwnSchema } from "./google_schema_rules.ts";
import { geminiFault } from "../schema_rules.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { checkFields, fieldOf, invalidFieldError, listIn } from "./google_fields.ts";
import { checkContents } from "./google_content_rules.ts";
import { checkCaches, checkContentModel } from "./google_model_rules.ts";

/**
 * Rejects a generation request that the vendor rejects, with the vendor's message. Source: Gemini API reference,
 * "Generating content"; the vendor's error messages.
 *
 * @param body As received, without the model from the path.
 * @param cached The content of the cache that the request names. Default: null, for none.
 * @throws {SimulatedError}
 */
export function checkGenerate(body: JsonObject, model: string, cached: JsonObject | null = null): void {
  checkFields(body, "GenerateContentRequest");
  checkRequest(body, model, cached);
  checkContentModel(body, model);
}

/** Does the same for content to be cached. Throws the same errors. */
export function checkCached(body: JsonObject, model: string): void {
  checkFields(body, "CachedContent");
  checkCaches(body, model);
  checkRequest(body, model, null);
}

/** Does the same for a request that counts tokens, in either of its shapes. Throws the same errors. */
export function checkCount(body: JsonObject, model: string): void {
  checkFields(body, "CountTokensRequest");
  const inner = fieldOf(body, "generateContentRequest");
  if (inner !== undefined && body.contents !== undefined) {
    throw new SimulatedError(400, "Only one of contents and generate_content_request may be set.");
  }
  if (isObject(inner) && inner.model === undefined) {
    throw invalidFieldError("model", "model is not specified");
  }
  checkRequest(isObject(inner) ? inner : body, model, null);
}

function checkRequest(body: JsonObject, model: string, cached: JsonObject | null): void {
  if (
    cached !== null && ["systemInstruction", "tools", "toolConfig"].some((name) => fieldOf(body, name) !== undefined)
  ) {
    throw new SimulatedError(
      400,
      "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\n" +
        "Proposed fix: move those values to CachedContent from GenerateContent request.",
    );
  }
  checkContents([...listIn(cached?.contents), ...listIn(body.contents)], model);
  checkTools(body, model);
  checkSearch(body, model);
  checkToolConfig(body);
  checkConfig(fieldOf(body, "generationConfig"), model);
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

function checkTools(body: JsonObject, model: string): void {
  const names = new Set<unknown>();
  listIn(body.tools).forEach((tool, at) => {
    listIn(fieldOf(tool, "functionDeclarations")).forEach((declaration, index) => {
      const path = `tools[${at}].function_declarations[${index}]`;
      if (!NAME.test(String(declaration.name))) {
        throw invalidFieldError(
          `${path}.name`,
          "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, " +
            "A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.",
        );
      }
      if (names.has(declaration.name)) {
        throw new SimulatedError(400, `Duplicate function declaration found: ${declaration.name}`);
      }
      names.add(declaration.name);
      const { parameters } = declaration;
      if (parameters !== undefined && fieldOf(declaration, "parametersJsonSchema") !== undefined) {
        throw invalidFieldError(path, "parameters and parameters_json_schema are mutually exclusive");
      }
      const schema = fieldOf(declaration, "parametersJsonSchema");
      const fault = isObject(schema) ? geminiFault(schema, `${path}.parameters_json_schema`) : null;
      if (fault !== null) throw new SimulatedError(400, fault);
      for (const name of ["parameters", "response"]) {
        const own = declaration[name];
        if (isObject(own)) checkOwnSchema(own, `${path}.${name}`, model);
      }
    });
  });
}

/** Source: Gemini API reference, "Combine built-in tools and function calling"; the vendor's error messages. */
function checkSearch(body: JsonObject, model: string): void {
  const tools = listIn(body.tools);
  const hasSearch = tools.some((tool) => fieldOf(tool, "googleSearch") !== undefined);
  if (!hasSearch || !tools.some((tool) => listIn(fieldOf(tool, "functionDeclarations")).length > 0)) return;
  if (/gemini-[12]/.test(model)) throw new SimulatedError(400, "Tool use with function calling is unsupported");
  const config = fieldOf(body, "toolConfig");
  if (isObject(config) && fieldOf(config, "includeServerSideToolInvocations") === true) return;
  throw new SimulatedError(
    400,
    "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
  );
}

const MODES = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"];

function checkToolConfig(body: JsonObject): void {
  const config = fieldOf(body, "toolConfig");
  const calling = isObject(config) ? fieldOf(config, "functionCallingConfig") : undefined;
  if (!isObject(calling)) return;
  if (!listIn(body.tools).some((tool) => listIn(fieldOf(tool, "functionDeclarations")).length > 0)) {
    throw new SimulatedError(400, "Function calling config is set without function_declarations.");
  }
  const mode = String(calling.mode ?? "AUTO");
  if (!MODES.includes(mode)) {
    throw new SimulatedError(400, `Invalid value at 'tool_config.function_calling_config.mode' (TYPE_ENUM), "${mode}"`);
  }
  const allowed = listOf(fieldOf(calling, "allowedFunctionNames"));
  if (allowed.length > 0 && mode !== "ANY" && mode !== "VALIDATED") {
    throw new SimulatedError(
      400,
      "Allowed function names should only be set when function calling mode is ANY or VALIDATED.",
    );
  }
  const declared = listIn(body.tools).flatMap((tool) => listIn(fieldOf(tool, "functionDeclarations")));
  const missing = allowed.find((name) => !declared.some((declaration) => declaration.name === name));
  if (missing !== undefined) {
    throw new SimulatedError(400, `Function "${missing}" is not found in the declared functions.`);
  }
}

const RANGES = [["temperature", 0, 2], ["topP", 0, 1], ["presencePenalty", -2, 2], [
  "frequencyPenalty",
  -2,
  2,
]] as const;
const MAX_STOP_SEQUENCES = 5;
const MIME_TYPES = ["text/plain", "application/json", "text/x.enum", "application/xml", "application/yaml", "text/x-r"];

function checkConfig(config: unknown, model: string): void {
  if (!isObject(config)) return;
  for (const [name, min, max] of RANGES) {
    const value = fieldOf(config, name);
    if (typeof value !== "number" || (value >= min && value <= max)) continue;
    throw invalidFieldError(`generation_config.${name}`, `must be in the range [${min}, ${max}].`);
  }
  const limit = fieldOf(config, "maxOutputTokens");
  if (typeof limit === "number" && limit < 1) {
    throw invalidFieldError("generation_config.max_output_tokens", "must be positive.");
  }
  if (typeof config.seed === "number" && Math.abs(config.seed) > 2 ** 31 - 1) {
    throw new SimulatedError(400, `Invalid value at 'generation_config.seed' (TYPE_INT32), ${config.seed}`);
  }
  const stops = listOf(fieldOf(config, "stopSequences"));
  if (stops.length > MAX_STOP_SEQUENCES) {
    throw invalidFieldError(
      "generation_config.stop_sequences",
      `the number of stop_sequences must not exceed ${MAX_STOP_SEQUENCES}.`,
    );
  }
  checkResponseType(config, model);
  const thinking = fieldOf(config, "thinkingConfig");
  if (!isObject(thinking)) return;
  if (fieldOf(thinking, "thinkingBudget") !== undefined && fieldOf(thinking, "thinkingLevel") !== undefined) {
    throw new SimulatedError(400, "You can only set only one of thinking budget and thinking level.");
  }
}

function checkResponseType(config: JsonObject, model: string): void {
  const mimeType = String(fieldOf(config, "responseMimeType") ?? "text/plain");
  if (!MIME_TYPES.includes(mimeType)) {
    throw invalidFieldError("generation_config.response_mime_type", `allowed mimetypes are ${MIME_TYPES.join(", ")}.`);
  }
  const schema = fieldOf(config, "responseJsonSchema");
  const fault = isObject(schema) ? geminiFault(schema, "generation_config.response_json_schema") : null;
  if (fault !== null) throw new SimulatedError(400, fault);
  const own = fieldOf(config, "responseSchema");
  if (isObject(own)) checkOwnSchema(own, "generation_config.response_schema", model);
  const hasSchema = ["responseSchema", "responseJsonSchema"].some((name) => fieldOf(config, name) !== undefined);
  if (hasSchema && mimeType !== "application/json" && mimeType !== "text/x.enum") {
    throw invalidFieldError(
      "generation_config.response_schema",
      "only supported with response_mime_type application/json",
    );
  }
}
