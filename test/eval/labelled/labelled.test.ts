import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { evidenceTable } from "../../../eval/labelled/evidence-table.ts";
import { figureTable } from "../../../eval/labelled/figure-table.ts";
import { findFiles } from "../../../eval/labelled/find-files.ts";
import { ownerTable, readEdges, readGroups } from "../../../eval/labelled/owner-table.ts";
import { readWallets } from "../../../eval/labelled/read-wallets.ts";
import { transactionTable } from "../../../eval/labelled/transaction-table.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { useFolder } from "../../support/use-folder.ts";

const folder = useFolder();

function account(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

test("files are found by the end of their path, in folders of any names", () => {
  mkdirSync(join(folder, "a", "transfers"), { recursive: true });
  writeFileSync(join(folder, "a", "transfers", "one.csv"), "1");
  writeFileSync(join(folder, "a", "transfers", "two.csv"), "2");
  writeFileSync(join(folder, "a", "other-one.csv"), "3");
  const files = findFiles(folder);
  expect([files.text("one.csv"), files.text("transfers/two.csv"), files.text("three.csv")]).toEqual([
    "1",
    "2",
    null,
  ]);
  expect([...files.texts("transfers/")]).toEqual(["1", "2"]);
});

describe("labelled wallets", () => {
  test("are read whatever the spelling of the columns, each address once", () => {
    const text = `Index,Address,FLAG,Time Diff between first and last (Mins),Sent tnx\n1,0xA,1,10.5,3\n2,0xa,0,1,1\n3,0xb,0,,x\n`;
    const minutes = "time_diff_between_first_and_last_mins_";
    expect(readWallets(text)).toEqual([
      {
        isBad: true,
        figures: new Map([
          ["index", 1],
          ["flag", 1],
          [minutes, 10.5],
          ["sent_tnx", 3],
        ]),
      },
      {
        isBad: false,
        figures: new Map([
          ["index", 3],
          ["flag", 0],
        ]),
      },
    ]);
    expect(readWallets("address\n0xa", true)).toEqual([{ isBad: true, figures: new Map() }]);
    expect(() => readWallets("address\n0xa")).toThrow("expected the columns address and flag, got address");
  });

  test("are scored by count and span as the model's confidence says", () => {
    const header = "Address,FLAG,Time_Diff_between_first_and_last_(Mins),Sent_tnx\n";
    const days = (address: string, flag: number, span: number, sent: number) =>
      `${address},${flag},${span * 1_440},${sent}\n`;
    const wallets = readWallets(
      [
        header,
        days("a", 1, 1, 500),
        days("b", 1, 30, 30),
        days("c", 0, 170, 400),
        days("d", 0, 90, 9),
        days("e", 0, 0, 0),
      ].join(""),
    );
    expect(evidenceTable(wallets, AHS_2026_2)).toEqual([
      { label: "bad", wallets: 2, enough: 1, high: 0 },
      { label: "normal", wallets: 3, enough: 1, high: 1 },
    ]);
  });

  test("are compared by each figure, where they did enough", () => {
    const rows = ["a,40,0.5,1", "b,40,0.1,0", "c,40,,0", "d,5,0.9,0"];
    const wallets = readWallets(`address,tx_count,failed_tx_ratio,flag\n${rows.join("\n")}`);
    expect(figureTable(wallets, 30).slice(0, 2)).toEqual([
      { figure: "failed_tx_ratio", bad: 1, normal: 1, auc: 1 },
      { figure: "unique_counterparties", bad: 0, normal: 0, auc: null },
    ]);
  });
});

test("real transactions are counted by their sender and outcome", () => {
  const own = (successful: string) => `0xa,0x1,2025-06-16T21:15:11Z,0,0xA,0xb,1,${successful}\n`;
  const header =
    "wallet_address,tx_hash,block_signed_at,value,from_address,to_address,gas_spent,successful\n";
  const text =
    header +
    own("True").repeat(9) +
    own("False") +
    own("True").replace("0xA", "0xc") +
    own("True").replace("0xa", "0xd");
  expect(transactionTable(text)).toEqual({ transactions: 12, wallets: 2, own: 10, failed: 1, busy: 1 });
  expect(() => transactionTable("a,b")).toThrow(
    "expected the columns wallet_address, from_address, successful, got a, b",
  );
});

describe("the owner finder on edges", () => {
  const edge = (from: number, to: number) => `${account(from).replace("0x", "\\x")},${account(to)}\n`;
  const groups = (...members: readonly (readonly number[])[]) =>
    JSON.stringify(
      members.map((list, index) => ({ groupName: `g${index}`, eliminatedAddresses: list.map(account) })),
    );

  test("finds a shared first funder and a paid-back account, and no payment alone", () => {
    const coin = [`from,to\n${edge(9, 1)}${edge(9, 2)}${edge(1, 3)}${edge(3, 1)}${edge(1, 4)}`];
    const tokens = [`from,to\n${edge(1, 2)}${edge(5, 1)}`];
    const edges = readEdges(coin, tokens);
    const labelled = readGroups(groups([1, 2], [4, 5]), `${account(3)}\n${account(6)}`);
    // 1 has two senders of coin, so its first funder is unknown; 3 is first funded by 1 and pays back.
    expect(ownerTable(edges, labelled, 50)).toEqual({
      ...{ edges: 7, groups: 2, members: 4 },
      ...{ found: 3, right: 0, related: 2, foundRelated: 0 },
    });
  });

  test("links two accounts by their one funder, unless it funds many", () => {
    const edges = readEdges([`${edge(9, 1)}${edge(9, 2)}`], [edge(1, 2)]);
    const labelled = readGroups(groups([1, 2]), null);
    expect([ownerTable(edges, labelled, 50), ownerTable(edges, labelled, 1)]).toMatchObject([
      { found: 2, right: 2, related: 2, foundRelated: 2 },
      { found: 0, right: 0, related: 2, foundRelated: 0 },
    ]);
  });
});
