import { PACED_STREAMS } from "../cases.ts";
import { figure, ranged, table } from "../markdown.ts";
import type { Piece, PieceLoad } from "../pieces.ts";

/** What the parts of the gateway cost; nothing if they were not measured. */
export function piecesTable(pieces: readonly Piece[]): string[] {
  if (pieces.length === 0) return [];
  const rowsOf = (load: PieceLoad) => pieces.filter((piece) => piece.load === load);
  const faults = pieces.filter(({ fault }) => fault !== null).map(({ title, fault }) => `- ${title}: ${fault}.`);
  return [
    "## Piece by piece",
    "JSON of 1 KB at 32 connections. Each line adds something to the one before it, except the first.",
    table(
      ["", "CPU µs before", "CPU µs a request"],
      rowsOf("json").map(({ title, before, cpuUs }) => [title, figure(before), ranged(cpuUs)]),
    ),
    `${PACED_STREAMS} paced streams at once. What JavaScript takes for a chunk that it does not look at is the least that a` +
    " gateway can take which counts tokens.",
    table(["", "CPU µs a chunk"], rowsOf("paced").map(({ title, cpuUs }) => [title, ranged(cpuUs)])),
    ...(faults.length === 0 ? [] : [faults.join("\n")]),
  ];
}
