import { parseArgs } from "node:util";
import { type Command, type Config, OPTION_VARIABLES, parseConfig } from "./config.ts";
import { endOnFault } from "./end-on-fault.ts";
import { knownSecrets } from "./secrets/known-secrets.ts";
import { createScrub } from "./secrets/scrub.ts";

/** Each command: its line in the list of commands, and a loader of the command and its own usage; null for `doctor`, which reads the settings itself. */
const COMMANDS: Readonly<
  Record<
    string,
    readonly [string, (() => Promise<{ readonly run: Command; readonly USAGE?: string }>) | null]
  >
> = {
  up: [
    "start everything on this machine: chain, database, index, workers, API",
    () => import("./commands/up.ts"),
  ],
  devnet: [
    "a local chain with our contracts and a simulated population",
    () => import("./commands/devnet.ts"),
  ],
  index: [
    "follow the chain into the database",
    async () => ({ run: withoutOptions((await import("./commands/index-chain.ts")).indexChain) }),
  ],
  serve: [
    "the HTTP API",
    async () => ({ run: withoutOptions((await import("./commands/serve.ts")).serveApi) }),
  ],
  work: [
    "score, publish, nightly jobs",
    async () => ({ run: withoutOptions((await import("./commands/work.ts")).work) }),
  ],
  migrate: [
    "bring the database schema to the newest version; --roles makes the roles of the processes",
    () => import("./commands/migrate.ts"),
  ],
  keys: ["create | list | rotate | revoke API keys", () => import("./commands/keys.ts")],
  score: [
    "what the model says of one wallet, line by line with --explain; what another policy would move",
    () => import("./commands/score.ts"),
  ],
  "verify-score": [
    "compute a score again from a node and the files it names, and compare",
    () => import("./commands/verify-score.ts"),
  ],
  sanctions: ["import | status | check: the sanctions lists", () => import("./commands/sanctions.ts")],
  threats: [
    "import | list | remove: lists of phishing, scam, mixer and exploit addresses",
    () => import("./commands/threats.ts"),
  ],
  networks: [
    "refresh: the deployment's public funders and popular contracts, against the index and public labels",
    () => import("./commands/networks.ts"),
  ],
  scan: [
    "run | list | show: scans of registries, documents and all scores, as each night",
    () => import("./commands/scan.ts"),
  ],
  unfollow: [
    "list | add | remove: addresses that are not followed, whatever names them on the chain",
    () => import("./commands/unfollow.ts"),
  ],
  warm: [
    "read the past of followed wallets from the batch source, as the worker does by itself",
    () => import("./commands/warm.ts"),
  ],
  payments: [
    "list | reconcile: what callers paid per call, against the chain",
    () => import("./commands/payments.ts"),
  ],
  review: [
    "list | show | decide: verdicts on HOLD, the longest held first",
    () => import("./commands/review.ts"),
  ],
  doctor: [
    "look at settings, database, node, keys and queues, and say what to do; exit 1 where something fails",
    null,
  ],
  quarantine: [
    "list | retry [KIND]: items that are left out because their work fails, with the error",
    () => import("./commands/quarantine.ts"),
  ],
  deploy: [
    "deploy the oracle, or the evaluator of verdicts, and write the deployment file",
    async () => ({
      run: (await import("./commands/deploy.ts")).run,
      USAGE: (await import("./deploy-options.ts")).DEPLOY_USAGE,
    }),
  ],
  escrow: [
    "list | allow | renew: the escrows whose jobs the evaluator settles",
    () => import("./commands/escrow.ts"),
  ],
  keystore: [
    "create | address: encrypted files for the keys of roles",
    () => import("./commands/keystore.ts"),
  ],
  roles: [
    "show | set-publisher | set-signer | remove-signer | transfer-ownership | accept-ownership",
    () => import("./commands/roles.ts"),
  ],
  backup: [
    "FILE: everything that is not derived from the chain, of one moment, while the service runs",
    async () => ({ run: (await import("./commands/backup.ts")).backup }),
  ],
  restore: [
    "FILE: fills an empty database from a backup",
    async () => ({ run: (await import("./commands/backup.ts")).restore }),
  ],
  snapshot: [
    "create | restore FILE: what is derived from the chain, with its scores, for a second operator",
    () => import("./commands/snapshot.ts"),
  ],
  prune: [
    "lists unused builds of the index; --yes drops them",
    async () => ({ run: (await import("./commands/reset.ts")).prune }),
  ],
  reset: [
    "clear the local data; --index only what is derived from the chain, with --yes where that is not the local one",
    async () => ({ run: (await import("./commands/reset.ts")).reset }),
  ],
};

/** Commands that write a log, which includes the error that ends them. */
const LOGGING = ["devnet", "index", "serve", "work"];

const SHARED_OPTIONS = `
Options of every command: --data-dir DIR --database-url URL --rpc-url URL --deployment FILE --port NUMBER
Each can be set in the environment instead: AHS_DATA_DIR, DATABASE_URL, RPC_URL, AHS_DEPLOYMENT, PORT.
`;

async function main(argv: readonly string[]): Promise<void> {
  const [name, ...rest] = argv;
  if (name === "help") return showUsage(rest[0]);
  if (argv.includes("--help") || argv.includes("-h")) return showUsage(name);
  const entry = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || entry === undefined) {
    const why = name === undefined ? "" : `unknown command "${name}"\n\n`;
    process.stderr.write(`${why}${listCommands()}${SHARED_OPTIONS}`);
    process.exitCode = 2;
    return;
  }
  const [, load] = entry;
  if (load === null) return examine(rest);
  const { env, args } = applyOverrides(rest);
  const { run } = await load();
  const config = parseConfig(env);
  if (LOGGING.includes(name)) await logFaults(config, name);
  await run({ config, args, out: (line) => process.stdout.write(`${line}\n`) });
}

function listCommands(): string {
  const lines = Object.entries(COMMANDS).map(([name, [summary]]) => `  ${name.padEnd(10)}  ${summary}\n`);
  return `Usage: npm run ahs -- COMMAND [options]\n\n${lines.join("")}\nahs COMMAND --help says more of those that have actions or many options.\n`;
}

async function showUsage(command: string | undefined): Promise<void> {
  const own = command === undefined ? undefined : (await COMMANDS[command]?.[1]?.())?.USAGE;
  process.stdout.write(`${own === undefined ? listCommands() : `${own}\n`}${SHARED_OPTIONS}`);
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
  const isHealthy = await doctor({ ...applyOverrides(argv), out: (line) => lines.push(line) });
  // Unanswered checks may hold open connections, which would keep the process alive.
  process.stdout.write(`${lines.join("\n")}\n`, () => process.exit(isHealthy ? 0 : 1));
}

/** Refuses options and arguments other than those of every command. */
function withoutOptions(command: Command): Command {
  return async (invocation) => {
    parseArgs({ args: [...invocation.args], options: {} });
    await command(invocation);
  };
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
  const detail = process.env.LOG_LEVEL === "debug" ? shown.stack : shown.message;
  const scrub = createScrub(knownSecrets(environmentOf(process.argv.slice(3))));
  process.stderr.write(`ahs: ${scrub(detail ?? "")}\n`);
}

/** An open channel to the parent process would keep this process alive. */
function closeParentChannel(): void {
  if (process.connected) process.disconnect();
}
