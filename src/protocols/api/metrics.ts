/**
 * Counters of one server in the text form of Prometheus (version 0.0.4). Routes are named by their pattern, so that
 * neither ids nor whatever strangers ask for become label values. Kept only when asked for in the configuration.
 */
import { promptTokens, type TurnResult } from "@/core/contract.ts";

/** Seconds; the time until the head of the answer. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300];

export interface Gauges {
  readonly active: number;
  readonly runs: number;
  readonly draining: boolean;
  readonly version: string;
  /** Unix seconds. */
  readonly startedAt: number;
}

interface Times {
  readonly buckets: number[];
  sum: number;
  count: number;
}

type Labels = Readonly<Record<string, string>>;

class Counter {
  readonly #values = new Map<string, number>();

  add(labels: Labels, amount = 1): void {
    const key = textOf(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount);
  }

  lines(name: string): string[] {
    return [...this.#values].map(([labels, value]) => `${name}${labels} ${value}`);
  }
}

export class Metrics {
  readonly #requests = new Counter();
  readonly #turns = new Counter();
  readonly #tokens = new Counter();
  readonly #runs = new Counter();
  readonly #callbacks = new Counter();
  readonly #times = new Map<string, Times>();

  /** `route` is a pattern of ours; `seconds` until the head of the answer. */
  request(method: string, route: string, status: number, seconds: number): void {
    const known = /^(GET|HEAD|POST|PATCH|DELETE|PUT|OPTIONS)$/.test(method) ? method : "other";
    this.#requests.add({ method: known, route, status: String(status) });
    const times = this.#times.get(route) ?? { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
    this.#times.set(route, times);
    times.sum += seconds;
    times.count++;
    BUCKETS.forEach((limit, i) => {
      if (seconds <= limit) times.buckets[i]!++;
    });
  }

  turnEnded(result: TurnResult): void {
    this.#turns.add({ outcome: result.outcome });
    this.#tokens.add({ kind: "input" }, promptTokens(result.usage));
    this.#tokens.add({ kind: "output" }, result.usage.output);
  }

  runEnded(status: string): void {
    this.#runs.add({ status });
  }

  callbackTried(taken: boolean): void {
    this.#callbacks.add({ result: taken ? "taken" : "failed" });
  }

  render(gauges: Gauges): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string, values: readonly string[]) =>
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values);
    const gauge = (name: string, help: string, value: number) =>
      family(name, "gauge", help, [`${name} ${value}`]);
    family("hermes_build_info", "gauge", "The version that runs.", [
      `hermes_build_info${textOf({ version: gauges.version })} 1`,
    ]);
    gauge("hermes_start_time_seconds", "When this server started, Unix time.", gauges.startedAt);
    gauge("hermes_active_turns", "Admitted turns that have not ended.", gauges.active);
    gauge("hermes_active_runs", "Runs that have not ended.", gauges.runs);
    gauge("hermes_draining", "1 while the server shuts down.", gauges.draining ? 1 : 0);
    const counters = [
      ["hermes_http_requests_total", "Answered requests.", this.#requests],
      ["hermes_turns_total", "Ended turns.", this.#turns],
      ["hermes_model_tokens_total", "Tokens of ended turns, as the providers count them.", this.#tokens],
      ["hermes_runs_total", "Ended runs.", this.#runs],
      ["hermes_callbacks_total", "Tries to tell the end of a run.", this.#callbacks],
    ] as const;
    for (const [name, help, counter] of counters) family(name, "counter", help, counter.lines(name));
    family(
      "hermes_http_response_seconds",
      "histogram",
      "Time until the head of the answer.",
      [...this.#times].flatMap(([route, times]) => histogram("hermes_http_response_seconds", route, times)),
    );
    return lines.join("\n") + "\n";
  }
}

function histogram(name: string, route: string, { buckets, sum, count }: Times): string[] {
  return [
    ...BUCKETS.map((limit, i) => `${name}_bucket${textOf({ route, le: String(limit) })} ${buckets[i]}`),
    `${name}_bucket${textOf({ route, le: "+Inf" })} ${count}`,
    `${name}_sum${textOf({ route })} ${sum}`,
    `${name}_count${textOf({ route })} ${count}`,
  ];
}

function textOf(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) =>
    `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`
  );
  return `{${parts.join(",")}}`;
}
