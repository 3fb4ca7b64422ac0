import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Address, getAddress, isAddress } from "viem";
import { z } from "zod";
import { loadDeployment, samplingOf } from "../../service/chain/deployments.ts";
import { createChainReader } from "../../service/chain/node/chain-reader.ts";
import { createOtterscanSource } from "../../service/ingest/history/otterscan-source.ts";
import { readText } from "../../service/net/read-text.ts";
import { type RecordedScore, recordedScoreSchema } from "../../service/scores/verify/compare-scores.ts";
import { scanBlocks, searchSource } from "../../service/scores/verify/read-own-calls.ts";
import { type Verification, verifyScore } from "../../service/scores/verify/verify-score.ts";
import { type Config, type Invocation, requireNodeSettings } from "../config.ts";
import { shutdownSignal } from "../process.ts";
import { renderTable } from "../render-table.ts";

/** Usage of `ahs verify-score`. */
export const USAGE = `Usage: ahs verify-score ADDRESS [--service URL] [--record FILE] [--scan]
Computes a score again from the node (RPC_URL) and the files that the record names.
The record is FILE, an answer of GET /ahs/ADDRESS?include=features, or is bought with the key in AHS_API_KEY.
Without Otterscan's methods at the node, --scan reads every block from the first that the record covers.`;

/** Nodes add the rest of a block to a page. */
const PAGE_SIZE = 25;
const REQUEST = { timeoutMs: 30_000, retries: 4, retryMs: 250 };
const SERVICE_TIMEOUT_MS = 60_000;
/** A record or a file of the service, which is not trusted. The largest, of 20,000 counterparties, has a few megabytes. */
const MAX_ANSWER_BYTES = 33_554_432;

/** `ahs verify-score`: says whether a score follows from the chain, and what differs where it does not; fails then. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const wanted = parse(args, config);
  const { rpcUrl, deploymentFile } = requireNodeSettings(config);
  const deployment = loadDeployment(deploymentFile);
  const { market, accounts } = deployment;
  const recorded = await readRecord(wanted, config);
  const client = createChainReader({
    ...REQUEST,
    url: rpcUrl,
    signal: shutdownSignal(),
    onRequest: () => undefined,
  });
  const source = createOtterscanSource({ url: rpcUrl, pageSize: PAGE_SIZE });
  const verification = await verifyScore(recorded, {
    client,
    find: wanted.scan ? scanBlocks(client) : searchSource(source, () => performance.now()),
    readFile: (hash) => getJson(new URL(`/inputs/${hash}`, wanted.service), {}),
    chain: {
      entryPoints: new Set(accounts.entryPoints.map(lower)),
      wrappedNative: market.wrappedNative === null ? null : lower(market.wrappedNative),
      rule: samplingOf(deployment),
    },
  });
  for (const line of report(recorded, verification)) out(line);
  if (verification.differences.length > 0) {
    throw new Error(
      `the record of ${getAddress(recorded.address)} does not follow from the chain and the files named`,
    );
  }
}

function parse(args: readonly string[], config: Config) {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      service: { type: "string" },
      record: { type: "string" },
      scan: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0 || !isAddress(given, { strict: given !== lower(given) })) {
    throw new Error(`expected one address, got "${positionals.join(" ")}"\n${USAGE}`);
  }
  const service = values.service ?? config.publicUrl ?? `http://${config.host}:${config.port}`;
  if (!URL.canParse(service)) throw new Error(`expected a URL after --service, got "${service}"`);
  return {
    wallet: lower(given),
    service: new URL(service),
    record: values.record ?? null,
    scan: values.scan,
  };
}

async function readRecord(
  { wallet, service, record }: ReturnType<typeof parse>,
  { apiKey }: Config,
): Promise<RecordedScore> {
  const answer =
    record === null ? await buyRecord(new URL(`/ahs/${wallet}`, service), apiKey) : readJsonFile(record);
  const parsed = recordedScoreSchema.safeParse(answer);
  if (!parsed.success) {
    throw new Error(`not an answer of GET /ahs with include=features:\n${z.prettifyError(parsed.error)}`);
  }
  if (parsed.data.address !== wallet) {
    throw new Error(`the record is of ${getAddress(parsed.data.address)}, not of ${getAddress(wallet)}`);
  }
  return parsed.data;
}

async function buyRecord(url: URL, apiKey: string | null): Promise<unknown> {
  if (apiKey === null) throw new Error(`neither --record nor AHS_API_KEY is given\n${USAGE}`);
  url.searchParams.set("include", "features");
  return getJson(url, { "x-api-key": apiKey });
}

function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path} cannot be read as JSON: ${error instanceof Error ? error.message : error}`);
  }
}

async function getJson(url: URL, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) }).catch(
    (error: unknown) => {
      throw new Error(`${url.origin} cannot be reached`, { cause: error });
    },
  );
  const text = await readText(answer, MAX_ANSWER_BYTES);
  if (text === null)
    throw new Error(`${url.origin}${url.pathname} answered with more than ${MAX_ANSWER_BYTES} bytes`);
  if (!answer.ok)
    throw new Error(`${url.origin}${url.pathname} answered ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

function report(recorded: RecordedScore, { recomputed, calls, differences }: Verification): string[] {
  const { outcome, modelVersion, asOf } = recomputed;
  const score =
    outcome.kind === "scored" ? `AHS ${outcome.ahsScore} ${outcome.grade}` : "insufficient history";
  const head = `${getAddress(recorded.address)}: ${score} by ${modelVersion} as of block ${asOf.blockNumber}, from ${calls} own calls`;
  if (differences.length === 0) {
    const rest = recorded.mode === "3D" ? "; D3 is not verified: probes are in no file" : "";
    return [
      head,
      `agrees: every line, the score and the inputs hash follow from the chain and the files named${rest}`,
    ];
  }
  const rows = differences.map(({ what, recorded: given, recomputed: found }) => [what, given, found]);
  return [head, ...renderTable([["differs", "recorded", "recomputed"], ...rows])];
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}
