import { type Address, isAddressEqual } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import type { Database } from "../../service/db/database.ts";
import { ENROL_PURPOSE } from "../../service/oracle/enrolments.ts";
import { PUBLISH_PURPOSE } from "../../service/oracle/publish-intents.ts";
import { ROOT_PURPOSE } from "../../service/oracle/publish-root.ts";
import { type HandOverContext, handOverPass, readFormerSenders } from "../../service/sender/hand-over.ts";
import { senderPolicy } from "../../service/sender/send-policy.ts";
import { createSenderRpc } from "../../service/sender/send-rpc.ts";
import { tryOpenSenderSession } from "../../service/sender/sender-loop.ts";
import { requireChainSettings } from "../config.ts";
import { openChainClient } from "../process.ts";
import { doAll, repeat } from "./repeat.ts";
import type { SendingParts } from "./send-for-role.ts";

type Parts = SendingParts & { readonly db: Database };

const PAUSE_MS = 2_000;
const SENDER_RPC = { timeoutMs: 10_000, retries: 2 } as const;
const SESSION = { retryMs: 1_000, statementTimeoutMs: 10_000 } as const;

/** By role, what its key sends, and what of it nobody else may send; the chain gives a role to the publisher alone. */
const DUTIES = [
  {
    role: "publisher",
    purposes: [PUBLISH_PURPOSE, ROOT_PURPOSE, ENROL_PURPOSE],
    exclusive: [PUBLISH_PURPOSE, ROOT_PURPOSE],
  },
  { role: "relayer", purposes: ["settle", "hold"], exclusive: [] },
  { role: "facilitator", purposes: ["x402"], exclusive: [] },
] as const;

/**
 * Takes over what keys that were replaced have left, until the signal fires: whatever they signed is followed to its end, the rest
 * goes to their successors. A key for which a process still sends is left alone.
 */
export async function handOverFormerKeys(parts: Parts, signal: AbortSignal): Promise<void> {
  const { logger } = parts;
  await repeat({ logger, pauseMs: PAUSE_MS, what: "taking over from former keys" }, signal, async () => {
    await doAll(
      DUTIES.flatMap((duty) => {
        const account = parts.accounts[duty.role];
        return account === undefined ? [] : [() => takeOver(parts, { ...duty, to: account.address })];
      }),
    );
  });
}

type Duty = Pick<HandOverContext, "purposes" | "exclusive" | "to">;
type Oracle = { readonly rpcUrl: string; readonly address: Address };

async function takeOver(parts: Parts, duty: Duty): Promise<void> {
  const { chainId } = parts.deployment;
  const of = { chainId, purposes: duty.purposes, present: duty.to };
  const former = await readFormerSenders(parts.db, of);
  await doAll(former.map((from) => () => takeOverFrom(parts, duty, from)));
}

async function takeOverFrom(
  { config, deployment, senderMetrics, logger, now }: Parts,
  duty: Duty,
  from: Address,
): Promise<void> {
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  const { chainId } = deployment;
  const oracle = { rpcUrl, address: deployment.oracle.address };
  const session = await tryOpenSenderSession({ databaseUrl, chainId, sender: from, ...SESSION });
  if (session === null) return;
  try {
    await handOverPass({
      ...duty,
      chainId,
      from,
      rpc: createSenderRpc({ url: rpcUrl, ...SENDER_RPC }),
      db: session.db,
      policy: senderPolicy(deployment),
      metrics: senderMetrics,
      logger,
      now,
      holdsRole: async () =>
        duty.exclusive.length === 0 || isAddressEqual(await readPublisher(oracle, null), duty.to),
      hasLostRole: async (finalBlock) => !isAddressEqual(await readPublisher(oracle, finalBlock), from),
    });
  } finally {
    await session.release();
  }
}

/** The publisher as of a block, of the newest one where it is null. */
function readPublisher({ rpcUrl, address }: Oracle, block: number | null): Promise<Address> {
  return openChainClient(rpcUrl).readContract({
    address,
    abi: agentHealthOracleAbi,
    functionName: "publisher",
    ...(block === null ? {} : { blockNumber: BigInt(block) }),
  });
}
