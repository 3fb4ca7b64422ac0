import { randomBytes, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { readTrustedProxies } from "../../service/api/access/client-address.ts";
import { createIpLimit, type IpLimit } from "../../service/api/access/ip-limit.ts";
import { unavailable } from "../../service/api/problems.ts";
import type { Bind } from "../../service/api/verification/place-output.ts";
import type { OutputPorts } from "../../service/api/verification/post-outputs.ts";
import type { RetryPorts } from "../../service/api/verification/post-retry.ts";
import { SPECS_PER_MINUTE, type SpecPorts } from "../../service/api/verification/post-specs.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { createSpecBinder } from "../../service/escrow/bind-spec.ts";
import { EscrowFailure } from "../../service/escrow/failure.ts";
import type { Database } from "../../service/store/database.ts";
import { insertSpec, readSpec } from "../../service/store/job-specs.ts";
import { readTokensSince } from "../../service/store/role-calls.ts";
import {
  acceptOutput,
  activateOutput,
  findAccepted,
  withdrawOutput,
} from "../../service/verdicts/accept-output.ts";
import { registerSpec } from "../../service/verdicts/register-spec.ts";
import { retryVerdict } from "../../service/verdicts/retry-verdict.ts";
import type { Config } from "../config.ts";
import { openChainClient } from "../process.ts";

type Parts = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly logger: Logger;
  readonly clock: { now(): Date; monotonicMs(): number };
};

/** A caller waits meanwhile. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 1 } as const;
const RETRY_AFTER_SECONDS = 5;
/** At about 100 bytes each. */
const MAX_ADDRESSES = 100_000;

/** What registers specifications, takes outputs in and retries verdicts; without a node nothing that names a job's escrow. */
export function intakePorts(
  config: Config,
  { db, deployment, logger, clock }: Parts,
): Pick<SpecPorts, "specs"> & Pick<OutputPorts, "outputs"> & Pick<RetryPorts, "retryVerdict"> {
  const { now, monotonicMs } = clock;
  const node = nodeOf(config, { db, deployment });
  const intake = { db, logger, now, randomBytes, randomUuid: randomUUID };
  const registering = {
    insert: (spec: Parameters<typeof insertSpec>[1]) => insertSpec(db, spec),
    newestBlock: node.newestBlock,
    randomUuid: randomUUID,
  };
  return {
    specs: {
      scope: { chainId: deployment.chainId, escrows: deployment.escrows.map(({ address }) => address) },
      register: (draft, at) => registerSpec(registering, draft, at),
      limit: specLimit(config, monotonicMs),
    },
    outputs: {
      spec: (id) => readSpec(db, id),
      bind: node.bind,
      find: (slot) => findAccepted(db, slot),
      accept: (draft, purchaser) => acceptOutput(intake, draft, purchaser),
      activate: (verdictId) => activateOutput(intake, verdictId),
      withdraw: (verdictId) => withdrawOutput(intake, verdictId),
      budget:
        config.panel === null
          ? null
          : {
              tokensPerDay: config.panel.tokensPerDay,
              usedSince: (moment) => readTokensSince(db, moment),
            },
    },
    retryVerdict: (request) => retryVerdict(db, request),
  };
}

function specLimit({ trustedProxies }: Config, monotonicMs: () => number): IpLimit {
  const proxies = readTrustedProxies(trustedProxies);
  if (proxies === null) throw new Error(`no list of addresses: ${trustedProxies.join(",")}`);
  return createIpLimit({
    perMinute: SPECS_PER_MINUTE,
    trustedProxies: proxies,
    monotonicMs,
    maxAddresses: MAX_ADDRESSES,
  });
}

/** What a node is asked; each throws a 503 where it does not answer. */
function nodeOf(
  { rpcUrl }: Config,
  { db, deployment }: Pick<Parts, "db" | "deployment">,
): { readonly newestBlock: () => Promise<bigint>; readonly bind: Bind } {
  if (rpcUrl === null) {
    const refuse = () => Promise.reject(nodeUnavailable(new Error("no node is configured")));
    return { newestBlock: refuse, bind: refuse };
  }
  const client = openChainClient(rpcUrl, CALLER_RPC);
  const bind = createSpecBinder({ db, client, deployment });
  return {
    newestBlock: () =>
      client.getBlockNumber({ cacheTime: 0 }).catch((cause: unknown) => {
        throw nodeUnavailable(cause);
      }),
    bind: (claim) =>
      bind(claim).catch((error: unknown) => {
        throw error instanceof EscrowFailure ? bindingFailed(error) : error;
      }),
  };
}

function bindingFailed(failure: EscrowFailure): Error {
  if (failure.reason !== "index") return nodeUnavailable(failure);
  const detail = "The index has not followed the job yet to where it can be told whose it is.";
  return unavailable("index-behind", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: failure });
}

function nodeUnavailable(cause: unknown): Error {
  const detail = "The node that is asked about jobs does not answer; nothing was charged.";
  return unavailable("node-unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}
