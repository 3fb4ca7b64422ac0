import { parseArgs } from "node:util";
import { Registry } from "prom-client";
import { createPaymentMetrics } from "../../service/access/payments/metrics.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import {
  type ListedPayment,
  listPayments,
  PAYMENT_KINDS,
  type PaymentKind,
} from "../../service/access/payments/payments-due.ts";
import {
  type ReconciliationDeps,
  reconcilePayments,
  sweepSchemes,
} from "../../service/access/payments/run-reconciliation.ts";
import type { SweepDeps } from "../../service/access/schemes/scheme.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { actionsOf, withDatabase } from "../command.ts";
import { type Invocation, requireChainSettings } from "../config.ts";
import { settlementSpendingFromConfig } from "../from-config.ts";
import { openChainClient } from "../process.ts";
import { renderTable } from "../render-table.ts";

type PaymentsDeps = {
  readonly db: Database;
  readonly out: (line: string) => void;
  readonly now: () => Date;
  /** Opened for reconcile alone, which needs a node. */
  readonly reconciliation: () => ReconciliationDeps & SweepDeps;
};

/** Usage of `ahs payments`. */
export const USAGE = `Usage: ahs payments list [--state ${PAYMENT_KINDS.join("|")}] [--limit NUMBER]
       ahs payments reconcile`;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;
/** Of a token of 6 decimals. */
const ATOMIC_DIGITS = 6;

/** `ahs payments list|reconcile` on the configured database and node. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  await withDatabase(config, "payments", async (db, { logger, now }) => {
    const reconciliation = (): ReconciliationDeps & SweepDeps => {
      const { rpcUrl, deploymentFile } = requireChainSettings(config);
      const deployment = loadDeployment(deploymentFile);
      const { chainId, finalityBlocks } = deployment;
      const client = openChainClient(rpcUrl);
      return {
        db,
        chainId,
        logger,
        now,
        client,
        schemes: SCHEMES,
        chain: createPaymentChain(client, { finalityBlocks, schemes: SCHEMES }),
        spending: settlementSpendingFromConfig(config, deployment, { client, db, now }),
        ownSender: config.payments.facilitatorUrl === null,
        metrics: createPaymentMetrics(new Registry()),
      };
    };
    await runPaymentsCommand(args, { db, out, now, reconciliation });
  });
}

/** Runs `ahs payments …`; throws with what was given and expected when the arguments do not fit. */
export const runPaymentsCommand = actionsOf<PaymentsDeps>(USAGE, { list, reconcile });

async function list(args: readonly string[], { db, out, now }: PaymentsDeps): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { state: { type: "string" }, limit: { type: "string" } },
  });
  const kind = values.state === undefined ? null : kindOf(values.state);
  const rows = await listPayments(db, { kind, now: now(), limit: limitOf(values.limit) });
  if (rows.length === 0) {
    out("no payments");
    return;
  }
  const lines = renderTable([HEADINGS, ...rows.map(cellsOf)]);
  for (const line of lines) out(line);
}

async function reconcile(args: readonly string[], { out, reconciliation }: PaymentsDeps): Promise<void> {
  parseArgs({ args: [...args], options: {} });
  const deps = reconciliation();
  const tally = await reconcilePayments(deps);
  await sweepSchemes(deps);
  out(
    `settled and owed: ${tally.settle}, released: ${tally.release}, dropped: ${tally.drop}, still open: ${tally.wait}, failed: ${tally.failed}, confirmed: ${tally.confirmed}, lost: ${tally.lost}`,
  );
}

const HEADINGS = ["created", "state", "usdc", "payer", "endpoint", "transaction", "nonce", "note"];

function cellsOf(row: ListedPayment): string[] {
  return [
    row.createdAt.toISOString(),
    row.kind,
    decimal(row.chargedAmount ?? row.amount),
    row.payer,
    row.endpoint,
    row.transactionHash ?? "-",
    row.nonce,
    row.error ?? row.captureState ?? "-",
  ];
}

function decimal(amount: bigint): string {
  const digits = amount.toString().padStart(ATOMIC_DIGITS + 1, "0");
  return `${digits.slice(0, -ATOMIC_DIGITS)}.${digits.slice(-ATOMIC_DIGITS)}`;
}

function kindOf(state: string): PaymentKind {
  const kind = PAYMENT_KINDS.find((known) => known === state);
  if (kind === undefined)
    throw new Error(`--state: expected one of ${PAYMENT_KINDS.join(", ")}, got "${state}"`);
  return kind;
}

function limitOf(limit: string | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const wanted = /^\d{1,5}$/.test(limit) ? Number(limit) : Number.NaN;
  if (wanted >= 1 && wanted <= MAX_LIMIT) return wanted;
  throw new Error(`--limit: expected a whole number from 1 to ${MAX_LIMIT}, got "${limit}"`);
}
