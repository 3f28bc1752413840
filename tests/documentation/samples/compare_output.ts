import type { CurlResult } from "./curl.ts";
import { compareTexts } from "./expected_output.ts";
import type { Session } from "./scenario.ts";

/** The folder of the gateway in the pages. Paths are compared as seen from it. */
const SHOWN_FOLDER = "/srv/switchyard/";

/**
 * Compares a sample with what the last command printed. Later commands use the ids of this run in place of those that
 * the sample shows.
 *
 * @throws {Error} If they differ.
 */
export function compareOutput({ replaced, ids: known, printed, stage }: Session, sample: string): void {
  const last = printed.at(-1);
  if (last === undefined) throw new Error("there is no command before the output");
  const { response } = last;
  let shown = sample;
  const [, status] = /^(\d{3}) /.exec(shown) ?? [];
  if (status !== undefined) {
    if (response?.status !== Number(status)) throw new Error(`expected status ${status}, got ${last.text}`);
    shown = shown.slice(status.length);
  }
  if (last.isCut) shown += "…";
  if (response?.isHeadShown) shown = withoutHead(shown, response);
  if (shown.trim() === "") return;
  shown = shown.replaceAll(SHOWN_FOLDER, "");
  let text = last.text.replaceAll(`${stage.folder}/`, "");
  for (const [part, real] of replaced) text = text.replaceAll(real, part);
  const { problem, ids } = compareTexts(shown, text);
  if (problem !== null) throw new Error(problem);
  for (const [id, real] of ids) known.set(id, real);
}

/** Compares the lines of headers that a sample shows; returns what follows them. */
function withoutHead(shown: string, { status, head }: CurlResult): string {
  const lines = shown.trim().split("\n");
  const first = /^HTTP\/1\.1 (\d{3})/.exec(lines[0] ?? "")?.[1];
  if (first !== undefined) {
    if (status !== Number(first)) throw new Error(`expected status ${first}, got ${status}`);
    lines.shift();
  }
  while (/^[a-z-]+: /.test(lines[0] ?? "")) {
    const line = lines.shift() ?? "";
    if (!head.some((real) => compareTexts(line, real).problem === null)) {
      throw new Error(`expected the header ${line}, got\n${head.join("\n")}`);
    }
  }
  return lines.join("\n");
}
