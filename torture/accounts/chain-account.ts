import { createPublicClient, type Hex, http, type PublicClient } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { decodeView } from "../../service/chain/oracle-codec.ts";
import { AGENTS } from "../stand/chain.ts";
import type { Stand } from "../stand/stand.ts";
import { compareCounts, doubled, type Finding, lost } from "./finding.ts";

const BLOCKS_AT_ONCE = 200;

type ChainCall = { readonly hash: Hex; readonly from: Hex };
/**
 * Compares the chain, as its node reports it, with our rows: every call of every agent indexed once, every record of the oracle as
 * the database has it, none written twice, no nonce of ours skipped or used by something unknown.
 */
export async function accountChain(stand: Stand): Promise<Finding[]> {
  const { rpcUrl } = stand.chain().test;
  const client = createPublicClient({ transport: http(rpcUrl) });
  return [
    ...(await accountCalls(stand)),
    ...(await compareRecords(stand, client)),
    ...(await accountWrites(stand, client)),
    ...(await accountNonces(stand, client)),
  ];
}

async function accountCalls(stand: Stand): Promise<Finding[]> {
  const agents = new Set(AGENTS.map((agent) => agent.toLowerCase()));
  const mined = (await minedCalls(stand)).filter(({ from }) => agents.has(from));
  const { rows } = await stand.db.$client.query<{ hash: string; from: string }>(
    `select hash, "from" from ${schemaOf(stand)}.transaction where own`,
  );
  const indexed = new Set(rows.map(({ hash }) => hash));
  const onChain = new Set(mined.map(({ hash }) => hash as string));
  return [
    ...mined.filter(({ hash }) => !indexed.has(hash)).map(({ hash }) => lost(`call ${hash} is not indexed`)),
    ...rows
      .filter(({ hash, from }) => agents.has(from) && !onChain.has(hash))
      .map(({ hash }) => doubled(`call ${hash} is indexed and not on the chain`)),
  ];
}

async function minedCalls(stand: Stand): Promise<readonly ChainCall[]> {
  const chain = stand.chain();
  const { number: head } = await chain.head();
  const calls: ChainCall[] = [];
  for (let first = 0; first <= head; first += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, head - first + 1) }, (_, at) => first + at);
    const blocks = (await chain.test.rpc.batch(
      numbers.map((number) => ({
        method: "eth_getBlockByNumber",
        params: [`0x${number.toString(16)}`, true],
      })),
    )) as readonly { readonly transactions: readonly ChainCall[] }[];
    calls.push(...blocks.flatMap(({ transactions }) => transactions));
  }
  return calls;
}

/** Records of the oracle that differ from what the database holds as published, or lie three points or a grade off the score. */
export async function compareRecords(stand: Stand, client: PublicClient): Promise<Finding[]> {
  const address = stand.chain().test.deployment.oracle.address;
  const findings: Finding[] = [];
  for (const agent of AGENTS) {
    const view = await client.readContract({
      address,
      abi: agentHealthOracleAbi,
      functionName: "scoreOf",
      args: [agent],
    });
    const onChain = decodeView(view);
    const { rows } = await stand.db.$client.query<{
      published: number;
      as_of: string;
      current: number | null;
      grade: string | null;
    }>(
      `select o.ahs_score as published, o.as_of, c.ahs_score as current, c.grade
       from ${schemaOf(stand)}.oracle_score o join ahs.current_score c on c.wallet = o.wallet where o.wallet = $1`,
      [agent.toLowerCase()],
    );
    const [row] = rows;
    if (onChain?.outcome.kind !== "scored" || row === undefined || row.current === null) {
      findings.push(lost(`${agent} has no score on chain or none in the database`));
      continue;
    }
    const { ahsScore } = onChain.outcome;
    const agrees = ahsScore === row.published && Number(onChain.asOf) === Number(row.as_of);
    const isNear = Math.abs(row.current - row.published) < 3 && onChain.grade === row.grade;
    if (!agrees) findings.push(lost(`${agent}: the chain's record is not the database's`));
    else if (!isNear)
      findings.push(lost(`${agent}: ${ahsScore} on chain, ${row.current} ${row.grade} is its score`));
  }
  return findings;
}

/** No wallet is written twice for one block, and no epoch has two roots. */
async function accountWrites(stand: Stand, client: PublicClient): Promise<Finding[]> {
  const oracle = {
    address: stand.chain().test.deployment.oracle.address,
    abi: agentHealthOracleAbi,
    fromBlock: 0n,
  };
  const [published, roots] = await Promise.all([
    client.getContractEvents({ ...oracle, eventName: "Published" }),
    client.getContractEvents({ ...oracle, eventName: "RootPublished" }),
  ]);
  const writes = published.flatMap(({ args }) =>
    (args.packed ?? []).map((word) => `record of ${word.slice(0, 42)} as of ${args.asOf}`),
  );
  const epochs = roots.map(({ args }) => `root of epoch ${args.epoch}`);
  return repeatsOf([...writes, ...epochs]).map((item) => doubled(`${item} was published more than once`));
}

/** The nonces that each of our senders used are those that the database gave out, without a gap. */
async function accountNonces(stand: Stand, client: PublicClient): Promise<Finding[]> {
  const { rows } = await stand.db.$client.query<{ sender: Hex; nonces: string[] }>(
    `select sender, array_agg(nonce order by nonce) as nonces from ahs.sender_transaction
     where nonce is not null group by sender`,
  );
  const findings: Finding[] = [];
  for (const { sender, nonces } of rows) {
    const used = await client.getTransactionCount({ address: sender });
    findings.push(...compareCounts(`transactions of ${sender}`, { expected: nonces.length, found: used }));
    if (nonces.some((nonce, place) => Number(nonce) !== place))
      findings.push(lost(`the nonces of ${sender} have a gap`));
  }
  return findings;
}

function repeatsOf(items: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return items.filter((item) => seen.size === seen.add(item).size);
}

/** The views that readers of the index use. */
export function schemaOf(stand: Stand): string {
  return `chain_${stand.chain().test.deployment.chainId}`;
}
