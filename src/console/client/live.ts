import { createParser } from "eventsource-parser";
import { useEffect, useState } from "preact/hooks";
import { apiAddress, ApiError, type Query, read, sendForResponse, UNREACHABLE } from "./api.ts";
import { parsedJson } from "./json.ts";

/** Data that a stream of server-sent events keeps up to date. */
export interface Live<T> {
  /** The newest data of each event that has come. */
  readonly data: Partial<T>;
  /** Why the stream is interrupted; null if it is not. */
  readonly error: ApiError | null;
}

/** Options of {@linkcode useLive}. */
export interface LiveOptions<T> {
  /** The address of the stream. */
  readonly path: string;
  readonly query: Query;
  /** Where the data of each event is read while no stream is open. */
  readonly fallback: Readonly<Record<keyof T & string, { readonly path: string; readonly query?: Query }>>;
}

/** A stream without a byte for this long is dead: the gateway sends every 15 seconds. */
const MAX_SILENCE_MS = 45_000;
const RECONNECT_MS = 2_000;

/**
 * Shows what a stream sends, while the page is visible. When it ends, it is opened again. While it cannot be opened, as
 * behind a proxy that takes no streams, the data is read every two seconds.
 *
 * @param name Names what is shown. Data of an earlier name is not shown.
 */
export function useLive<T>(name: string, options: LiveOptions<T>): Live<T> {
  const [state, setState] = useState<{ name: string } & Live<T>>({ name, data: {}, error: null });
  useEffect(() => {
    const ended = new AbortController();
    const put = (data: Partial<T>, error: ApiError | null) => {
      if (ended.signal.aborted) return;
      setState((before) => ({ name, data: before.name === name ? { ...before.data, ...data } : data, error }));
    };
    void run(options, put, ended.signal);
    return () => ended.abort();
  }, [name]);
  return state.name === name ? state : { data: {}, error: null };
}

type Put<T> = (data: Partial<T>, error: ApiError | null) => void;

async function run<T>(options: LiveOptions<T>, put: Put<T>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await becomesVisible(ended);
    try {
      await follow(options, put, ended);
    } catch {
      if (!ended.aborted) await readOnce(options, put, ended);
    }
    await wait(RECONNECT_MS, ended);
  }
}

/** Follows a stream until it ends or the page is hidden, which leaves its connection to others. */
async function follow<T>({ path, query }: LiveOptions<T>, put: Put<T>, ended: AbortSignal): Promise<void> {
  const left = new AbortController();
  const signal = AbortSignal.any([ended, left.signal]);
  const leave = () => left.abort();
  document.addEventListener("visibilitychange", leave);
  let timer = setTimeout(leave, MAX_SILENCE_MS);
  try {
    const { body } = await sendForResponse(apiAddress(path, query), { signal });
    const parser = createParser({
      onEvent: ({ event, data }) => put({ [event ?? ""]: parsedJson(data) } as Partial<T>, null),
    });
    const text = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await text?.read(); piece !== undefined && !piece.done; piece = await text?.read()) {
      clearTimeout(timer);
      timer = setTimeout(leave, MAX_SILENCE_MS);
      parser.feed(piece.value);
    }
  } finally {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", leave);
  }
}

async function readOnce<T>({ fallback }: LiveOptions<T>, put: Put<T>, ended: AbortSignal): Promise<void> {
  if (document.hidden) return;
  const events = Object.keys(fallback) as (keyof T & string)[];
  try {
    const values = await Promise.all(
      events.map((event) => read(fallback[event].path, fallback[event].query ?? {}, ended)),
    );
    put(Object.fromEntries(events.map((event, index) => [event, values[index]])) as Partial<T>, null);
  } catch (error) {
    if (error instanceof ApiError && error.code !== UNREACHABLE) put({}, error);
  }
}

function becomesVisible(ended: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const options = { once: true, signal: ended };
    document.addEventListener("visibilitychange", () => resolve(), options);
    ended.addEventListener("abort", () => resolve(), { once: true });
  });
}

function wait(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
