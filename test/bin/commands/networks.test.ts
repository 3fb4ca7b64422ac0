import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { runNetworks } from "../../../bin/commands/networks.ts";
import { evmAddress } from "../../service/sanctions/sdn-file.ts";
import { useDatabase } from "../../support/test-database.ts";
import { useFolder } from "../../support/use-folder.ts";

const CHAIN = 31_337;
const [BRIDGE, BANK, POOL, QUIET] = [1, 2, 3, 4].map((number) => getAddress(evmAddress(number)));

const db = useDatabase();
const folder = useFolder();

beforeAll(async () => {
  await db.$client.query(
    `insert into ahs.account_fact (chain_id, address, has_code, source, read_block, first_funder)
     select ${CHAIN}, '0x' || lpad(to_hex(100 + n), 40, '0'), false, 'otterscan', 1,
       case when n <= 3 then '${BRIDGE?.toLowerCase()}' when n <= 5 then '${BANK?.toLowerCase()}' else '${QUIET?.toLowerCase()}' end
     from generate_series(1, 6) n`,
  );
  await db.$client.query(
    `insert into ahs.account_fact (chain_id, address, has_code, source, read_block) values (${CHAIN}, '${POOL?.toLowerCase()}', true, 'otterscan', 1)`,
  );
  await db.$client.query(
    `insert into ahs.contact (chain_id, counterparty, account, calls, sent_micro_usd, first_block, first_time, last_block, last_time)
     select ${CHAIN}, counterparty, '0x' || lpad(to_hex(200 + n), 40, '0'), 1, 0, 1, 1, 1, 1
     from generate_series(1, 2) n, unnest(array['${POOL?.toLowerCase()}', '${QUIET?.toLowerCase()}']) counterparty`,
  );
});

async function networks(...args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  if (BRIDGE === undefined) throw new Error("there is no bridge");
  const accounts = { entryPoints: [], publicFunders: [BRIDGE], mixers: [], venues: [], vettedServices: [] };
  await runNetworks(args, { db, deployment: { chainId: CHAIN, accounts }, out: (line) => lines.push(line) });
  return lines.map((line) => line.trim().replace(/ {2,}/g, "  "));
}

test("shows what the index would add, with the names of public files", async () => {
  writeFileSync(join(folder, "labels.csv"), `address,name\n${BANK},Bank 7\n`);
  expect(await networks("refresh", "--least", "2", "--from", folder)).toEqual([
    "public funders: 1 in the deployment, 1 more by the index",
    `=  ${BRIDGE}  3 accounts`,
    `+  ${BANK}  2 accounts  Bank 7 (labels.csv)`,
    "popular contracts: 0 in the deployment, 1 more by the index",
    `+  ${POOL}  2 accounts`,
  ]);
  expect(await networks("refresh")).toEqual([
    "public funders: 1 in the deployment, 0 more by the index",
    `=  ${BRIDGE}  –`,
    "popular contracts: 0 in the deployment, 0 more by the index",
  ]);
});

test("refuses a bound that is no number", async () => {
  await expect(networks("refresh", "--least", "few")).rejects.toThrow(
    '--least: given "few", expected a whole number',
  );
});
