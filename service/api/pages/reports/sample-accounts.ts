/** Made-up accounts of the examples that are drawn: one account alone would be no drawing. */
const ACCOUNTS = [
  { label: "Swap router", kind: "contract", grade: null, hops: 1, calls: 214, volume: 4_120.5 },
  { label: "Agent 31: Quote feeder", kind: "agent", grade: "A", hops: 1, calls: 96, volume: 310.25 },
  { label: "Agent 12: Courier", kind: "agent", grade: "C", hops: 1, calls: 41, volume: 88 },
  { label: "USDC", kind: "token", grade: null, hops: 1, calls: 36, volume: 490.04 },
  { label: "Exchange", kind: "public_funder", grade: null, hops: 1, calls: 2, volume: 1_500 },
  { label: "Agent 44: Night trader", kind: "agent", grade: "E", hops: 2, calls: 17, volume: 12.1 },
  { label: "Agent 8: Archive", kind: "agent", grade: "B", hops: 2, calls: 9, volume: null },
  { label: "Bridge", kind: "public_funder", grade: null, hops: 2, calls: 3, volume: 700 },
] as const;

function addressOf(index: number): string {
  return `0x${(0xa1b2c3 * (index + 7)).toString(16).padStart(6, "0").repeat(7).slice(0, 40)}`;
}

/** The example of GET /network-map with more accounts and links; unchanged where it has another shape. */
export function withMoreAccounts(example: unknown): unknown {
  if (!isRecord(example) || !Array.isArray(example.nodes) || !Array.isArray(example.edges)) return example;
  const [own] = example.nodes;
  const [link] = example.edges;
  const nodes = ACCOUNTS.map(({ label, kind, grade, hops }, index) => ({
    ...own,
    id: addressOf(index),
    address: addressOf(index),
    kind,
    grade,
    hops,
    flags: [],
    ahs_score: null,
    name: label,
    labels: [],
    is_contract: kind !== "agent",
  }));
  const edges = ACCOUNTS.map(({ hops, calls, volume }, index) => ({
    ...link,
    from: hops === 1 ? own.id : addressOf(index % 3),
    to: addressOf(index),
    calls,
    volume_usd: volume,
  }));
  return { ...example, nodes: [{ ...own, hops: 0 }, ...nodes], edges };
}

/** The example of GET /counterparties with more of them; unchanged where it has another shape. */
export function withMoreCounterparties(example: unknown): unknown {
  if (!isRecord(example) || !Array.isArray(example.counterparties)) return example;
  const [first] = example.counterparties;
  const counterparties = ACCOUNTS.map(({ label, grade, calls, volume }, index) => ({
    ...first,
    address: addressOf(index),
    grade,
    ahs_score: null,
    calls,
    interactions: calls,
    volume_usd: volume,
    name: label,
    labels: [],
    sanctions_flags: [],
    mixer: false,
    failed_calls: index,
  }));
  return { ...example, counterparties };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
