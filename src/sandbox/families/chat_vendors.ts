import {
  bodyOf,
  type Call,
  hasValidBearer,
  isMissingModel,
  jsonResponse,
  retryAfterHeader,
  type VendorApi,
} from "../call.ts";
import { generate, type SimulatedEndpoint } from "../generate.ts";
import { SimulatedError } from "../simulated_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import {
  type ChatVendorRules,
  checkAlibaba,
  checkCohere,
  checkDeepseek,
  checkFunctionsOnly,
  checkGroq,
  checkMistral,
  checkMoonshot,
  checkXai,
  checkZai,
  effortIn,
} from "./chat_vendor_rules.ts";
import { chatEndpoint } from "./openai/openai_chat.ts";
import { checkChatMessages } from "./openai/openai_chat_message_rules.ts";

/** A vendor that has chat completions only. */
interface ChatVendor {
  readonly name: string;
  readonly check: ChatVendorRules;
  /** The models that reason unless a request switches it off. */
  readonly reasons: RegExp | null;
}

const VENDORS: readonly ChatVendor[] = [
  { name: "deepseek", check: checkDeepseek, reasons: /^deepseek-(?:flash|v4)/ },
  { name: "moonshot", check: checkMoonshot, reasons: /^kimi-k/ },
  { name: "zai", check: checkZai, reasons: /^glm-5/ },
  { name: "groq", check: checkGroq, reasons: /gpt-oss/ },
  { name: "mistral", check: checkMistral, reasons: null },
  { name: "cohere", check: checkCohere, reasons: null },
];

/**
 * Vendors with OpenAI's chat format, each with its own rules. Unknown fields are ignored, except at Mistral. Sources:
 * those of the rules.
 */
export const chatVendors: readonly VendorApi[] = VENDORS.map(apiOf);

function apiOf(vendor: ChatVendor): VendorApi {
  return {
    prefix: `/${vendor.name}`,
    handle(call) {
      if (!hasValidBearer(call)) throw new SimulatedError(401, "Authentication Fails, your api key is invalid");
      if (`${call.method} ${call.path}` === "GET /v1/models") return jsonResponse({ object: "list", data: [] });
      if (`${call.method} ${call.path}` !== "POST /v1/chat/completions") throw new SimulatedError(404, "Not Found");
      return complete(call, vendor);
    },
    writeError: (failure) => {
      const { status, message, details } = failure;
      const { code = null, param = null } = details;
      const headers = retryAfterHeader(failure);
      if (status === 422) {
        const detail = [{ type: "extra_forbidden", loc: ["body", ...String(param).split(".")], msg: message }];
        return jsonResponse({ object: "error", message: { detail }, type: "invalid_request_error" }, headers, status);
      }
      const type = status >= 500 ? "server_error" : "invalid_request_error";
      return jsonResponse({ error: { message, type, param, code } }, headers, status);
    },
  };
}

/** xAI's chat completions. Its models count their reasoning and do not show it. */
export function completeAtXai(call: Call): Promise<Response> {
  return complete(call, { name: "xai", check: checkXai, reasons: null });
}

/** Chat completions of Alibaba Cloud Model Studio, in its compatible mode. */
export function completeAtAlibaba(call: Call): Promise<Response> {
  return complete(call, { name: "alibaba", check: checkAlibaba, reasons: null });
}

function complete(call: Call, vendor: ChatVendor): Promise<Response> {
  const body = bodyOf(call, "Failed to parse the request body as JSON");
  const model = String(body.model ?? "");
  if (isMissingModel(model)) throw new SimulatedError(404, "Model Not Exist", { code: "model_not_found" });
  checkChatMessages(body.messages);
  checkFunctionsOnly(body);
  vendor.check(body, model);
  const reasons = vendor.reasons?.test(model) === true && effortIn(body) !== "none";
  const read = reasons ? { ...body, reasoning_effort: effortIn(body) ?? "high" } : body;
  return generate({ call, body: read, model, streamed: body.stream === true }, ENDPOINT);
}

/** These vendors show reasoning as `reasoning_content`. */
const ENDPOINT: SimulatedEndpoint = {
  ...chatEndpoint,
  partsOf(plan, request) {
    const said = chatEndpoint.partsOf(plan, request);
    const { reasoning } = plan;
    const isShown = said.parts.some(({ kind }) => kind === "reasoning");
    if (reasoning === null || reasoning.redacted || isShown) return said;
    return { ...said, parts: [{ kind: "reasoning", text: reasoning.text }, ...said.parts] };
  },
  reportsUsage: (body: JsonObject) => body.stream_options === undefined || chatEndpoint.reportsUsage(body),
};
