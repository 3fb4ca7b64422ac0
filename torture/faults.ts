const SHOWN = 400;

/** Faults that must never occur, each kind with its count. */
export type Faults = ReturnType<typeof collectFaults>;

/** Collects faults while clients and scenarios go on. */
export function collectFaults() {
  let noted = new Map<string, { times: number; readonly example: string }>();
  return {
    note: (kind: string, example: string): void => {
      const known = noted.get(kind);
      if (known === undefined) noted.set(kind, { times: 1, example: example.slice(0, SHOWN) });
      else known.times += 1;
    },
    /** Faults noted since the last call. */
    take: () => {
      const taken = [...noted].map(([kind, { times, example }]) => `${kind} (${times} ×): ${example}`);
      noted = new Map();
      return taken;
    },
  };
}
