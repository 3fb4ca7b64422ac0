/** The scoring interface on loopback in a process of its own, so that a test can read its memory and processor time. */
import { type AddressInfo, BlockList } from "node:net";
import { SERVER_LIMITS, startHttpServer } from "../../../bin/serve/http-server.ts";
import { fakeApp } from "../../service/api/fake-ports.ts";

/** About as long as the list of a night with 10,000 wallets. */
const LIST = Buffer.from(JSON.stringify({ leaves: "0123456789abcdef".repeat(640_000) }));

const { app } = fakeApp({ epochList: async () => ({ root: `0x${"00".repeat(32)}`, json: LIST }) });
const dropped: string[] = [];
const server = await startHttpServer(app.fetch, {
  host: "127.0.0.1",
  port: 0,
  limits: { ...SERVER_LIMITS, ...JSON.parse(process.argv[2] ?? "{}") },
  trustedProxies: { list: new BlockList(), none: true },
  onDrop: (reason) => dropped.push(reason),
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000, dropped });
});
process.send?.({ port: (server.address() as AddressInfo).port });
