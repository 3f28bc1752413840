import { type BenchFormat, bodyOf, CHUNKS_PER_STREAM, isStream, type LoadRequest, type Mode } from "./load_request.ts";
import type { Server } from "./child.ts";
import { CALLER_KEY, modelFor } from "./gateway.ts";
import { PEER } from "./peer.ts";

/** One route from a caller to the upstream. */
export interface Contender {
  readonly id: ContenderId;
  /** The name in the report. */
  readonly label: string;
  /** The server whose processor time and memory are measured; null for a direct connection. */
  readonly server: Server | null;
  /** The request for a reply in a mode. */
  ask(mode: Mode): LoadRequest;
}

/** Short names: `direct` is a direct connection, `bare` is the proxy that all others are compared with. */
export type ContenderId = "direct" | "bare" | "pass" | "messages" | "content" | "to_messages" | "to_content" | "peer";

/** The running servers; the peer may be missing. */
export interface Servers {
  readonly upstream: Server;
  readonly bare: Server;
  readonly gateway: Server;
  readonly peer: Server | null;
}

/** All contenders, the upstream itself first. */
export function contendersOf({ upstream, bare, gateway, peer }: Servers): Contender[] {
  const plain = (port: number) => (mode: Mode) =>
    requestOf(port, `/${mode}/chat/completions`, {}, bodyOf("chat", "canned-1", mode), mode);
  const through = (from: BenchFormat, to: BenchFormat) => (mode: Mode) => gatewayRequest(gateway.port, from, to, mode);
  const contenders: Contender[] = [
    { id: "direct", label: "direct, no proxy", server: null, ask: plain(upstream.port) },
    { id: "bare", label: "a: bare Deno proxy", server: bare, ask: plain(bare.port) },
    { id: "pass", label: "b: Switchyard, chat passed through", server: gateway, ask: through("chat", "chat") },
    { id: "messages", label: "c: Switchyard, messages to chat", server: gateway, ask: through("messages", "chat") },
    { id: "content", label: "c: Switchyard, content to chat", server: gateway, ask: through("content", "chat") },
    { id: "to_messages", label: "c: Switchyard, chat to messages", server: gateway, ask: through("chat", "messages") },
    { id: "to_content", label: "c: Switchyard, chat to content", server: gateway, ask: through("chat", "content") },
  ];
  if (peer !== null) {
    const label = `d: ${PEER.packageName} ${PEER.version}`;
    contenders.push({ id: "peer", label, server: peer, ask: (mode) => peerRequest(peer.port, upstream.port, mode) });
  }
  return contenders;
}

function requestOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  mode: Mode,
): LoadRequest {
  return { port, path, headers: { "content-type": "application/json", ...headers }, body, stream: isStream(mode) };
}

/** A request in one format for a model whose only provider uses another, or the same. */
function gatewayRequest(port: number, from: BenchFormat, to: BenchFormat, mode: Mode): LoadRequest {
  const model = modelFor(to, mode);
  const body = bodyOf(from, model, mode);
  const bearer = { authorization: `Bearer ${CALLER_KEY}` };
  switch (from) {
    case "chat":
      return requestOf(port, "/v1/chat/completions", bearer, body, mode);
    case "messages": {
      const headers = { "x-api-key": CALLER_KEY, "msg-version": "2023-06-01" };
      return requestOf(port, "/msgcompat/v1/messages", headers, body, mode);
    }
    case "content": {
      const verb = isStream(mode) ? "streamGenerateContent?alt=sse" : "generateContent";
      return requestOf(port, `/gencompat/v1beta/models/${model}:${verb}`, bearer, body, mode);
    }
  }
}

/** Source: the peer's documentation, "Custom Hosts". */
function peerRequest(port: number, upstreamPort: number, mode: Mode): LoadRequest {
  const headers = {
    "authorization": "Bearer upstream-key",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/${mode}`,
  };
  return requestOf(port, "/v1/chat/completions", headers, bodyOf("chat", "canned-1", mode), mode);
}

/** Why a contender cannot be measured in a mode, in a few words; null when a request of it succeeds. */
export async function failureOf({ ask }: Contender, mode: Mode): Promise<string | null> {
  const { port, path, headers, body, stream } = ask(mode);
  const signal = AbortSignal.timeout(15_000);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body, signal });
  const text = await response.text();
  if (response.status !== 200) return `answers ${response.status}: ${text.slice(0, 200)}`;
  if (!stream) return text.includes("word word") ? null : "answers without the upstream's text";
  const texts = text.match(/token\d+ /g)?.length ?? 0;
  return texts === CHUNKS_PER_STREAM ? null : `streams ${texts} chunks of text instead of ${CHUNKS_PER_STREAM}`;
}
