/** The benchmark's rows as a table: value, the bar it must reach, the one it aims at, and how it stands. */

export interface Row {
  readonly measure: string;
  readonly value: number;
  readonly unit: string;
  readonly must: number | null;
  readonly aim: number | null;
  /** `max`: lower is better. */
  readonly sense: "max" | "min";
}

function verdict({ value, must, aim, sense }: Row): string {
  if (must === null) return "";
  const within = (bar: number) => sense === "max" ? value <= bar : value >= bar;
  if (aim !== null && within(aim)) return "aim";
  return within(must) ? "must" : "MISSED";
}

function number(value: number): string {
  return value >= 1000 ? value.toFixed(0) : value >= 100 ? value.toFixed(1) : value.toFixed(2);
}

export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.measure,
    `${number(row.value)} ${row.unit}`,
    row.must === null ? "" : String(row.must),
    row.aim === null ? "" : String(row.aim),
    verdict(row),
  ]);
  const head = ["measure", "value", "must", "aim", "stands"];
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd();
  return [line(head), widths.map((w) => "─".repeat(w)).join("  "), ...cells.map(line)].join("\n");
}
