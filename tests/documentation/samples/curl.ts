import { join } from "node:path";

/** What curl printed, and whether the request is over. */
export interface CurlResult {
  readonly status: number;
  /** The lines of the headers, in lower case. */
  readonly head: readonly string[];
  readonly body: string;
  /** Whether `-i` prints the headers before the body. */
  readonly isHeadShown: boolean;
}

interface CurlCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | FormData | null;
  readonly isHeadShown: boolean;
}

/** A stream that does not end, and never has what its sample shows, is read for so long. */
const MAX_STREAM_MS = 20_000;

/**
 * Sends the request of a `curl` command line: the options `-X`, `-H`, `-d`, `-F`, `-i`, `-s` and `-N`.
 *
 * @param folder Has the files that `@name` sends.
 * @param isEnough Ends the reading of a stream that goes on, by the text so far. Default: the whole body is read.
 * @throws {Error} For another option, so that no part of a sample is ignored.
 */
export async function curl(
  words: readonly string[],
  folder: string,
  isEnough: (body: string) => boolean = () => false,
): Promise<CurlResult> {
  const { url, method, headers, body, isHeadShown } = await callOf(words, folder);
  const abort = new AbortController();
  const response = await fetch(url, { method, headers, body, signal: abort.signal, redirect: "manual" });
  const timer = setTimeout(() => abort.abort(), MAX_STREAM_MS);
  let text = "";
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (isEnough(text)) break;
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  }
  clearTimeout(timer);
  abort.abort();
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  return { status: response.status, head, body: text, isHeadShown };
}

async function callOf(words: readonly string[], folder: string): Promise<CurlCall> {
  const headers = new Headers();
  let form: FormData | null = null;
  let [url, method, body, isHeadShown] = ["", "", null as string | null, false];
  const rest = [...words];
  const value = () => {
    const next = rest.shift();
    if (next === undefined) throw new Error(`curl: an option lacks its value: ${words.join(" ")}`);
    return next;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith("-")) url = word;
    else if (word === "-X") method = value();
    else if (word === "-H") addHeader(headers, value());
    else if (word === "-d") body = value();
    else if (word === "-F") await addField(form ??= new FormData(), value(), folder);
    else if (/^-[isN]+$/.test(word)) isHeadShown ||= word.includes("i");
    else throw new Error(`curl: the option ${word} is not supported by the tests of samples`);
  }
  if (body !== null && !headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded");
  const sent = body ?? form;
  return { url, method: method || (sent === null ? "GET" : "POST"), headers, body: sent, isHeadShown };
}

function addHeader(headers: Headers, line: string): void {
  const [, name, value] = /^([\w-]+): *(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`curl: a header is not NAME: VALUE: ${line}`);
  headers.append(name, value);
}

async function addField(form: FormData, field: string, folder: string): Promise<void> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(field) ?? [];
  if (name === undefined || value === undefined) throw new Error(`curl: a field is not NAME=VALUE: ${field}`);
  if (!value.startsWith("@")) return form.append(name, value);
  const file = value.slice(1);
  form.append(name, new File([await Deno.readFile(join(folder, file))], file, { type: "image/png" }));
}
