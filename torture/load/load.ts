import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, http } from "viem";
import { roleAccounts } from "../../devnet/accounts.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import type { Faults } from "../faults.ts";
import { AGENTS } from "../stand/chain.ts";
import type { Stand } from "../stand/stand.ts";
import { type Ask, createAsk } from "./ask.ts";
import { startKeyCalls } from "./key-calls.ts";
import type { Lane, Operation } from "./lane.ts";
import { startOutputs } from "./outputs.ts";
import { startPurchases } from "./purchases.ts";

/** All that goes on at once, and what was sent, asked, paid and received of it. */
export type Load = Awaited<ReturnType<typeof startLoad>>;

const BALANCE = 1_000_000_000;
const BLOCK_MS = 350;
const OUTPUT_PATH = "/verdicts";
const SUBSCRIBE_UNITS = 2_000;

/** Starts agents, paid calls by key and by wallet, outputs to be judged, and a subscription to every agent. */
export async function startLoad(stand: Stand, faults: Faults) {
  const statuses = new Map<number, number>();
  const asking = { servers: stand.services.servers, random: stand.random("servers"), faults, statuses };
  const ask = createAsk(asking);
  const [callKey, outputKey] = await Promise.all([stand.createKey(BALANCE), stand.createKey(BALANCE)]);
  const opening = readMoney(stand);
  await opening;
  const subscriptionPath = (agent: string) => `/alerts/${agent.toLowerCase()}`;
  const blocks = startBlocks(stand);
  await subscribeAll(stand, { ask, subscriptionPath });
  const calls = startKeyCalls({ ask, key: callKey, random: stand.random("calls"), faults });
  const purchases = startPurchases({ ask, random: stand.random("purchases"), faults });
  const webhookUrl = `${stand.receiver.baseUrl}${OUTPUT_PATH}`;
  const outputs = await startOutputs({ ask, key: outputKey, seed: stand.seed, faults, webhookUrl });
  const lanes: readonly Lane<Operation>[] = [calls, purchases, outputs];
  return {
    ask,
    /** How often clients were answered with each status so far; 0 is for no answer. */
    statuses,
    callKey,
    outputKey,
    calls,
    purchases,
    outputs,
    /** A specification that outputs of any text about rivers meet. */
    specId: outputs.specId,
    lanes,
    /** Paths of the receiver at which each agent's subscription arrives. */
    subscriptionPath,
    /** USDC of payer and payee on this chain before the first purchase. */
    opening,
    /** USDC units that the payee received for other purchases than those of the lane. */
    besides: { received: 0n },
    /** Agents begin, or stop, calling; blocks go on being mined. */
    setActing: blocks.setActing,
    /** Mines no more, or goes on; resolves once it is so. */
    setMining: blocks.setMining,
    /** Blocks are mined this often. */
    setBlockMs: blocks.setBlockMs,
    stop: async () => {
      await Promise.all([blocks.stop(), ...lanes.map((lane) => lane.stop())]);
    },
  };
}

/** Balances of payer and payee on the present chain. */
export async function readMoney(stand: Stand): Promise<{ payer: bigint; payee: bigint }> {
  const { rpcUrl, contracts } = stand.chain().test;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const balanceOf = (of: "payer" | "payee") =>
    client.readContract({
      address: contracts.usdc,
      abi: usdCoinAbi,
      functionName: "balanceOf",
      args: [roleAccounts()[of].address],
    });
  const [payer, payee] = await Promise.all([balanceOf("payer"), balanceOf("payee")]);
  return { payer, payee };
}

/** Mines on and on, with calls of agents in every block or without. */
function startBlocks(stand: Stand) {
  let acting = true;
  let mining = true;
  let stopped = false;
  let blockMs = BLOCK_MS;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const chain = stand.chain();
      try {
        if (mining) await (acting ? chain.act() : chain.tick());
      } catch (error) {
        // The chain was replaced during the request to mine.
        if (chain === stand.chain()) throw error;
      }
      await sleep(blockMs);
    }
  };
  const running = run();
  return {
    setActing: (isActing: boolean): void => {
      acting = isActing;
    },
    setMining: async (isMining: boolean): Promise<void> => {
      mining = isMining;
      await stand.chain().alone(async () => undefined);
    },
    setBlockMs: (ms: number): void => {
      blockMs = ms;
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await running;
    },
  };
}

async function subscribeAll(
  stand: Stand,
  { ask, subscriptionPath }: { ask: Ask; subscriptionPath: (agent: string) => string },
): Promise<void> {
  const key = await stand.createKey(AGENTS.length * SUBSCRIBE_UNITS);
  for (const agent of AGENTS) {
    const query = new URLSearchParams({
      webhook_url: `${stand.receiver.baseUrl}${subscriptionPath(agent)}`,
      events: "ahs.grade_changed",
    });
    const path = `/alerts/subscribe/${agent}?${query}`;
    for (;;) {
      const asked = await ask({ method: "GET", path, headers: { "x-api-key": key.secret }, body: null });
      if (asked.kind === "answered") break;
      if (asked.kind !== "again") throw new Error(`no subscription: ${JSON.stringify(asked)}`);
      await sleep(asked.waitMs);
    }
  }
}
