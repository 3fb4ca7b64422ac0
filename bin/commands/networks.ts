import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Address, getAddress } from "viem";
import { addressesIn, type Deployment, type KnownAccount } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import {
  type Candidate,
  readCommonFunders,
  readPopularContracts,
} from "../../service/ingest/network-candidates.ts";
import { readLabelFile } from "../../service/reports/labels/label-files.ts";
import { actionsOf, indexedDeployment, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

/** Usage of `ahs networks`. */
export const USAGE = `Usage: ahs networks refresh [--from FOLDER] [--least N]
Compares the public funders and popular contracts of the deployment with what the own index shows: accounts that funded
N others first or more, and contracts that N accounts called or more (50 unless given). FOLDER holds public files of labels,
JSON, CSV or SQL, whose licences you read; their names are shown beside. Nothing is written: add an account to the file of
the network with its name, source and date once you have checked it. = is in the deployment, + is not.`;

const LEAST = 50;
/** Public files of labels have some 4 MB. */
const MAX_BYTES = 64_000_000;
const MAX_FILES = 100;

type NetworksDeps = {
  readonly db: Database;
  readonly deployment: Pick<Deployment, "chainId" | "accounts">;
  readonly out: (line: string) => void;
};

/** `ahs networks refresh` on the configured database. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const deployment = indexedDeployment(config);
  await withDatabase(config, "networks", (db) => runNetworks(args, { db, deployment, out }));
}

/** Runs `ahs networks …`; throws with what was given and expected when the arguments, or the files, do not fit. */
export const runNetworks = actionsOf<NetworksDeps>(USAGE, { refresh });

async function refresh(args: readonly string[], { db, deployment, out }: NetworksDeps): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { from: { type: "string" }, least: { type: "string", default: String(LEAST) } },
  });
  const least = Number(values.least);
  if (!Number.isSafeInteger(least) || least < 1)
    throw new Error(`--least: given "${values.least}", expected a whole number from 1\n${USAGE}`);
  const names = values.from === undefined ? [] : readNames(values.from);
  const { chainId, accounts } = deployment;
  const of = { chainId, least };
  show("public funders", {
    known: accounts.publicFunders,
    found: await readCommonFunders(db, of),
    names,
    out,
  });
  show("popular contracts", {
    known: accounts.popularContracts ?? [],
    found: await readPopularContracts(db, of),
    names,
    out,
  });
}

type Names = { readonly file: string; readonly byAddress: ReadonlyMap<Address, string> };

function readNames(folder: string): readonly Names[] {
  const files = readdirSync(folder)
    .filter((file) => /\.(json|csv|sql)$/.test(file))
    .sort();
  if (files.length === 0 || files.length > MAX_FILES)
    throw new Error(`${folder} has ${files.length} files of labels, expected 1 to ${MAX_FILES}`);
  return files.map((file) => {
    const path = join(folder, file);
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, expected ${MAX_BYTES} at most`);
    return { file, byAddress: readLabelFile({ name: file, text: readFileSync(path, "utf8") }) };
  });
}

function show(
  title: string,
  {
    known,
    found,
    names,
    out,
  }: {
    readonly known: readonly KnownAccount[];
    readonly found: readonly Candidate[];
    readonly names: readonly Names[];
    readonly out: (line: string) => void;
  },
): void {
  const deployed = addressesIn(known);
  const counts = new Map(found.map(({ address, accounts }) => [address, accounts]));
  const all = [
    ...deployed,
    ...found.map(({ address }) => address).filter((address) => !deployed.has(address)),
  ];
  const rows = all.map((address) => {
    const named = names.flatMap(({ file, byAddress }) => {
      const name = byAddress.get(address);
      return name === undefined ? [] : [`${name} (${file})`];
    });
    const accounts = counts.get(address);
    const sign = deployed.has(address) ? "=" : "+";
    return [
      sign,
      getAddress(address),
      accounts === undefined ? "–" : `${accounts} accounts`,
      named.join("; "),
    ];
  });
  out(`${title}: ${deployed.size} in the deployment, ${all.length - deployed.size} more by the index`);
  for (const line of renderTable(rows)) out(line);
}
