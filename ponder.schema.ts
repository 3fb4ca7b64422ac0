import { index, onchainTable } from "ponder";
import * as columns from "./service/db/index-columns.ts";

export const agent = onchainTable("agent", columns.agent);

export const agentWallet = onchainTable("agent_wallet", columns.agentWallet, (table) => ({
  byWallet: index().on(table.wallet),
  byAgent: index().on(table.agentId),
}));

export const wallet = onchainTable("wallet", columns.wallet);

export const transaction = onchainTable("transaction", columns.transaction, (table) => ({
  byFrom: index().on(table.from, table.block, table.transactionIndex),
  byTo: index().on(table.to, table.block),
}));

export const block = onchainTable("block", columns.block);

export const sanctionsChange = onchainTable("sanctions_change", columns.sanctionsChange, (table) => ({
  byAddress: index().on(table.address, table.block, table.logIndex),
}));

export const oracleScore = onchainTable("oracle_score", columns.oracleScore);

export const oracleRoot = onchainTable("oracle_root", columns.oracleRoot);

export const scoreRequest = onchainTable("score_request", columns.scoreRequest, (table) => ({
  byWallet: index().on(table.wallet),
}));

export const job = onchainTable("job", columns.job);

export const verdictEvent = onchainTable("verdict_event", columns.verdictEvent, (table) => ({
  byJob: index().on(table.escrow, table.jobId),
}));

export const bondChange = onchainTable("bond_change", columns.bondChange, (table) => ({
  byWallet: index().on(table.wallet, table.block),
}));
