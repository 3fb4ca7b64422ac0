import { pino } from "pino";
import { Registry } from "prom-client";
import { createPublicClient, http, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { privateKeyOf, roleAccounts } from "../../../../devnet/accounts.ts";
import type { Database } from "../../../../service/db/database.ts";
import { allowedCalls } from "../../../../service/sender/allowed-calls.ts";
import { createSenderMetrics } from "../../../../service/sender/send-metrics.ts";
import { senderPolicy } from "../../../../service/sender/send-policy.ts";
import { createSenderRpc } from "../../../../service/sender/send-rpc.ts";
import { runSender } from "../../../../service/sender/sender-loop.ts";
import { bindSpec } from "../../../../service/verification/escrow/bind-spec.ts";
import type { EscrowDeps } from "../../../../service/verification/escrow/escrow-deps.ts";
import { escrowRound } from "../../../../service/verification/escrow/run-escrow.ts";
import type { BindableSpec } from "../../../../service/verification/escrow/types.ts";
import { createEscrowMetrics } from "../../../../service/verification/metrics.ts";
import {
  readSettlementView,
  type SettlementStatus,
} from "../../../../service/verification/verdicts/verdict-view.ts";
import type { TestChain } from "../../../support/anvil-testkit/chain.ts";
import { bootTestkit } from "../../../support/anvil-testkit/testkit.ts";
import { until } from "../../../support/until.ts";
import { rowActions } from "./job-rows.ts";
import { jobActions, PROVIDER, STRANGER, views } from "./jobs-on-chain.ts";

export type EscrowWorld = Awaited<ReturnType<typeof bootEscrowWorld>>;

const { relayer, verdictSigner } = roleAccounts();
const WAIT_MS = 100_000;
/** A few rounds make what happened in one of them final. */
const BLOCKS_A_ROUND = 8;

/** A chain with all escrows and the evaluator, indexed by the real indexer, and rounds of settling on demand. */
export async function bootEscrowWorld() {
  const kit = await bootTestkit({ ageSeconds: 7_200 });
  const { chain, db, databaseUrl } = kit;
  const index = await kit.startIndexer();
  const deployed = await chain.head();
  // A busy machine takes longer to start the indexer than to follow a block.
  await index
    .reach(deployed)
    .catch(() => index.reach(deployed))
    .catch(async (error: Error) => {
      await kit.close();
      throw error;
    });
  for (const account of [PROVIDER, STRANGER])
    await chain.rpc.request("anvil_setBalance", account, numberToHex(10n ** 20n));
  const stop = new AbortController();
  const sending = sendForRelayer(chain, databaseUrl, stop.signal);
  kit.onClose(async () => {
    stop.abort();
    await sending;
  });
  const calls: string[] = [];
  const clock = { aheadMs: 0 };
  const rerun: { answer: Awaited<ReturnType<EscrowDeps["askRerun"]>> } = { answer: "asked" };
  const deps = depsOf({ chain, db, calls, clock, rerun });
  const settleUp = async (): Promise<void> => {
    await chain.mine(BLOCKS_A_ROUND);
    await index.reach(await chain.head());
    clock.aheadMs += 20_000;
    await escrowRound(deps);
  };
  return {
    ...kit,
    index,
    deps,
    /** Calls made for a held verdict. */
    callsOf: (verdictId: string) => calls.filter((call) => call.endsWith(verdictId)),
    /** How the next asking for a re-run is answered. */
    rerun,
    ...jobActions(chain),
    ...rowActions(db),
    ...views(chain),
    bind: (spec: BindableSpec) => bindSpec(deps, spec),
    /** One round, after a few blocks; what waits for its next look is looked at. */
    settleUp,
    /** Makes every block so far final in the index. */
    finalize: async (): Promise<void> => {
      await chain.mine(chain.deployment.finalityBlocks + 1);
      await index.reach(await chain.head());
    },
    /** Runs rounds until the verdict has this status. */
    reach: (verdictId: string, status: SettlementStatus) => {
      const wait = { what: `verdict ${verdictId} is ${status}`, timeoutMs: WAIT_MS };
      let seen: unknown;
      return until(wait, async () => {
        await settleUp();
        const view = await readSettlementView(db, verdictId);
        seen = view;
        return view?.status === status ? view : null;
      }).catch((error: Error) => {
        throw new Error(
          `${error.message}; last ${JSON.stringify(seen, (_, value) => (typeof value === "bigint" ? `${value}` : value))}`,
        );
      });
    },
  };
}

function depsOf(of: {
  readonly chain: TestChain;
  readonly db: Database;
  readonly calls: string[];
  readonly clock: { readonly aheadMs: number };
  readonly rerun: { readonly answer: Awaited<ReturnType<EscrowDeps["askRerun"]>> };
}): EscrowDeps {
  const { chain, db, calls, clock, rerun } = of;
  const { verdictEvaluator } = chain.deployment;
  if (verdictEvaluator === null) throw new Error("the local chain has an evaluator");
  return {
    db,
    client: createPublicClient({ transport: http(chain.rpcUrl, { timeout: 5_000, retryCount: 0 }) }),
    deployment: chain.deployment,
    evaluator: verdictEvaluator.address,
    signer: privateKeyToAccount(privateKeyOf(verdictSigner)),
    relayer: relayer.address,
    appealWindowSeconds: 0,
    readAppealUnits: async () => 500,
    askRerun: async (_, { verdictId }) => {
      calls.push(`rerun ${verdictId}`);
      return rerun.answer;
    },
    notifyReviewDue: async (_, { verdictId }) => {
      calls.push(`review ${verdictId}`);
    },
    metrics: createEscrowMetrics(new Registry()),
    logger: pino({ level: process.env.LOG_LEVEL ?? "silent" }),
    now: () => new Date(Date.now() + clock.aheadMs),
  };
}

function sendForRelayer(chain: TestChain, databaseUrl: string, signal: AbortSignal): Promise<void> {
  return runSender(
    {
      chainId: chain.deployment.chainId,
      account: privateKeyToAccount(privateKeyOf(relayer)),
      refuses: allowedCalls(["relayer"], { ...chain.deployment, maxRequestFeeWei: 0n }),
      rpc: createSenderRpc({ url: chain.rpcUrl, timeoutMs: 5_000, retries: 1 }),
      policy: { ...senderPolicy(chain.deployment), pollMs: 50 },
      metrics: createSenderMetrics(new Registry()),
      logger: pino({ level: "silent" }),
      now: () => new Date(),
      databaseUrl,
    },
    signal,
  );
}
