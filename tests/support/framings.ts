import type { Frame } from "../../src/platform/lib/streams/frame.ts";

/** A way to write frames that WHATWG HTML, 9.2.6 allows, or that vendors use and clients accept. */
export type Framing = (frames: readonly Frame[]) => string;

interface Spelling {
  /** The end of the nth line. Default: LF. */
  readonly lineEnd?: (nth: number) => string;
  /** The text between a field's name and its value. Default: `: `. */
  readonly colon?: string;
  /** Data as its lines. Default: one line. */
  readonly lines?: (data: string) => readonly string[];
  /** Lines before, in and after each frame. */
  readonly around?: (frame: readonly string[], nth: number) => readonly string[];
}

function spelled(
  { lineEnd = () => "\n", colon = ": ", lines = (data) => [data], around = (frame) => frame }: Spelling,
) {
  return (frames: readonly Frame[]) => {
    const all = frames.flatMap(({ event, data }, nth) => {
      const named = event === null ? [] : [`event${colon}${event}`];
      return [...around([...named, ...lines(data).map((line) => `data${colon}${line}`)], nth), ""];
    });
    return all.map((line, nth) => line + lineEnd(nth)).join("");
  };
}

/** The tokens of JSON text; the end mark of chat completions is one. */
function tokensOf(json: string): readonly string[] {
  return json === "[DONE]" ? [json] : json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
}

const usual = spelled({});
const mixed = (nth: number) => ["\n", "\r\n", "\r", "\r\n", "\n"][nth % 5]!;
const pretty = (data: string) => data === "[DONE]" ? [data] : JSON.stringify(JSON.parse(data), null, 2).split("\n");
const halves = (data: string) => {
  const tokens = tokensOf(data);
  const middle = Math.ceil(tokens.length / 2);
  return tokens.length < 2 ? [data] : [tokens.slice(0, middle).join(""), tokens.slice(middle).join("")];
};

/** Framings by name; all write the same frames. */
export const FRAMINGS: Readonly<Record<string, Framing>> = {
  "LF": usual,
  "CRLF": spelled({ lineEnd: () => "\r\n" }),
  "CR": spelled({ lineEnd: () => "\r" }),
  "line ends of all kinds": spelled({ lineEnd: mixed }),
  "no blank behind the colon": spelled({ colon: ":" }),
  "a byte order mark": (frames) => "\ufeff" + usual(frames),
  "a byte order mark, CR and no blank": (frames) => "\ufeff" + spelled({ lineEnd: () => "\r", colon: ":" })(frames),
  "comments between and inside of frames": spelled({
    around: (frame) => [": ping", "", ":", ...frame.flatMap((line) => [line, ": data: {"])],
  }),
  "ids, times of retry and unknown fields": spelled({
    around: (frame, nth) => ["retry: 3000", ...frame, `id: ${nth}`, "id", "what: ever", "dat: x", "database: {"],
  }),
  "the event's name behind the data": spelled({ around: (frame) => frame.toReversed() }),
  "blanks between the signs of JSON": spelled({ lines: (data) => [tokensOf(data).join(" \t ")] }),
  "data over two lines": spelled({ lines: halves }),
  "data over two lines, CRLF": spelled({ lines: halves, lineEnd: () => "\r\n" }),
  "data over many lines": spelled({ lines: pretty }),
  "a line for each sign of JSON, line ends of all kinds": spelled({ lines: tokensOf, lineEnd: mixed, colon: ":" }),
  "frames without data": spelled({ around: (frame) => ["data:", "", "data", "", "event: ping", "", ...frame] }),
  "many empty lines": spelled({ around: (frame) => ["", "", ...frame, ""] }),
  "no empty line at the end": (frames) => usual(frames).slice(0, -1),
  "no line end at the end": (frames) => usual(frames).slice(0, -2),
  "no line end at the end, CRLF": (frames) => spelled({ lineEnd: () => "\r\n" })(frames).slice(0, -4),
};
