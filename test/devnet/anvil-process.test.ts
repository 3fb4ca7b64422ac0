import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { startAnvil } from "../../devnet/anvil-process.ts";
import { isAlive, untilGone } from "./process-life.ts";

const OPTIONS = { chainId: 31_337, stateFile: null, genesisTime: 1_700_000_000 };

describe("startAnvil", () => {
  test("says which port is taken", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(startAnvil({ ...OPTIONS, port })).rejects.toThrow(
      `port ${port} for the local chain is taken by another process`,
    );
    server.close();
  });

  test("answers with the chosen chain id and genesis time, and is gone once stopped", async () => {
    const anvil = await startAnvil({ ...OPTIONS, port: await freePort() });
    const genesis = await anvil.rpc.request("eth_getBlockByNumber", "0x0", false);
    expect(await anvil.rpc.request("eth_chainId")).toBe("0x7a69");
    expect(genesis).toMatchObject({ timestamp: `0x${(1_700_000_000).toString(16)}` });
    await anvil.stop();
    expect(isAlive(anvil.pid)).toBe(false);
    expect(await anvil.exited).toBe("anvil exited with 0");
  });

  test("reports how the node died when it was killed from outside", async () => {
    const anvil = await startAnvil({ ...OPTIONS, port: await freePort() });
    process.kill(anvil.pid, "SIGKILL");
    expect(await anvil.exited).toBe("anvil exited with SIGKILL");
  });

  test("ends with the process that started it", async () => {
    const module = join(import.meta.dirname, "../../devnet/anvil-process.ts");
    const script = `
      import { startAnvil } from ${JSON.stringify(module)};
      const anvil = await startAnvil(${JSON.stringify({ ...OPTIONS, port: await freePort() })});
      process.stdout.write(String(anvil.pid), () => process.exit(0));`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let pid = "";
    parent.stdout.on("data", (chunk) => {
      pid += chunk;
    });
    await once(parent, "close");
    expect(Number(pid)).toBeGreaterThan(0);
    await untilGone(Number(pid));
  });
});
