import type { RequestTarget } from "../../../upstream_format.ts";
import type { ImagePart, Part, ReasoningPart, TextPart, Turn } from "../../../conversation.ts";
import type { Seal } from "../../../seal.ts";
import type { WebSearchPart } from "../../../web_search.ts";
import type { Names } from "../shared/fields.ts";
import { notTaken } from "./write_media.ts";

/** A turn of one of the two speakers that every vendor of this form knows. */
export interface SpokenTurn {
  /** Never the same twice in a row. */
  readonly role: "user" | "assistant";
  /** What the form can say, in the words of a request. */
  readonly parts: Part[];
}

/**
 * The turns as this form allows them: only parts that it can say, user and assistant by turns, the user first.
 * Instructions in between become a marked text of the user's, pictures of the assistant move to the user's next turn.
 *
 * @throws {GatewayError} `invalid_request` for sound or moving pictures that the model is to perceive.
 */
export function repairTurns(turns: readonly Turn[], target: RequestTarget, losses: Names): SpokenTurn[] {
  const repaired: SpokenTurn[] = [];
  let shown: ImagePart[] = [];
  for (const turn of turns) {
    if (turn.role === "assistant") {
      const parts = turn.parts.flatMap((part) => sayableByAssistant(part, target, losses));
      shown.push(...parts.filter((part) => part.kind === "image"));
      joinTurn(repaired, "assistant", parts.filter((part) => part.kind !== "image"));
    } else {
      const parts = turn.role === "user" ? turn.parts.flatMap(sayableByUser) : turn.parts.flatMap(reminderOf);
      joinTurn(repaired, "user", [...shown, ...parts]);
      shown = [];
    }
  }
  if (shown.length > 0) losses.add("image");
  if (repaired[0]?.role !== "user") {
    losses.add("turn_order");
    repaired.unshift({ role: "user", parts: [{ kind: "text", text: "." }] });
  }
  return repaired;
}

/** Adds parts to the last turn if it is of that role, else as a turn of their own; no parts are no turn. */
export function joinTurn(turns: SpokenTurn[], role: SpokenTurn["role"], parts: readonly Part[]): void {
  if (parts.length === 0) return;
  const latest = turns.at(-1);
  if (latest?.role === role) latest.parts.push(...parts);
  else turns.push({ role, parts: [...parts] });
}

function sayableByUser(part: Part): Part[] {
  switch (part.kind) {
    case "audio":
    case "video":
      throw notTaken(part.kind, `this model's vendor takes no ${part.kind}`);
    case "text":
      return spoken(part);
    default:
      return [part];
  }
}

function spoken(part: TextPart): TextPart[] {
  return isVisible(part) ? [part] : [];
}

/** False for text without a visible sign, which vendors refuse. */
export function isVisible(part: Part): boolean {
  return part.kind !== "text" || part.text.trim() !== "";
}

function reminderOf(part: Part): TextPart[] {
  if (part.kind !== "text") return [];
  return spoken(part).map(({ text, cache }) => ({
    kind: "text",
    text: `<system-reminder>\n${text}\n</system-reminder>`,
    ...(cache ? { cache } : {}),
  }));
}

function sayableByAssistant(part: Part, target: RequestTarget, losses: Names): Part[] {
  switch (part.kind) {
    case "text":
      if (part.seal) losses.add("reasoning_signature");
      return spoken(withOwnCitations(part, target, losses));
    case "web_search":
      if (isProven(part.origin, target)) return [bareSearch(part)];
      losses.add("web_search_call");
      return [];
    case "refusal":
      losses.add("refusal");
      return spoken({ kind: "text", text: part.text });
    case "audio":
    case "video":
    case "file":
      losses.add(part.kind);
      return [];
    case "tool_call":
      if (part.seal) losses.add("reasoning_signature");
      return [part];
    case "reasoning":
      return isProven(part.seal, target) ? [part] : unproven(part, losses);
    default:
      return [part];
  }
}

/** Citations bear the vendor's mark of the place that is cited, and are refused without it. */
function withOwnCitations({ citations, ...part }: TextPart, target: RequestTarget, losses: Names): TextPart {
  if (!citations) return part;
  const own = citations.filter(({ seal }) => isProven(seal, target));
  if (own.length < citations.length) losses.add("citations");
  return own.length === 0 ? part : { ...part, citations: own.map(bare) };
}

/** A search with the vendor's own marks as the vendor gave them. */
function bareSearch(search: WebSearchPart): WebSearchPart {
  const results = search.results && search.results.map(bare);
  return { ...search, results, origin: { ...search.origin, issuer: null } };
}

function bare<T extends { readonly seal?: Seal }>(marked: T): T {
  return marked.seal ? { ...marked, seal: { ...marked.seal, issuer: null } } : marked;
}

/** True for thinking that the target itself signed, or may have: without that it is refused. */
function isProven(seal: { form: string; issuer: string | null } | undefined, target: RequestTarget): boolean {
  return seal?.form === "messages" && (seal.issuer === null || seal.issuer === target.provider);
}

function unproven({ seal, text }: ReasoningPart, losses: Names): Part[] {
  if (seal) losses.add("reasoning_signature");
  if (text !== "") losses.add("reasoning_text");
  return [];
}
