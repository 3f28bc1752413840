import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName, WireFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { VENDOR_FORMATS } from "../support/formats.ts";
import { doneByGateway } from "./done_by_gateway.ts";
import { isNameOf, type Outcome, outcomeOf } from "./outcome.ts";
import { parametersOf } from "./parameters.ts";
import { type Probe, probesOf, type Step } from "./probes.ts";

/** What becomes of one parameter with one value; `names` are those in `X-Service-Dropped`, of it or of its members. */
interface Verdict {
  readonly kind: "sent" | "gateway" | "refused" | "search";
  /** Whether the request to the vendor differs from that without the parameter. */
  readonly isVisible: boolean;
  readonly names: readonly string[];
}

/** Parameters that share a line, and what becomes of each in each vendor's format. */
interface Row {
  readonly steps: readonly Step[];
  readonly verdicts: Map<WireFormatName, { readonly isOwn: boolean; readonly verdict: Verdict }[]>;
}

/** Parameters whose members have lines of their own, with the number of steps of such a line. Others have one line. */
const DEPTHS: Readonly<Record<CallerFormatName, Readonly<Record<string, number>>>> = {
  chat: { messages: 2 },
  responses: { "input[message]": 2, reasoning: 2, text: 2 },
  messages: { messages: 2 },
  content: { contents: 3, generationConfig: 2, tools: 2, toolConfig: 2 },
};

/** A refusal that is due to the sample, which names a tool that is not there or stands in the wrong message. */
const BAD_SAMPLE = /expected ("(user|tool_use|tool_result)"|the name of)/;

/** What becomes of the fields of a format's requests at vendors of other formats, as Markdown. */
export async function fieldsOf(from: CallerFormatName): Promise<string> {
  const targets = VENDOR_FORMATS.filter((to) => to !== from);
  const rows = (await rowsOf(from, targets)).map(({ steps, verdicts }) => ({
    title: titleOf(steps),
    cells: targets.map((to) => cellOf(steps, verdicts.get(to) ?? [])),
  })).filter(({ cells }) => cells.some((cell) => cell !== NO_EFFECT));
  const uniform = (cell: string) => rows.filter(({ cells }) => cells.every((each) => each === cell));
  const listed = ([[CARRIED, "Carried"], [DROPPED, "Dropped"], [REFUSED, "Refused (400)"]] as const).flatMap(
    ([cell, word]) => {
      const titles = uniform(cell).map(({ title }) => `\`${title}\``);
      return titles.length === 0 ? [] : [`- **${word} in every format:** ${titles.join(", ")}.`];
    },
  );
  const rest = rows.filter(({ cells }) =>
    new Set(cells).size > 1 || ![CARRIED, DROPPED, REFUSED].includes(cells[0] ?? "")
  );
  const head = ["Field", ...targets.map((to) => `To ${to}`)];
  const table = [head, head.map(() => "---"), ...rest.map(({ title, cells }) => [`\`${title}\``, ...cells])];
  return `${listed.join("\n")}\n\n${table.map((line) => `| ${line.join(" | ")} |`).join("\n")}`;
}

async function rowsOf(from: CallerFormatName, targets: readonly WireFormatName[]): Promise<Row[]> {
  const rows = new Map<string, Row>();
  const baselines = new Map<string, Promise<Outcome>>();
  for (const each of probesOf(from, await parametersOf(from))) {
    if (each.title.endsWith("= {}")) continue; // rarely a valid value
    const probe = /^input<message>\.content<input_/.test(each.title) ? ofUser(each) : each;
    const steps = probe.steps.slice(0, depthOf(from, probe.steps));
    const title = titleOf(steps);
    const row = rows.get(title) ?? { steps, verdicts: new Map() };
    rows.set(title, row);
    for (const to of targets) {
      const key = `${to} ${JSON.stringify(probe.without)}`;
      const baseline = baselines.get(key) ?? outcomeOf(from, to, probe.without);
      baselines.set(key, baseline);
      const verdict = verdictOf(from, to, probe, await outcomeOf(from, to, probe.with), await baseline);
      const isOwn = probe.steps.length === steps.length;
      if (verdict !== null) row.verdicts.set(to, [...row.verdicts.get(to) ?? [], { isOwn, verdict }]);
    }
  }
  return [...rows.values()];
}

/** The samples of messages are those of developers, who can send texts alone. */
function ofUser(probe: Probe): Probe {
  const asUser = (body: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(body).replaceAll('"role":"developer"', '"role":"user"'));
  return { ...probe, with: asUser(probe.with), without: asUser(probe.without) };
}

function depthOf(from: CallerFormatName, steps: readonly Step[]): number {
  const [first] = steps;
  return DEPTHS[from][titleOf(steps.slice(0, 1))] ?? DEPTHS[from][first?.key ?? ""] ?? 1;
}

function titleOf(steps: readonly Step[]): string {
  return steps.map(({ key, kinds: [kind] }) => kind === undefined ? key : `${key}[${kind}]`).join(".");
}

/** Null for a value that asks for what happens without it, and for a sample that no vendor would take. */
function verdictOf(
  from: CallerFormatName,
  to: WireFormatName,
  probe: Probe,
  outcome: Outcome,
  baseline: Outcome,
): Verdict | null {
  const refused = outcome.kind === "refused" ? outcome : baseline.kind === "refused" ? baseline : null;
  if (refused !== null) {
    if (BAD_SAMPLE.test(refused.message)) return null;
    return {
      kind: /web search is not available/.test(refused.message) ? "search" : "refused",
      names: [],
      isVisible: false,
    };
  }
  if (outcome.kind === "refused" || baseline.kind === "refused") return null;
  const names = outcome.dropped.filter((name) => isNameOf(name, probe.steps) && !PLACES.has(name));
  const isVisible = outcome.body !== baseline.body;
  if (isVisible || names.length > 0) return { kind: "sent", names, isVisible };
  const isDone = doneByGateway(from, to, probe)?.startsWith("the gateway") === true;
  return isDone ? { kind: "gateway", names, isVisible } : null;
}

/** Names that report a changed place in the conversation. */
const PLACES: ReadonlySet<string> = new Set(["messages", "input", "contents"]);

const MAX_INNER_NAMES = 6;

const CARRIED = "yes";
const DROPPED = "dropped";
const REFUSED = "400";
const NO_EFFECT = "no effect";

function cellOf(row: readonly Step[], all: readonly { isOwn: boolean; verdict: Verdict }[]): string {
  if (all.length === 0) return NO_EFFECT;
  const own = all.filter(({ isOwn }) => isOwn);
  const verdicts = (own.length > 0 ? own : all).map(({ verdict }) => verdict);
  const has = (kind: Verdict["kind"]) => verdicts.some((verdict) => verdict.kind === kind && !dropsAll(verdict, row));
  if (has("search")) return "[with permission](web-search.md)";
  const isDropped = verdicts.some((verdict) => dropsAll(verdict, row));
  if (!has("sent") && !has("gateway")) {
    if (!isDropped) return REFUSED;
    // An item or a part that leaves a trace in the request was rewritten.
    const isItem = row.at(-1)?.kinds.length !== 0;
    return isItem && verdicts.some(({ isVisible }) => isVisible) ? "in another form" : DROPPED;
  }
  const inner = innerNames(all.flatMap(({ verdict }) => verdict.names), row).map((name) => `\`${name}\``);
  const without = [...isDropped ? ["some values"] : [], ...inner];
  return [
    has("sent") ? CARRIED : "by the gateway",
    ...without.length === 0 ? [] : [`; dropped: ${without.join(", ")}`],
    ...all.some(({ verdict }) => verdict.kind === "refused") ? ["; 400 for some values"] : [],
  ].join("");
}

/** Whether a line as a whole is named as dropped, not only members of it. */
function dropsAll({ names }: Verdict, row: readonly Step[]): boolean {
  return names.some((name) => innerNameOf(name, row) === "");
}

/** Names in `X-Service-Dropped` without the words of the line that they belong to, without names below another one. */
function innerNames(names: readonly string[], row: readonly Step[]): string[] {
  const inner = [...new Set(names.map((name) => innerNameOf(name, row)))].filter((name) => name !== "").toSorted();
  const outermost = inner.filter((name) => !inner.some((other) => name.startsWith(`${other}.`)));
  if (outermost.length <= MAX_INNER_NAMES) return outermost;
  return [...new Set(outermost.map((name) => name.replace(/\..*/, ".…")))];
}

function innerNameOf(name: string, row: readonly Step[]): string {
  const words = name.split(".");
  for (const { key, kinds } of row) {
    if (words[0] === key) words.shift();
    if (words[0] !== undefined && kinds.includes(words[0])) words.shift();
  }
  return words.join(".");
}
