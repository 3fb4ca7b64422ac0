import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Address } from "viem";
import type { LiveLogger } from "./live.ts";
import { AGENT_SERVICES_URL } from "./population/agent-document.ts";
import type { ArchetypeName } from "./population/plan-types.ts";
import { serviceDocumentAt } from "./population/service-documents.ts";

/** Name of the scripted provider of labels, as answers show it. */
export const DEMO_LABELS = "Scripted labels (demo)";

/** The answer of an agent's endpoint; it depends on the path alone. */
export type ServiceAnswer = { readonly status: number; readonly delayMs: number; readonly body: unknown };

const HOST = "127.0.0.1";
const LABELS_PATH = "/labels";
/** /ARCHETYPE/NUMBER with the name of a service. */
const SERVICE_PATH = /^\/([a-z0-9-]+)\/(\d{1,6})(?:\/(a2a|mcp))?$/;
const MAX_BODY_BYTES = 65_536;

const PROMPT_MS = 20;
const SLOW_MS = 1_800;

/**
 * Returns the answer of the endpoint at a path. One agent in ten fails and two in ten are slow, the first of each archetype
 * excepted; all agents of `always-failing` fail.
 */
export function answerAt(path: string): ServiceAnswer {
  const [, archetype, number, service] = SERVICE_PATH.exec(path) ?? [];
  if (archetype === undefined || number === undefined) {
    return { status: 404, delayMs: 0, body: { error: "no agent has this path" } };
  }
  const agent = `${archetype}/${number}`;
  const lot = createHash("sha256").update(agent).digest().readUInt16BE() % 10;
  if (archetype === "always-failing" || (number !== "0" && lot === 0)) {
    return { status: 503, delayMs: PROMPT_MS, body: { error: "this agent is out of service" } };
  }
  const delayMs = number !== "0" && lot <= 2 ? SLOW_MS : PROMPT_MS * (1 + lot);
  return { status: 200, delayMs, body: bodyOf(service, { name: `${archetype} ${number}`, path }) };
}

function bodyOf(service: string | undefined, { name, path }: { name: string; path: string }): unknown {
  switch (service) {
    case "a2a":
      return {
        name,
        description: "A simulated agent of the local chain.",
        version: "1.0.0",
        url: `${AGENT_SERVICES_URL}${path}`,
        capabilities: {},
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [],
      };
    case "mcp":
      return {
        jsonrpc: "2.0",
        id: 1,
        result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name, version: "1.0.0" } },
      };
    default:
      return { name, description: "A simulated agent of the local chain." };
  }
}

type Label = { readonly label: string; readonly category: string };

const WALLET_LABELS: Readonly<Partial<Record<ArchetypeName, Label>>> = {
  keeper: { label: "Keeper Bot", category: "automation" },
  "diverse-trader": { label: "Dex Trader", category: "defi" },
  "payment-agent": { label: "Merchant Payments", category: "payments" },
  "weekly-payroll": { label: "Payroll", category: "payments" },
  "escrow-worker": { label: "Freelance Agent", category: "work" },
  "oracle-feeder": { label: "Price Reporter", category: "data" },
  "x402-payer": { label: "API Buyer", category: "payments" },
  "x402-seller": { label: "API Seller", category: "payments" },
  "self-dealing-ring": { label: "Suspected Wash Trader", category: "risk" },
  "dirty-hygiene": { label: "Mixer Depositor", category: "risk" },
  "gas-war": { label: "Priority Gas Bidder", category: "mev" },
};

const CONTRACT_LABELS: Readonly<Record<string, Label>> = {
  usdc: { label: "USDC", category: "token" },
  weth: { label: "Wrapped Ether", category: "token" },
  usdcWethPool: { label: "USDC / WETH Pool", category: "defi" },
  jobEscrow: { label: "Job Escrow", category: "work" },
  mixer: { label: "Mixer", category: "risk" },
};

/** The accounts that the provider names; addresses are lower-case. */
export function demoLabels({
  samples,
  contracts,
}: {
  readonly samples: Readonly<Record<string, Address>>;
  readonly contracts: Readonly<Record<string, Address>>;
}): ReadonlyMap<string, Label> {
  const named = (
    labels: Readonly<Record<string, Label | undefined>>,
    at: Readonly<Record<string, Address>>,
  ) =>
    Object.entries(labels).flatMap(([name, label]): [string, Label][] => {
      const address = at[name];
      return address === undefined || label === undefined ? [] : [[address.toLowerCase(), label]];
    });
  return new Map([...named(WALLET_LABELS, samples), ...named(CONTRACT_LABELS, contracts)]);
}

export type DemoServices = {
  /** For LABELS_URL. */
  readonly labelsUrl: string;
  readonly origin: string;
  /** Stops listening and ends every request under way. */
  readonly stop: () => Promise<void>;
};

/** Between two tries to take the agents' port over from another demo. */
const TAKE_OVER_MS = 2_000;

/**
 * Serves the endpoints that the population's registration documents declare, the documents of its services as a gateway of IPFS
 * does, and a provider of labels, on loopback. Documents on chain name one port for the endpoints, whose answers depend on their
 * paths alone. Where another demo has that port, it answers for both, and this one takes the port over once it is free.
 */
export async function startDemoServices({
  labels,
  logger,
  port = Number(new URL(AGENT_SERVICES_URL).port),
}: {
  readonly labels: ReadonlyMap<string, Label>;
  readonly logger: Pick<LiveLogger, "warn">;
  readonly port?: number;
}): Promise<DemoServices> {
  const create = () =>
    createServer((request, response) => {
      void respond(request, response, labels).catch(() => response.destroy());
    });
  const agents = create();
  const isFirst = await listens(agents, port);
  const own = isFirst ? agents : create();
  if (!isFirst && !(await listens(own, 0))) throw new Error(`no port of ${HOST} is free`);
  const origin = `http://${HOST}:${(own.address() as AddressInfo).port}`;
  // Whatever keeps the port from this demo, the next try shows.
  const tryAgain = () => void listens(agents, port).catch(() => false);
  const takingOver = isFirst ? undefined : setInterval(tryAgain, TAKE_OVER_MS);
  if (!isFirst)
    logger.warn(`port ${port} of the agents' endpoints is taken: labels and documents are at ${origin}`);
  return {
    labelsUrl: `${origin}${LABELS_PATH}`,
    origin,
    stop: async () => {
      clearInterval(takingOver);
      await Promise.all([...new Set([own, agents])].map(stop));
    },
  };
}

/** Whether the server listens at the port now. */
async function listens(server: Server, port: number): Promise<boolean> {
  if (server.listening) return true;
  try {
    server.listen(port, HOST);
    await once(server, "listening");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  labels: ReadonlyMap<string, Label>,
): Promise<void> {
  const path = URL.parse(request.url ?? "/", AGENT_SERVICES_URL)?.pathname ?? "/";
  if (path === LABELS_PATH) {
    const label = labels.get(await readAddress(request));
    return end(response, { status: 200, body: { data: label === undefined ? [] : [label] } });
  }
  const document = serviceDocumentAt(path);
  if (document !== null) return end(response, { status: 200, body: JSON.parse(document) });
  const { delayMs, ...answer } = answerAt(path);
  await delay(delayMs);
  end(response, answer);
}

/** The `address` of a request's JSON, in lower case; empty if it is missing. */
async function readAddress(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`the request is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  const asked = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { readonly address?: unknown };
  return typeof asked.address === "string" ? asked.address.toLowerCase() : "";
}

function end(response: ServerResponse, { status, body }: Pick<ServiceAnswer, "status" | "body">): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
