import type { Address } from "viem";
import { type ChainLabel, chainLabels, type KnownAccounts } from "../../reports/labels/chain-labels.ts";
import type { Hops, NetworkEdge } from "../../reports/network/network-map.ts";
import type { AccountDetail } from "../../reports/network/wallet-network-accounts.ts";
import { toEip55 } from "../address-schema.ts";
import { isoOf } from "../wallet-report.ts";
import { usdOf } from "./get-counterparties-render.ts";
import type { NetworkMapAnswer } from "./get-network-map-schema.ts";

type Node = NetworkMapAnswer["nodes"][number];
type Edge = NetworkMapAnswer["edges"][number];

/** An account of the map as the answer shows it; nothing is known of one without detail. */
export function renderNode(
  { address, hops }: { readonly address: Address; readonly hops: Hops },
  detail: AccountDetail | undefined,
  shown: { readonly known: KnownAccounts; readonly clusterOf: (address: Address) => Address | null },
): Node {
  const hasCode = detail === undefined ? null : detail.hasCode;
  const labels = chainLabels(address, shown.known, { agents: detail?.agents ?? [], hasCode });
  const isSanctioned = detail !== undefined && detail.sanctions.length > 0;
  const isMixer = labels.some(({ category }) => category === "mixer");
  const cluster = shown.clusterOf(address);
  const score = detail === undefined ? null : detail.score;
  return {
    id: toEip55(address),
    address: toEip55(address),
    kind: kindOf(labels),
    label: labels[0] ?? null,
    ahs_score: score === null ? null : score.ahsScore,
    grade: score === null ? null : score.grade,
    flags: [...(isSanctioned ? ["sanctioned" as const] : []), ...(isMixer ? ["mixer" as const] : [])],
    hops,
    cluster: cluster === null ? null : toEip55(cluster),
  };
}

/** A link of the map as the answer shows it. */
export function renderEdge({ from, to, kind, calls, microUsd, firstAt, lastAt }: NetworkEdge): Edge {
  return {
    from: toEip55(from),
    to: toEip55(to),
    kind,
    calls,
    volume_usd: microUsd === null ? null : usdOf(Number(microUsd)),
    first_seen: firstAt === null ? null : isoOf(firstAt),
    last_seen: lastAt === null ? null : isoOf(lastAt),
  };
}

/** By the first label that says what an account is; a mixer or a contract of the system is a contract. */
function kindOf(labels: readonly ChainLabel[]): Node["kind"] {
  const categories = new Set(labels.map(({ category }) => category));
  if (categories.has("public_funder")) return "public_funder";
  if (categories.has("token")) return "token";
  if (categories.has("agent")) return "agent";
  if (categories.has("account")) return "account";
  return categories.size === 0 ? "unknown" : "contract";
}
