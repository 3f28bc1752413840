import type { LoggedRequest } from "../../src/sandbox/request_log.ts";

/** A vendor's format, by the model that represents it. */
export interface VendorModel {
  readonly name: string;
  readonly model: string;
  /** Whether a request has a signature of earlier thoughts that the vendor itself issued. */
  hasSignature(seen: LoggedRequest): boolean;
  /** Whether it reasons about a request that does not say so. Default: false. */
  readonly reasons?: boolean;
  /** Where it has no search: in chat completions, or nowhere. Default: it has one everywhere. */
  readonly searchless?: "in chat" | "everywhere";
}

/** One model of each simulated vendor. */
export const VENDORS: readonly VendorModel[] = [
  {
    name: "openai",
    model: "sandbox/chat-1",
    hasSignature: ({ body }) => textOf(body).includes('"encrypted_content":"'),
    searchless: "in chat",
  },
  {
    name: "anthropic",
    model: "sandbox/messages-1",
    hasSignature: ({ body }) => textOf(body).includes('"signature":"'),
  },
  {
    name: "google",
    model: "sandbox/content-1",
    hasSignature: ({ body }) => /"thought_?[sS]ignature":"(?!skip_)/.test(textOf(body)),
  },
];

/** A model id of the matrix gateway that a client recognises as a Gemini model. */
export function geminiIdOf({ name }: VendorModel): string {
  return `sandbox/gemini-3-pro-by-${name.toLowerCase().replace(/[^a-z0-9.]+/g, "-")}`;
}

function textOf(body: unknown): string {
  return JSON.stringify(body) ?? "";
}
