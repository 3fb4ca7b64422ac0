import { type Address, isAddressEqual } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { type HandOverContext, handOverPass } from "../../service/chain/hand-over.ts";
import { senderPolicy } from "../../service/chain/send-policy.ts";
import { createSenderRpc } from "../../service/chain/send-rpc.ts";
import { ROOT_PURPOSE } from "../../service/publish/publish-root.ts";
import type { Database } from "../../service/store/database.ts";
import { ENROL_PURPOSE } from "../../service/store/enrolments.ts";
import { readFormerSenders } from "../../service/store/former-senders.ts";
import { PUBLISH_PURPOSE } from "../../service/store/publish-spending.ts";
import { tryOpenSenderSession } from "../../service/store/sender-session.ts";
import { requireChainSettings } from "../config.ts";
import type { Accounts } from "../keys/open-accounts.ts";
import { openChainClient } from "../process.ts";
import { repeat } from "./repeat.ts";
import type { SendingParts } from "./send-for-role.ts";

type Parts = SendingParts & { readonly db: Database; readonly accounts: Accounts };

const PAUSE_MS = 2_000;
const SENDER_RPC = { timeoutMs: 10_000, retries: 2 } as const;
const SESSION = { retryMs: 1_000, statementTimeoutMs: 10_000 } as const;

/** By role, what its key sends, and what of it nobody else may send. The relayer's calls carry their own signature. */
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
    for (const duty of DUTIES) {
      const account = parts.accounts[duty.role];
      if (account !== undefined) await takeOver(parts, { ...duty, to: account.address });
    }
  });
}

type Duty = Pick<HandOverContext, "purposes" | "exclusive" | "to">;

async function takeOver(parts: Parts, duty: Duty): Promise<void> {
  const { chainId } = parts.deployment;
  const of = { chainId, purposes: duty.purposes, present: duty.to };
  for (const from of await readFormerSenders(parts.db, of)) await takeOverFrom(parts, duty, from);
}

async function takeOverFrom(
  { config, deployment, senderMetrics, logger, now }: Parts,
  duty: Duty,
  from: Address,
): Promise<void> {
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  const { chainId } = deployment;
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
      hasLostRole: (finalBlock) => isNotPublisher(rpcUrl, deployment.oracle.address, { from, finalBlock }),
    });
  } finally {
    await session.release();
  }
}

async function isNotPublisher(
  rpcUrl: string,
  oracle: Address,
  { from, finalBlock }: { readonly from: Address; readonly finalBlock: number },
): Promise<boolean> {
  const contract = { address: oracle, abi: agentHealthOracleAbi } as const;
  const blockNumber = BigInt(finalBlock);
  const publisher = await openChainClient(rpcUrl).readContract({
    ...contract,
    functionName: "publisher",
    blockNumber,
  });
  return !isAddressEqual(publisher, from);
}
