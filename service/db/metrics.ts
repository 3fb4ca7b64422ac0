import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Declares metrics in a registry. A name can be registered once, so a registry gets each group of metrics once. */
export function metricsOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
      new Counter<Label>({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
      new Gauge<Label>({ name, help, labelNames, registers }),
    histogram: <Label extends string>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: readonly Label[]
    ) => new Histogram<Label>({ name, help, buckets, labelNames, registers }),
  };
}
