import { CALLER_PROTOCOLS, type CallerProtocol } from "../caller_protocols.ts";

/** A request that a stream answers, and how to write it. */
export interface StreamKind {
  readonly name: string;
  /** The request as it is on the wire. */
  write(): string;
}

/** What the requests need. */
export interface StreamTargets {
  /** Host and port of the gateway. */
  readonly host: string;
  readonly key: string;
  readonly adminKey: string;
  /** The cookie of a session of the console. */
  readonly cookie: string;
  /** The path and query of a file that is stored. */
  readonly file: string;
  /** The id of a video task that does not end. */
  readonly task: string;
  /** The path of a stream whose events are kept. */
  readonly kept: string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const PROMPT = "Hello [[words 12]]";
const SLOW_PROMPT = "Hello [[words 12]] [[gap 1]]";
/** Its request is answered in a thread. */
const LARGE_PROMPT = `${PROMPT} ${"x".repeat(8_000)}`;

/** Every kind of stream that the gateway sends. */
export function streamKinds(targets: StreamTargets): readonly StreamKind[] {
  const { host, key, adminKey, cookie, file, task, kept, random } = targets;
  const kind = (name: string, method: string, path: string, fields: Record<string, string>, body?: () => unknown) => ({
    name,
    write: () => requestText({ host, method, path, fields, ...body !== undefined && { body: body() } }),
  });
  const texts = (name: string, model: (face: CallerProtocol) => string, text: string, fields = {}, query = "") =>
    CALLER_PROTOCOLS.map((face) => {
      const path = face.path(model(face), true).replace(/\?alt=sse$/, (all) => query || all);
      const own = { ...face.headers(key), ...fields };
      return kind(`${face.name}, ${name}`, "POST", path, own, () => face.body(model(face), text, true));
    });
  const bearer = { authorization: `Bearer ${key}` };
  const json = { ...bearer, "content-type": "application/json" };
  const image = { model: "sandbox/painter-1", prompt: "a fox", quality: "low", stream: true, partial_images: 2 };
  const speech = { model: "sandbox/speech-1", input: "a red fox", voice: "alloy", stream_format: "sse" };
  const idempotent = CALLER_PROTOCOLS.map((face) => ({
    name: `${face.name}, with an idempotency key`,
    write: () => {
      // Every second key is new; the others repeat one.
      const value = random() < 0.5 ? crypto.randomUUID() : `again-${face.name}`;
      const fields = { ...face.headers(key), "idempotency-key": value };
      const body = face.body(face.ownModel, PROMPT, true);
      return requestText({ host, method: "POST", path: face.path(face.ownModel, true), fields, body });
    },
  }));
  return [
    ...texts("passed through", (face) => face.ownModel, PROMPT),
    ...texts("passed through slowly", (face) => face.ownModel, SLOW_PROMPT),
    ...texts("translated", translatedModelOf, PROMPT),
    ...texts("translated slowly", translatedModelOf, SLOW_PROMPT),
    ...texts("large", (face) => face.ownModel, LARGE_PROMPT),
    ...texts("broken by its vendor", (face) => face.ownModel, "[[cut 3]] [[words 12]]"),
    ...texts("resumable", (face) => face.ownModel, PROMPT, { "x-service-resume": "true" }),
    ...texts("as a list", (face) => face.ownModel, PROMPT, {}, "?alt=json").filter(({ name }) => /^content/.test(name)),
    ...idempotent,
    kind("kept events", "GET", kept, bearer),
    kind("images", "POST", "/v1/images/generations", json, () => image),
    kind("speech as events", "POST", "/v1/audio/speech", json, () => speech),
    kind("speech", "POST", "/v1/audio/speech", json, () => ({ ...speech, stream_format: undefined })),
    kind("a file", "GET", file, {}),
    kind("a range of a file", "GET", file, { range: "bytes=5-900" }),
    kind("events of a video", "GET", `/v1/videos/${task}/events`, bearer),
    kind("events of operators", "GET", "/admin/v1/overview/events", { authorization: `Bearer ${adminKey}` }),
    kind("events of the console", "GET", "/console/api/admin/v1/overview/events", {
      cookie,
      "sec-fetch-site": "same-origin",
    }),
  ];
}

/** A model whose vendor uses another format. */
function translatedModelOf({ name }: CallerProtocol): string {
  return name === "messages" ? "sandbox/chat-1" : "sandbox/messages-1";
}

interface RequestParts {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function requestText({ host, method, path, fields, body }: RequestParts): string {
  const content = body === undefined ? "" : JSON.stringify(body);
  const length = body === undefined ? {} : { "content-length": String(content.length) };
  const lines = Object.entries({ host, ...fields, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${content}`;
}
