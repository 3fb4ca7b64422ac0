import { setTimeout as sleep } from "node:timers/promises";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { x402Client, x402HTTPClient } from "@x402/fetch";
import { createPublicClient, http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { type Attack, attackChain } from "../hostile-chain/attack.ts";
import { pick } from "../random.ts";
import { AGENTS } from "../stand/chain.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext } from "./scenario.ts";

/** Calls of the busiest wallet: what some weeks of an honest hot wallet come to. */
const BUSY_BLOCK_CALLS = 1_000;
/** Of two bytes each; longer ones leave the panel's models no room for an output. */
const SPEC_CHARACTERS = 50_000;
/** Every agent has a score as of a block after the attack by then; without an attack it takes some seconds. */
const SCORED_WITHIN_MS = 300_000;
const POLL_MS = 250;
const ANSWERED_WITHIN_MS = 30_000;
const JSON_HEADERS = { "content-type": "application/json" };
const UNPAID_PATHS = ["/retry/", "/agent/protect/", "/counterparties/", "/health/", "/optimize/"] as const;

/**
 * Writes on chain what a hostile author can for a few dollars, and floods the interface without paying, while everything else goes
 * on: self-pointing calldata, forged logs, a busy contract as metadata, an agent given away while it is minted, a wallet with a
 * million calls, floods of registrations, specifications and payments by wallets without money.
 */
export async function hostileChain(context: ScenarioContext): Promise<Injection> {
  const { stand, extent } = context;
  const [victim] = AGENTS;
  if (victim === undefined) throw new Error("there are no agents");
  const flood = floodInterface(context);
  const size = { forged: extent.forged, registrations: extent.registrations };
  const attack = await attackChain(stand.chain(), victim, size);
  await makeBusy(context, attack);
  const scoredAfterMs = await untilScored(context, attack);
  const answers = await flood;
  await requireUnmoved(context, attack);
  return {
    injected: 2 * extent.forged + extent.registrations + answers.sent,
    of: `forged logs, registrations, unpaid requests, and a wallet of ${extent.busyCalls} calls`,
    recovery: scoredAfterMs === null ? Number.POSITIVE_INFINITY : scoredAfterMs / 1_000,
    mayRestart: NEVER_RESTARTS,
    notes: [
      `specifications answered ${describe(answers.specs)}; unpaid requests answered ${describe(answers.unpaid)}`,
    ],
  };
}

/** Gives a hostile wallet as many own calls as it would have sent in months: rows as enrichment writes them. */
async function makeBusy({ stand, extent }: ScenarioContext, { wallets, block }: Attack): Promise<void> {
  const [wallet] = wallets;
  await stand.db.$client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, "to", selector,
       value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, market_price_wei, effect, logs, emitters, moves)
     select $1, $2, $3::bigint - 1 - n / $5::int, n % $5::int, 1, '0x' || lpad(to_hex(n), 64, '0'), 'transaction', 'enrich',
       extract(epoch from now())::bigint - 2 * (n / $5::int), '0x00000000000000000000000000000000000f00d5', '0x12345678',
       0, true, 100000, 60000, 1000000000, 60000000000000, 1000000000, 'logs', 1,
       array['0x00000000000000000000000000000000000f00d5'], array[]::text[]
     from generate_series(0, $4::int - 1) n on conflict do nothing`,
    [stand.chain().test.deployment.chainId, wallet, block, extent.busyCalls, BUSY_BLOCK_CALLS],
  );
}

/** Milliseconds until every agent has a score as of a block after the attack; null where one has not in time. */
async function untilScored({ stand, faults }: ScenarioContext, { block }: Attack): Promise<number | null> {
  const started = performance.now();
  const agents = AGENTS.map((agent) => agent.toLowerCase());
  while (performance.now() < started + SCORED_WITHIN_MS) {
    const { rows } = await stand.db.$client.query<{ behind: string }>(
      `select count(*) as behind from unnest($1::text[]) as agent (wallet)
       where not exists (select from ahs.current_score c where c.wallet = agent.wallet and c.as_of_block > $2)`,
      [agents, block],
    );
    if (rows[0]?.behind === "0") return performance.now() - started;
    await sleep(POLL_MS);
  }
  faults.note("agents are not scored", `after block ${block} within ${SCORED_WITHIN_MS} ms`);
  return null;
}

/** The index holds what the chain does, follows no busy contract, and every honest agent goes on as before. */
async function requireUnmoved({ stand, faults }: ScenarioContext, attack: Attack): Promise<void> {
  const { rpcUrl, contracts, deployment } = stand.chain().test;
  const schema = `chain_${deployment.chainId}`;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const { agentId, owner } = attack.handedOn;
  const registry = { address: contracts.identityRegistry, abi: identityRegistryAbi } as const;
  const onChain = await client.readContract({ ...registry, functionName: "ownerOf", args: [agentId] });
  const { rows: agents } = await stand.db.$client.query<{ owner: string; wallet: string | null }>(
    `select owner, wallet from ${schema}.agent where agent_id = $1`,
    [agentId.toString()],
  );
  const [indexed] = agents;
  if (indexed?.owner !== onChain.toLowerCase() || onChain.toLowerCase() !== owner.toLowerCase())
    faults.note("an agent given away while minted", `the index says ${indexed?.owner}, the chain ${onChain}`);
  const { rows: hubs } = await stand.db.$client.query(
    `select from ${schema}.wallet where address = $1 union all select from ${schema}.transaction where "to" = $1 and not own limit 1`,
    [attack.hub.toLowerCase()],
  );
  if (hubs.length > 0) faults.note("a busy contract is followed", attack.hub);
  const { rows: set } = await stand.db.$client.query<{ subject: string; error: string }>(
    "select subject, error from ahs.quarantine where subject = any($1)",
    [AGENTS.map((agent) => agent.toLowerCase())],
  );
  for (const { subject, error } of set) faults.note("an honest agent is set aside", `${subject}: ${error}`);
}

/** Specifications of the greatest length, requests without credentials, and payments of wallets that have no money. */
async function floodInterface({ stand, extent, faults }: ScenarioContext): Promise<{
  sent: number;
  specs: ReadonlyMap<number, number>;
  unpaid: ReadonlyMap<number, number>;
}> {
  const specs = new Map<number, number>();
  const unpaid = new Map<number, number>();
  for (let round = 0; round < extent.floods; round += 1) {
    const base = pick(stand.random("flood"), stand.services.servers());
    const url = `${base}${UNPAID_PATHS[round % UNPAID_PATHS.length]}${AGENTS[round % AGENTS.length]}`;
    const [spec, ...free] = await Promise.all([
      statusOf(`${base}/v1/specs`, { method: "POST", body: specOf(round), headers: JSON_HEADERS }),
      statusOf(url, {}),
      payWithNothing(url),
    ]);
    specs.set(spec, (specs.get(spec) ?? 0) + 1);
    for (const status of free) {
      unpaid.set(status, (unpaid.get(status) ?? 0) + 1);
      if (status < 400) faults.note("an answer without payment", `${status} to ${url}`);
    }
  }
  return { sent: 3 * extent.floods, specs, unpaid };
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
  await answer.arrayBuffer();
  return answer.status;
}

/** Signs a payment by a wallet that was made for it and has nothing; 402 where nothing could be signed. */
async function payWithNothing(url: string): Promise<number> {
  const terms = await fetch(url, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
  const body = await terms.text();
  if (terms.status !== 402) return terms.status;
  const poor = privateKeyToAccount(generatePrivateKey());
  const buyer = new x402Client().register("eip155:31337", new ExactEvmScheme(poor)).setSpendControls(false);
  const payload = await buyer.createPaymentPayload(JSON.parse(body) as PaymentRequired);
  return statusOf(url, { headers: new x402HTTPClient(buyer).encodePaymentSignatureHeader(payload) });
}

function specOf(round: number): string {
  return JSON.stringify({
    client_addr: AGENTS[0],
    spec_text: `${round} `.padEnd(SPEC_CHARACTERS, "é"),
    acceptance_criteria: "1. There is one.",
    domain: "default",
  });
}

function describe(answers: ReadonlyMap<number, number>): string {
  return [...answers]
    .toSorted(([one], [other]) => one - other)
    .map(([status, times]) => `${status} × ${times}`)
    .join(", ");
}
