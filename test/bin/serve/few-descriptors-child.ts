import type { AddressInfo } from "node:net";
import { createLogger } from "../../../bin/process.ts";
import { SERVER_LIMITS, startHttpServer, watchDescriptors } from "../../../bin/serve/http-server.ts";
import { readTrustedProxies } from "../../../service/access/client-address.ts";

const trustedProxies = readTrustedProxies([]);
if (trustedProxies === null) throw new Error("an empty list was not read");
const server = await startHttpServer(() => new Response("here"), {
  ...{ host: "127.0.0.1", port: 0, limits: SERVER_LIMITS, onDrop: () => undefined, trustedProxies },
});
watchDescriptors(server, createLogger({ logLevel: "info" }, "serve"));
process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`);
