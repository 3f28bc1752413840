import { type BenchFormat, bodyOf, CHUNKS, isStream, type LoadRequest, type Mode } from "./load_request.ts";
import type { Server } from "./child.ts";
import { CALLER_KEY, modelFor } from "./gateway.ts";
import type { PeerId, RunningPeer } from "./peers/peer.ts";

/** One route from a caller to the upstream. */
export interface Contender {
  readonly id: ContenderId;
  /** The name in the report. */
  readonly label: string;
  /** The server whose processor time is measured; null for a direct connection. */
  readonly server: Server | null;
  /** The request for a reply in a mode, with a body of about that many bytes. */
  ask(mode: Mode, bytes: number): LoadRequest;
}

/**
 * `direct` is no proxy, and `bare` is the proxy that all others are compared with. `pass` is Switchyard without
 * translation.
 */
export type ContenderId = "direct" | "bare" | "node" | "pass" | PeerId | Direction;

/** A translation by Switchyard: the caller's format, then the vendor's. */
export type Direction = `${BenchFormat}-${BenchFormat}`;

/** The running servers; the bare Node proxy and the peers may be missing. */
export interface Servers {
  readonly upstream: Server;
  readonly bare: Server;
  readonly gateway: Server;
  readonly node: { readonly server: Server; readonly label: string } | null;
  readonly peers: readonly RunningPeer[];
}

/** The directions that are measured. */
export const DIRECTIONS: readonly { readonly id: Direction; readonly from: BenchFormat; readonly to: BenchFormat }[] = [
  { id: "messages-chat", from: "messages", to: "chat" },
  { id: "content-chat", from: "content", to: "chat" },
  { id: "chat-messages", from: "chat", to: "messages" },
  { id: "content-messages", from: "content", to: "messages" },
  { id: "chat-content", from: "chat", to: "content" },
  { id: "messages-content", from: "messages", to: "content" },
];

/** The upstream itself, the bare proxies, Switchyard without translation, and the peers. */
export function contendersOf({ upstream, bare, node, gateway, peers }: Servers): Contender[] {
  const plain = (port: number): Contender["ask"] => (mode, bytes) =>
    requestOf(port, `/${mode}/chat/completions`, {}, bodyOf("chat", { model: "canned-1", mode, bytes }));
  return [
    { id: "direct", label: "no proxy", server: null, ask: plain(upstream.port) },
    { id: "bare", label: "bare Deno", server: bare, ask: plain(bare.port) },
    ...(node === null
      ? []
      : [{ id: "node" as const, label: node.label, server: node.server, ask: plain(node.server.port) }]),
    passThrough(gateway),
    ...peers.map((peer): Contender => ({
      id: peer.id,
      label: peer.label,
      server: peer.server,
      ask: (mode, bytes) => peerRequest(peer, mode, bytes),
    })),
  ];
}

/** Switchyard without translation. */
export function passThrough(server: Server): Contender {
  return { id: "pass", label: "Switchyard", server, ask: (...what) => gatewayRequest(server, "chat-chat", ...what) };
}

/** Switchyard with translation, a contender for each direction. */
export function translationsOf(gateway: Server): Contender[] {
  return DIRECTIONS.map(({ id, from, to }) => ({
    id,
    label: `${from} to ${to}`,
    server: gateway,
    ask: (mode, bytes) => gatewayRequest(gateway, id, mode, bytes),
  }));
}

function requestOf(port: number, path: string, headers: Readonly<Record<string, string>>, body: string): LoadRequest {
  return { port, path, headers: { "content-type": "application/json", ...headers }, body };
}

/** A request in one format for a model whose only provider uses another, or the same. */
function gatewayRequest({ port }: Server, direction: Direction, mode: Mode, bytes: number): LoadRequest {
  const [from, to] = direction.split("-") as [BenchFormat, BenchFormat];
  const model = modelFor(to, mode);
  const body = bodyOf(from, { model, mode, bytes });
  const bearer = { authorization: `Bearer ${CALLER_KEY}` };
  switch (from) {
    case "chat":
      return requestOf(port, "/v1/chat/completions", bearer, body);
    case "messages":
      return requestOf(port, "/msgcompat/v1/messages", { "x-api-key": CALLER_KEY, "msg-version": "2023-06-01" }, body);
    case "content": {
      const verb = isStream(mode) ? "streamGenerateContent?alt=sse" : "generateContent";
      return requestOf(port, `/gencompat/v1beta/models/${model}:${verb}`, bearer, body);
    }
  }
}

function peerRequest({ server, headersFor, modelFor: modelOf }: RunningPeer, mode: Mode, bytes: number): LoadRequest {
  return requestOf(
    server.port,
    "/v1/chat/completions",
    headersFor(mode),
    bodyOf("chat", { model: modelOf(mode), mode, bytes }),
  );
}

/** Why a contender cannot be measured in a mode, in a few words; null when a request of it succeeds. */
export async function failureOf({ ask }: Contender, mode: Mode, bytes: number): Promise<string | null> {
  const { port, path, headers, body } = ask(mode, bytes);
  const signal = AbortSignal.timeout(15_000);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body, signal });
  const text = await response.text();
  if (response.status !== 200) return `answers ${response.status}: ${text.slice(0, 200)}`;
  if (mode === "json") return text.includes("word word") ? null : "answers without the upstream's text";
  const texts = text.match(/token\d+ /g)?.length ?? 0;
  return texts === CHUNKS[mode] ? null : `streams ${texts} chunks of text instead of ${CHUNKS[mode]}`;
}
