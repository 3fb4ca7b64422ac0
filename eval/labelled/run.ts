import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { figure } from "../render-results.ts";
import { evidenceTable } from "./evidence-table.ts";
import { figureTable } from "./figure-table.ts";
import { findFiles, type LabelledFiles } from "./find-files.ts";
import { ownerTable, readEdges, readGroups } from "./owner-table.ts";
import { readWallets } from "./read-wallets.ts";
import { transactionTable } from "./transaction-table.ts";

/**
 * `npm run eval:labels -- FOLDER`: what public sets of labelled wallets say of the model's evidence and figures. The user
 * downloads the sets and reads their licences; nothing of them is in this repository. Absent files are named and left out.
 */
const USAGE = `Usage: npm run eval:labels -- FOLDER
What public sets of labelled wallets say of the model. FOLDER holds files of these repositories, in folders of any names:
  sfarrugia15/Ethereum_Fraud_Detection   Complete_large.csv, or Kaggle's transaction_dataset.csv, the same rows
  Abdullah73k/wallet-risk-scorer-ML      new_addresses_dataset.csv, scam_dataset2.csv, safe_dataset.csv
  vikascode58/Wallet-Risk-Scoring-From-Scratch   wallet_transactions.csv
  hop-protocol/hop-airdrop               groups.json, eligibleAddresses.txt, transfers/nativeTokenTransfers and
                                         transfers/erc20TokenTransfers with their CSV files`;

/** Below so many transactions a ratio says little. */
const LEAST_TRANSACTIONS = 30;
/** An exchange or a bridge funds more accounts than these. */
const MOST_FUNDED = 50;

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || folder.startsWith("-") || more.length > 0) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}
const files = findFiles(folder);
for (const section of [evidence, figures, transactions, owners])
  process.stdout.write(`${section(files)}\n\n`);

function evidence({ text }: LabelledFiles): string {
  const wallets = text("Complete_large.csv") ?? text("transaction_dataset.csv");
  if (wallets === null) return absent("Complete_large.csv or transaction_dataset.csv");
  const rows = evidenceTable(readWallets(wallets), AHS_2026_2);
  return table(
    "Best evidence by count and span of sent transactions (Farrugia, Kaggle)",
    ["Label", "Wallets", "Scored at all", "HIGH"],
    rows.map(({ label, wallets, enough, high }) => [
      label,
      count(wallets),
      share(enough, wallets),
      share(high, wallets),
    ]),
  );
}

function figures({ text }: LabelledFiles): string {
  const flagged = text("new_addresses_dataset.csv");
  const [scams, safe] = [text("scam_dataset2.csv"), text("safe_dataset.csv")];
  const sets = [
    flagged === null ? null : (["new_addresses_dataset.csv", readWallets(flagged)] as const),
    scams === null || safe === null
      ? null
      : ([
          "scam_dataset2.csv over safe_dataset.csv",
          [...readWallets(scams, true), ...readWallets(safe, false)],
        ] as const),
  ].filter((set) => set !== null);
  if (sets.length === 0) return absent("new_addresses_dataset.csv; scam_dataset2.csv with safe_dataset.csv");
  const rows = sets.flatMap(([name, wallets]) =>
    figureTable(wallets, LEAST_TRANSACTIONS).map(({ figure: column, bad, normal, auc }) => [
      ...[name, column, count(bad), count(normal), figure(auc)],
    ]),
  );
  const title = `AUC of bad over normal wallets with ${LEAST_TRANSACTIONS} transactions or more; 0.5 says nothing`;
  return table(title, ["Set", "Figure", "Bad", "Normal", "AUC"], rows);
}

function transactions({ text }: LabelledFiles): string {
  const list = text("wallet_transactions.csv");
  if (list === null) return absent("wallet_transactions.csv");
  const { transactions: all, wallets, own, failed, busy } = transactionTable(list);
  return table(
    "Real transactions without labels (vikascode58)",
    ["Transactions", "Wallets", "Own calls", "Failed", "Wallets with ten own calls or more"],
    [[count(all), count(wallets), count(own), share(failed, own), count(busy)]],
  );
}

function owners({ text, texts }: LabelledFiles): string {
  const groups = text("groups.json");
  if (groups === null) return absent("groups.json");
  const edges = readEdges(texts("nativeTokenTransfers"), texts("erc20TokenTransfers"));
  if (edges.paid.size === 0)
    return absent("transfers/nativeTokenTransfers and transfers/erc20TokenTransfers");
  const labelled = readGroups(groups, text("eligibleAddresses.txt"));
  const found = ownerTable(edges, labelled, MOST_FUNDED);
  return table(
    `Owner finder on labelled accounts that paid one another (hop-airdrop): ${count(found.edges)} edges, ${count(found.members)} members of ${count(found.groups)} groups`,
    ["Pairs found", "Precision", "Pairs of one group with a payment", "Recall"],
    [
      [
        ...[count(found.found), share(found.right, found.found)],
        ...[count(found.related), share(found.foundRelated, found.related)],
      ],
    ],
  );
}

function absent(names: string): string {
  return `Left out, since the folder has no ${names}.`;
}

function table(title: string, header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [`**${title}**`, "", ...lines].join("\n");
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function share(part: number, whole: number): string {
  return whole === 0 ? "–" : `${count(part)} (${((100 * part) / whole).toFixed(1)} %)`;
}
