const COLUMN_GAP = "  ";

/**
 * Lines of cells in columns of equal width.
 *
 * @param texts How many of the first columns are texts; the others are numbers, which are aligned at their ends.
 */
export function tableText(rows: readonly (readonly string[])[], texts: number): string {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from(
    { length: columns },
    (_, place) => rows.reduce((most, row) => Math.max(most, row[place]?.length ?? 0), 0),
  );
  return rows.map((row) => {
    const cells = row.map((cell, place) => {
      const width = widths[place] ?? 0;
      return place < texts ? cell.padEnd(width) : cell.padStart(width);
    });
    return cells.join(COLUMN_GAP).trimEnd();
  }).join("\n");
}
