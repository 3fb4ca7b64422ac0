import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { type Address, getAddress, isAddress } from "viem";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import type { SanctionsFlag } from "../../service/model/features/types.ts";
import { createGuardedDownload, DownloadFailure } from "../../service/net/guarded-fetch.ts";
import { createNameResolver } from "../../service/net/public-address.ts";
import { createSanctionsContract, type SanctionsContract } from "../../service/sanctions/ask-contract.ts";
import { type ImportOutcome, importSdn } from "../../service/sanctions/import-list.ts";
import type { ImportRules } from "../../service/sanctions/plan-import.ts";
import { readImportedFlags, readSanctionsFlags } from "../../service/sanctions/sanctions.ts";
import { ageSeconds, readSanctionsSources, type SourceStatus } from "../../service/sanctions/sources.ts";
import { unpackList } from "../../service/sanctions/unpack-list.ts";
import { actionsOf, indexedDeployment, onlyOne, withDatabase } from "../command.ts";
import type { Config, Invocation } from "../config.ts";
import { openChainClient } from "../process.ts";
import { renderTable } from "../render-table.ts";

/** Usage of `ahs sanctions`. */
export const USAGE = `Usage: ahs sanctions import FILE|URL [--allow-empty] [--force] [--redirect-to HOST]...
       ahs sanctions status
       ahs sanctions check ADDRESS
import takes OFAC's sdn_advanced.xml, as it is or gzipped. A list that looks broken leaves the last one in force.
--redirect-to names a host that the URL may redirect to: OFAC's own hands out its files from another one.`;

/** The list has 130 MB; a gzip that unpacks to more than this is not it. */
const MAX_LIST_BYTES = 1_000_000_000;
const MAX_DOWNLOAD_BYTES = 500_000_000;
const DOWNLOAD_DEADLINE_MS = 15 * 60_000;

/** The web's answer in place of the list. */
export type Download = ReturnType<typeof createGuardedDownload>;

export type SanctionsDeps = {
  readonly db: Database;
  readonly out: (line: string) => void;
  readonly now: () => Date;
  readonly download: Download;
  /** Loads the deployment; throws if none is configured. */
  readonly chain: () => {
    readonly deployment: Pick<Deployment, "chainId" | "sanctionsList">;
    /** Null where no node is configured, or the chain has no such contract. */
    readonly contract: SanctionsContract | null;
  };
};

/** `ahs sanctions import|status|check` on the configured database. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const download = createGuardedDownload({
    resolve: createNameResolver(),
    deadlineMs: DOWNLOAD_DEADLINE_MS,
  });
  const chain = () => chainOf(config);
  await withDatabase(config, "sanctions", (db, { now }) =>
    runSanctions(args, { db, out, now, download, chain }),
  );
}

function chainOf(config: Config) {
  const deployment = indexedDeployment(config);
  const { rpcUrl } = config;
  const { sanctionsList } = deployment;
  const contract =
    rpcUrl === null || sanctionsList === null
      ? null
      : createSanctionsContract(openChainClient(rpcUrl), sanctionsList.address);
  return { deployment, contract };
}

/** Runs `ahs sanctions …`; throws with what was given and expected when the arguments, or the list, do not fit. */
export const runSanctions = actionsOf<SanctionsDeps>(USAGE, { import: importList, status, check });

async function importList(args: readonly string[], { db, out, now, download }: SanctionsDeps): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      "allow-empty": { type: "boolean", default: false },
      force: { type: "boolean", default: false },
      "redirect-to": { type: "string", multiple: true, default: [] },
    },
    allowPositionals: true,
  });
  const place = onlyOne(positionals, "import takes one file or URL", USAGE);
  const rules: ImportRules = { allowEmpty: values["allow-empty"], force: values.force };
  const bytes = /^[a-z][a-z0-9+.-]+:\/\//i.test(place)
    ? await downloaded(place, download, values["redirect-to"])
    : createReadStream(place);
  const outcome = await importSdn({ db, now }, unpackList(bytes, MAX_LIST_BYTES), rules).catch(
    (error: unknown) => {
      if (error instanceof DownloadFailure) throw importFailure(place, error.message);
      throw error;
    },
  );
  if (outcome.kind === "refused") throw importFailure(place, outcome.reason);
  for (const line of describeImport(outcome)) out(line);
}

async function downloaded(
  url: string,
  download: Download,
  redirectHosts: readonly string[],
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await download({ url, maxBytes: MAX_DOWNLOAD_BYTES, redirectHosts });
  switch (answer.kind) {
    case "open":
      return answer.bytes;
    case "status":
      throw importFailure(url, `the host answers with status ${answer.status}`);
    case "elsewhere":
      throw importFailure(url, `it redirects to ${answer.host}; --redirect-to ${answer.host} allows that`);
    case "failed":
      throw importFailure(url, answer.detail);
  }
}

function importFailure(place: string, reason: string): Error {
  return new Error(`${place} was not imported, and the last list stays in force: ${reason}`);
}

function describeImport(outcome: ImportOutcome & { readonly kind: "imported" }): string[] {
  const { list, listHash, added, changed, removed, unchanged } = outcome;
  const lines = [
    `ofac-sdn, edition ${list.edition}: ${list.entries.length} EVM addresses of ${list.parties} parties, list hash ${listHash}`,
    `${added} added, ${removed} removed, ${changed} under another entry, ${unchanged} unchanged; ${list.otherIds} ids of other kinds of chains`,
  ];
  if (list.malformedCount > 0) {
    lines.push(`${list.malformedCount} ids that should be EVM addresses but are not:`);
    for (const { value, currency, reference } of list.malformed)
      lines.push(`  ${currency} ${value} (OFAC ${reference})`);
  }
  return lines;
}

async function status(args: readonly string[], { db, out, now, chain }: SanctionsDeps): Promise<void> {
  parseArgs({ args: [...args], options: {} });
  const sources = await readSanctionsSources(db, chain().deployment);
  const header = ["source", "age", "checked at", "edition", "entries", "list hash", ""];
  const rows = sources.map((source) => [
    source.source,
    ageOf(source, now()),
    source.checkedAt?.toISOString() ?? "–",
    source.edition ?? "–",
    String(source.entries),
    source.listHash ?? "–",
    (source.unchecked ?? 0) > 0 ? `${source.unchecked} wallets not asked about yet` : "",
  ]);
  for (const line of renderTable([header, ...rows])) out(line);
}

async function check(args: readonly string[], { db, out, now, chain }: SanctionsDeps): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  const given = onlyOne(positionals, "check takes one address", USAGE);
  if (!isAddress(given, { strict: given !== given.toLowerCase() }))
    throw new Error(`check takes one address, got "${given}"\n${USAGE}`);
  const wallet = given.toLowerCase() as Address;
  const { deployment, contract } = chain();
  const sources = await readSanctionsSources(db, deployment);
  const flags = await flagsOf(db, { chainId: deployment.chainId, wallet, sources });
  out(`${getAddress(wallet)}: ${flags.length > 0 ? "sanctioned" : "on no list that is known"}`);
  const rows = sources.map((status) => {
    const flag = flags.find(({ source }) => source === status.source);
    return [status.source, describeFlag(status, flag), ageOf(status, now())];
  });
  for (const line of renderTable(rows)) out(line);
  if (contract !== null) out(await askNow(contract, wallet));
}

/** Reads the contract's events only if there is an index that holds them. */
async function flagsOf(
  db: Database,
  of: { readonly chainId: number; readonly wallet: Address; readonly sources: readonly SourceStatus[] },
): Promise<readonly SanctionsFlag[]> {
  const { chainId, wallet, sources } = of;
  const isIndexed = sources.some(
    ({ source, checkedAt }) => source === "chainalysis-oracle" && checkedAt !== null,
  );
  if (!isIndexed) return readImportedFlags(db, wallet);
  const found = await readSanctionsFlags(db, chainId, [wallet]);
  return found.get(wallet) ?? [];
}

function describeFlag({ checkedAt }: SourceStatus, flag: SanctionsFlag | undefined): string {
  if (checkedAt === null) return "nothing known";
  return flag === undefined ? "not listed" : `listed: ${flag.reference}, known since ${flag.detected_at}`;
}

async function askNow(contract: SanctionsContract, wallet: Address): Promise<string> {
  try {
    const listed = await contract.isSanctioned(wallet, "latest");
    return `the contract itself, asked now: ${listed ? "listed" : "not listed"}`;
  } catch (error) {
    return `the contract itself did not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const SECONDS_BY_UNIT = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** How long ago the source was known to be up to date, in its largest whole unit. */
function ageOf(status: SourceStatus, now: Date): string {
  const seconds = ageSeconds(status, now);
  if (seconds === null) return "never read";
  const [unit, length] = SECONDS_BY_UNIT.find(([, length]) => seconds >= length) ?? ["s", 1];
  return `${Math.floor(seconds / length)} ${unit} old`;
}
