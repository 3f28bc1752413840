import type { LoggedRequest } from "../../src/sandbox/request_log.ts";

/** A vendor's form, by the model that stands for it. */
export interface VendorModel {
  readonly name: string;
  readonly model: string;
  /** Whether a request carries a proof of earlier thoughts that the vendor itself gave. */
  carriesProof(seen: LoggedRequest): boolean;
}

/** One model of each simulated vendor. */
export const VENDORS: readonly VendorModel[] = [
  {
    name: "openai",
    model: "sandbox/chat-1",
    carriesProof: ({ body }) => textOf(body).includes('"encrypted_content":"'),
  },
  {
    name: "anthropic",
    model: "sandbox/messages-1",
    carriesProof: ({ body }) => textOf(body).includes('"signature":"'),
  },
  {
    name: "google",
    model: "sandbox/content-1",
    carriesProof: ({ body }) => /"thought_?[sS]ignature":"(?!skip_)/.test(textOf(body)),
  },
];

/** An id under which the gateway of the matrix serves a vendor's model, and which a client takes for a Gemini's. */
export function geminiNamed({ name }: VendorModel): string {
  return `sandbox/gemini-3-pro-by-${name}`;
}

function textOf(body: unknown): string {
  return JSON.stringify(body) ?? "";
}
