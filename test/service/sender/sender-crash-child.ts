import { startSender } from "./sender-under-test.ts";

/**
 * A sender that kills its own process at the given point of its n-th broadcast, as a power cut would: "unsent" before the
 * node has the transaction, "sent" after it.
 */
const [databaseUrl, rpcUrl, point, nth] = process.argv.slice(2);
if (databaseUrl === undefined || rpcUrl === undefined)
  throw new Error("expected DATABASE_URL RPC_URL POINT NTH");

let broadcasts = 0;
startSender(
  { databaseUrl, rpcUrl },
  {
    rpc: (real) => ({
      ...real,
      broadcast: async (raw) => {
        broadcasts += 1;
        const isLast = broadcasts === Number(nth);
        if (isLast && point === "unsent") process.kill(process.pid, "SIGKILL");
        await real.broadcast(raw);
        if (isLast && point === "sent") process.kill(process.pid, "SIGKILL");
      },
    }),
  },
);
