import pino from "pino";
import { Registry } from "prom-client";
import { type LocalAccount, mnemonicToAccount } from "viem/accounts";
import type { RefuseCall } from "../../../service/sender/allowed-calls.ts";
import { createSenderMetrics } from "../../../service/sender/send-metrics.ts";
import type { SenderContext } from "../../../service/sender/send-pass.ts";
import { type SenderPolicy, senderPolicy } from "../../../service/sender/send-policy.ts";
import { createSenderRpc, type SenderRpc } from "../../../service/sender/send-rpc.ts";
import { runSender } from "../../../service/sender/sender-loop.ts";

export const CHAIN_ID = 31_337;
const MNEMONIC = "test test test test test test test test test test test junk";

/** Accounts of the local chain by index: 0 owner, 1 publisher, 2 a stranger to both. */
export function localAccount(index: number) {
  return mnemonicToAccount(MNEMONIC, { addressIndex: index });
}

/** Fast enough for a test, otherwise as in production. */
export const testPolicy: SenderPolicy = {
  ...senderPolicy({ finalityBlocks: 5 }),
  pollMs: 20,
  stuckAfterMs: 300,
  retryMs: { first: 50, longest: 500 },
};

/** Runs the real sender in this process; stopping it releases its lock. */
export function startSender(
  world: { databaseUrl: string; rpcUrl: string },
  options: {
    policy?: Partial<SenderPolicy>;
    rpc?: (real: SenderRpc) => SenderRpc;
    account?: LocalAccount;
    refuses?: RefuseCall;
    tooDear?: SenderContext["tooDear"];
  },
) {
  const controller = new AbortController();
  const registry = new Registry();
  const real = createSenderRpc({ url: world.rpcUrl, timeoutMs: 5_000, retries: 1 });
  const deps = {
    chainId: CHAIN_ID,
    account: options.account ?? localAccount(1),
    refuses: options.refuses ?? (() => null),
    rpc: options.rpc?.(real) ?? real,
    ...(options.tooDear === undefined ? {} : { tooDear: options.tooDear }),
    databaseUrl: world.databaseUrl,
    policy: { ...testPolicy, ...options.policy },
    metrics: createSenderMetrics(registry),
    logger: pino({ level: "silent" }),
    now: () => new Date(),
  };
  const ended = runSender(deps, controller.signal);
  return {
    registry,
    stop: async () => {
      controller.abort();
      await ended;
    },
  };
}
