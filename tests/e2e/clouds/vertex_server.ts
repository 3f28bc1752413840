import type { Sandbox } from "../../../src/sandbox/mod.ts";
import { vectorOf } from "../../../src/sandbox/vectors.ts";

/** A request for a model, as Vertex AI received it. */
export interface VertexRequest {
  readonly path: string;
  readonly token: string | null;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly body: any;
  readonly headers: Headers;
}

/** Vertex AI and Google's token address on loopback. */
export interface VertexServer {
  /** Without a path. */
  readonly address: string;
  /** The text of a service account's key file for {@linkcode address}. */
  readonly keyFile: string;
  readonly seen: readonly VertexRequest[];
  /** The claims of all assertions. */
  readonly assertions: readonly Record<string, unknown>[];
  /** The token that is valid from now on is not among those issued before. */
  expireTokens(): void;
  stop(): Promise<void>;
}

const MODEL_PATH =
  /^\/(v1|v1beta1)\/projects\/acme\/locations\/europe-west4\/publishers\/(google|anthropic)\/models\/([^/:]+):(\w+)$/;
const EMAIL = "gateway@acme.iam.gserviceaccount.com";
const KEY_ID = "key-of-acme-1";

/**
 * Starts Vertex AI in front of the simulated vendors. It verifies assertions with the account's public key, refuses
 * requests without a valid token, and checks by which members a body differs from that of the vendors themselves.
 */
export async function startVertexServer(sandbox: () => Sandbox): Promise<VertexServer> {
  const pair = await crypto.subtle.generateKey(
    { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
    true,
    ["sign", "verify"],
  );
  const seen: VertexRequest[] = [];
  const assertions: Record<string, unknown>[] = [];
  let issued = 0;
  let firstValid = 1;
  const tokenOf = (count: number) => `ya29.token-of-acme-${count}`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    if (url.pathname === "/token") {
      const claims = await claimsOf(new URLSearchParams(await request.text()), pair.publicKey);
      if (claims === null) return Response.json({ error: "invalid_grant" }, { status: 400 });
      assertions.push(claims);
      return Response.json({ access_token: tokenOf(++issued), expires_in: 3599, token_type: "Bearer" });
    }
    const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? null;
    const bytes = await request.bytes();
    const body = bytes.length === 0 ? null : JSON.parse(new TextDecoder().decode(bytes));
    seen.push({ path: url.pathname + url.search, token, body, headers: request.headers });
    const isValid = Array.from({ length: issued }, (_, index) => index + 1)
      .some((count) => count >= firstValid && tokenOf(count) === token);
    if (!isValid) return refusal(401, "UNAUTHENTICATED");
    const [, version, publisher, model = "", method = ""] = MODEL_PATH.exec(url.pathname) ?? [];
    if (publisher === "google" && version === "v1beta1") {
      return await asGoogle(sandbox(), `${model}:${method}${url.search}`, body);
    }
    if (publisher === "anthropic" && version === "v1") return await asAnthropic(sandbox(), model, method, body);
    return refusal(404, "NOT_FOUND");
  });
  const address = `http://127.0.0.1:${server.addr.port}`;
  return {
    address,
    keyFile: JSON.stringify({
      type: "service_account",
      project_id: "acme",
      private_key_id: KEY_ID,
      private_key: pem(await crypto.subtle.exportKey("pkcs8", pair.privateKey)),
      client_email: EMAIL,
      token_uri: `${address}/token`,
    }),
    seen,
    assertions,
    expireTokens: () => void (firstValid = issued + 1),
    stop: () => server.shutdown(),
  };
}

function refusal(code: number, status: string): Response {
  return Response.json({ error: { code, message: `Refused: ${status}`, status } }, { status: code });
}

/** Google's rules of a request at Vertex AI that the Gemini API does not have. */
function asGoogle(sandbox: Sandbox, target: string, body: VertexRequest["body"]): Promise<Response> | Response {
  if (target.endsWith(":predict")) return predictions(body);
  const contents: VertexRequest["body"][] = body.contents ?? [];
  const parts = contents.flatMap(({ parts }) => parts ?? []);
  const hasId = parts.some(({ functionCall, functionResponse }) => functionCall?.id || functionResponse?.id);
  if (hasId) return refusal(400, "INVALID_ARGUMENT");
  if (contents.some(({ role }) => role !== "user" && role !== "model")) return refusal(400, "INVALID_ARGUMENT");
  const counted = target.includes(":countTokens");
  return fetch(`${sandbox.baseUrls.google}/v1beta/models/${target}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": "sandbox" },
    body: JSON.stringify(counted ? { contents } : body),
  });
}

function predictions({ instances, parameters }: VertexRequest["body"]): Response {
  const values = (text: string) => vectorOf(text, parameters?.outputDimensionality ?? 256);
  return Response.json({
    predictions: instances.map(({ content }: { content: string }) => ({
      embeddings: { statistics: { truncated: false, token_count: content.split(" ").length }, values: values(content) },
    })),
    metadata: { billableCharacterCount: 1 },
  });
}

function asAnthropic(
  sandbox: Sandbox,
  model: string,
  method: string,
  { anthropic_version, ...body }: VertexRequest["body"],
): Promise<Response> | Response {
  const isCount = model === "count-tokens";
  const isValid = anthropic_version === "vertex-2023-10-16" && (body.model !== undefined) === isCount &&
    (method === "streamRawPredict") === (body.stream === true);
  if (!isValid) return refusal(400, "INVALID_ARGUMENT");
  return fetch(`${sandbox.baseUrls.anthropic}/v1/messages${isCount ? "/count_tokens" : ""}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "sandbox", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(isCount ? body : { model, ...body }),
  });
}

/** The claims of a valid assertion; null for any other. */
async function claimsOf(form: URLSearchParams, key: CryptoKey): Promise<Record<string, unknown> | null> {
  if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return null;
  const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  const signed = new TextEncoder().encode(`${header}.${claims}`);
  const isSigned = await crypto.subtle.verify("RSASSA-PKCS1-v1_5", key, bytesOf(signature), signed);
  const { alg, typ, kid } = JSON.parse(new TextDecoder().decode(bytesOf(header)));
  if (!isSigned || alg !== "RS256" || typ !== "JWT" || kid !== KEY_ID) return null;
  return JSON.parse(new TextDecoder().decode(bytesOf(claims)));
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(base64url, { alphabet: "base64url" });
}

function pem(pkcs8: ArrayBuffer): string {
  const lines = new Uint8Array(pkcs8).toBase64().match(/.{1,64}/g) ?? [];
  return ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
}
