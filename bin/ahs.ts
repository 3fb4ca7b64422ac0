import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Command, type Config, OPTION_VARIABLES, parseConfig } from "./config.ts";
import { describeFault } from "./describe-fault.ts";
import { endOnFault } from "./end-on-fault.ts";
import { localSettings } from "./local-settings.ts";
import { knownSecrets } from "./secrets/known-secrets.ts";
import { createScrub } from "./secrets/scrub.ts";

type Loaded = { readonly run: Command; readonly USAGE?: string };

/** Each command: its summary, and a loader of the command and its usage. `doctor` reads the settings itself, since it checks them. */
const COMMANDS: Readonly<Record<string, readonly [string, () => Promise<Loaded>]>> = {
  up: [
    "start everything on this machine: chain, database, index, workers, API",
    () => import("./commands/up.ts"),
  ],
  devnet: [
    "start a local chain with our contracts and a simulated population",
    () => import("./commands/devnet.ts"),
  ],
  index: [
    "follow the chain into the database",
    async () => ({ run: withoutOptions((await import("./commands/index-chain.ts")).indexChain) }),
  ],
  serve: [
    "serve the HTTP API",
    async () => ({ run: withoutOptions((await import("./commands/serve.ts")).serveApi) }),
  ],
  work: [
    "score, publish, warm, verify, deliver webhooks and run nightly jobs",
    async () => ({ run: withoutOptions((await import("./commands/work.ts")).work) }),
  ],
  migrate: ["update the database schema to the newest version", () => import("./commands/migrate.ts")],
  keys: ["create, list, rotate and revoke API keys", () => import("./commands/keys.ts")],
  score: ["show a wallet's score, or compare two policies", () => import("./commands/score.ts")],
  "verify-score": [
    "recompute a score from chain data and compare it",
    () => import("./commands/verify-score.ts"),
  ],
  sanctions: ["import, show and check sanctions lists", () => import("./commands/sanctions.ts")],
  threats: [
    "import, list and remove lists of phishing, scam, mixer and exploit addresses",
    () => import("./commands/threats.ts"),
  ],
  networks: [
    "refresh a network's public funders and popular contracts",
    () => import("./commands/networks.ts"),
  ],
  scan: [
    "run and list nightly scans of registries, documents and scores",
    () => import("./commands/scan.ts"),
  ],
  unfollow: ["exclude addresses from the index", () => import("./commands/unfollow.ts")],
  warm: ["read the past of followed wallets from the batch source", () => import("./commands/warm.ts")],
  payments: [
    "list payments per call and reconcile them with the chain",
    () => import("./commands/payments.ts"),
  ],
  review: ["list, show and decide verdicts on HOLD", () => import("./commands/review.ts")],
  texts: [
    "count stored texts by encryption key, and encrypt them with the current key",
    () => import("./commands/texts.ts"),
  ],
  doctor: [
    "check settings, database, node, keys and queues, and advise",
    async () => ({ run: noCommand, USAGE: (await import("./commands/doctor.ts")).USAGE }),
  ],
  quarantine: ["list and retry items whose work keeps failing", () => import("./commands/quarantine.ts")],
  deploy: [
    "deploy the oracle or the evaluator of verdicts, and write the deployment file",
    async () => ({
      run: (await import("./commands/deploy.ts")).run,
      USAGE: (await import("./deploy-options.ts")).DEPLOY_USAGE,
    }),
  ],
  escrow: [
    "list, allow and renew the escrows whose jobs the evaluator settles",
    () => import("./commands/escrow.ts"),
  ],
  keystore: ["create encrypted key files and show their addresses", () => import("./commands/keystore.ts")],
  roles: ["show and change the roles of the oracle's keys", () => import("./commands/roles.ts")],
  backup: [
    "write everything that is not derived from the chain to a file, while the service runs",
    async () => {
      const { backup: run, USAGE } = await import("./commands/backup.ts");
      return { run, USAGE };
    },
  ],
  restore: [
    "fill an empty database from a backup",
    async () => {
      const { restore: run, USAGE } = await import("./commands/backup.ts");
      return { run, USAGE };
    },
  ],
  snapshot: [
    "create or restore a file of chain-derived data for a second operator",
    () => import("./commands/snapshot.ts"),
  ],
  prune: [
    "delete unused index builds",
    async () => {
      const { prune: run, USAGE } = await import("./commands/reset.ts");
      return { run, USAGE };
    },
  ],
  reset: [
    "delete the local data, or what a database derived from its chain",
    async () => {
      const { reset: run, USAGE } = await import("./commands/reset.ts");
      return { run, USAGE };
    },
  ],
};

/** Commands that write a log, which includes the error that ends them. */
const LOGGING = ["devnet", "index", "serve", "work"];

/** Commands that set up or end a service, so that they take no settings from one that runs. */
const STARTS_ANEW = [...LOGGING, "up", "migrate", "deploy", "keystore", "restore", "reset"];

const SHARED_OPTIONS = `
Options of every command: --data-dir DIR --database-url URL --rpc-url URL --deployment FILE --port NUMBER
Each can be set in the environment instead: AHS_DATA_DIR, DATABASE_URL, RPC_URL, AHS_DEPLOYMENT, PORT.
Without DATABASE_URL, RPC_URL and AHS_DEPLOYMENT, commands use the service that "ahs up" runs in the data directory.
`;

async function main(argv: readonly string[]): Promise<void> {
  const [name, ...rest] = argv;
  if (name === "--version" || name === "-v") return showVersion();
  if (name === "help") return showUsage(rest[0]);
  if (argv.includes("--help") || argv.includes("-h")) return showUsage(name);
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || entry === undefined) {
    const why = name === undefined ? "" : `unknown command "${name}"\n\n`;
    process.stderr.write(`${why}${listCommands()}${SHARED_OPTIONS}`);
    process.exitCode = 2;
    return;
  }
  if (name === "doctor") return examine(rest);
  const { env, args } = settingsFor(name, rest);
  const { run } = await entry[1]();
  const config = parseConfig(env);
  if (LOGGING.includes(name)) await logFaults(config, name);
  await run({ config, args, out: (line) => process.stdout.write(`${line}\n`) });
}

function listCommands(): string {
  const lines = Object.entries(COMMANDS).map(([name, [summary]]) => `  ${name.padEnd(12)}  ${summary}\n`);
  return `Usage: npm run ahs -- COMMAND [options]\n\n${lines.join("")}\nahs COMMAND --help shows the options of a command; ahs --version the version.\n`;
}

async function showUsage(name: string | undefined): Promise<void> {
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (entry === undefined) {
    process.stdout.write(`${listCommands()}${SHARED_OPTIONS}`);
    return;
  }
  const [summary, load] = entry;
  const { USAGE = `Usage: ahs ${name}` } = await load();
  process.stdout.write(`ahs ${name}: ${summary}\n\n${USAGE}\n${SHARED_OPTIONS}`);
}

function showVersion(): void {
  const file = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  process.stdout.write(`ahs ${(JSON.parse(file) as { version: string }).version}\n`);
}

async function logFaults(config: Config, name: string): Promise<void> {
  const { createLogger } = await import("./process.ts");
  const logger = createLogger(config, name);
  endOnFault((error) => logger.fatal({ err: error }, "uncaught error: the process ends"));
}

/** Runs `doctor`, which reads the settings itself, since it checks them. */
async function examine(argv: readonly string[]): Promise<void> {
  const { doctor } = await import("./commands/doctor.ts");
  const lines: string[] = [];
  const isHealthy = await doctor({ ...settingsFor("doctor", argv), out: (line) => lines.push(line) });
  // Unanswered checks may hold open connections, which would keep the process alive.
  process.stdout.write(`${lines.join("\n")}\n`, () => process.exit(isHealthy ? 0 : 1));
}

/** `doctor` is run by examine(). */
async function noCommand(): Promise<void> {
  throw new Error("doctor has a run of its own");
}

/** Refuses options and arguments other than those of every command. */
function withoutOptions(command: Command): Command {
  return async (invocation) => {
    parseArgs({ args: [...invocation.args], options: {} });
    await command(invocation);
  };
}

/** Settings of one command: options, then the environment, then the service that `ahs up` runs in the data directory. */
function settingsFor(name: string, argv: readonly string[]): { env: NodeJS.ProcessEnv; args: string[] } {
  const { env, args } = applyOverrides(argv);
  const local = STARTS_ANEW.includes(name) ? null : localSettings(env);
  if (local === null) return { env, args };
  process.stderr.write(`ahs: using the service of ${local.file}\n`);
  return { env: { ...env, ...local.settings }, args };
}

function applyOverrides(argv: readonly string[]): { env: NodeJS.ProcessEnv; args: string[] } {
  const env = { ...process.env };
  const args: string[] = [];
  const { tokens } = parseArgs({ args: [...argv], strict: false, allowPositionals: true, tokens: true });
  const overridden = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== "option" || !(token.name in OPTION_VARIABLES)) continue;
    const value = token.value ?? argv[token.index + 1];
    if (value === undefined) throw new Error(`${token.rawName} needs a value`);
    env[OPTION_VARIABLES[token.name as keyof typeof OPTION_VARIABLES]] = value;
    overridden.add(token.index);
    if (token.value === undefined) overridden.add(token.index + 1);
  }
  for (const [index, argument] of argv.entries()) if (!overridden.has(index)) args.push(argument);
  return { env, args };
}

/** The environment of a failed command, even if its options cannot be parsed. */
function environmentOf(argv: readonly string[]): NodeJS.ProcessEnv {
  try {
    return applyOverrides(argv).env;
  } catch {
    // The error that is being shown names the option without a value.
    return process.env;
  }
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as `head` does.
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

endOnFault(showFault);
main(process.argv.slice(2)).then(closeParentChannel, (error: unknown) => {
  showFault(error);
  // Open connections of a failed command would keep the process alive.
  process.exit(1);
});

function showFault(error: unknown): void {
  const shown = error instanceof Error ? error : new Error(String(error));
  const argv = process.argv.slice(3);
  const env = environmentOf(argv);
  const detail = process.env.LOG_LEVEL === "debug" ? shown.stack : describeFault(shown, { argv, env });
  process.stderr.write(`ahs: ${createScrub(knownSecrets(env))(detail ?? "")}\n`);
}

/** An open channel to the parent process would keep this process alive. */
function closeParentChannel(): void {
  if (process.connected) process.disconnect();
}
