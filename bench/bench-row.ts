/** One measured figure beside its bar; a figure without a bar stands for scale and always holds. */
export type BenchRow = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bar: number | null;
  readonly holds: boolean;
};

type Figure = { readonly name: string; readonly value: number; readonly unit: string };

/** A figure that must reach its bar. */
export function atLeast(bar: number, figure: Figure): BenchRow {
  return { ...rounded(figure), bar, holds: figure.value >= bar };
}

/** A figure that must not exceed its bar. */
export function atMost(bar: number, figure: Figure): BenchRow {
  return { ...rounded(figure), bar, holds: figure.value <= bar };
}

/** A figure for scale. */
export function shown(figure: Figure): BenchRow {
  return { ...rounded(figure), bar: null, holds: true };
}

export function median(values: readonly number[]): number {
  return values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Three digits are all that one run is good for. */
function rounded(figure: Figure): Figure {
  return {
    ...figure,
    value: figure.value >= 100 ? Math.round(figure.value) : Number(figure.value.toPrecision(3)),
  };
}
