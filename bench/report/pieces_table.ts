import { figure, ranged, table } from "../markdown.ts";
import type { Piece } from "../pieces.ts";

/** What the parts of the gateway cost; nothing if they were not measured. */
export function piecesTable(pieces: readonly Piece[]): string[] {
  if (pieces.length === 0) return [];
  const rows = pieces.map(({ title, before, cpuUs }) => [title, figure(before), ranged(cpuUs)]);
  const faults = pieces.filter(({ fault }) => fault !== null).map(({ title, fault }) => `- ${title}: ${fault}.`);
  return [
    "## Piece by piece",
    "JSON of 1 KB at 32 connections. Each line adds something to the one before it, except the first.",
    table(["", "CPU µs before", "CPU µs a request"], rows),
    ...(faults.length === 0 ? [] : [faults.join("\n")]),
  ];
}
