import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { freePort, freePortFrom, requireFreePort } from "../../../bin/supervisor/child-process.ts";

test("a free port is outside those that a system gives to a connection or to another listener", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(ports.filter((port) => port < 12_000 || port >= 32_000)).toEqual([]);
});

test("a port that is taken is refused by name before anything is started, or the next one is used", async () => {
  const port = await freePort();
  await expect(freePortFrom(port)).resolves.toBe(port);
  await expect(requireFreePort("127.0.0.1", port)).resolves.toBeUndefined();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  await expect(requireFreePort("127.0.0.1", port)).rejects.toMatchObject({
    code: "EADDRINUSE",
    port,
  });
  expect(await freePortFrom(port)).toBeGreaterThan(port);
  server.close();
});
