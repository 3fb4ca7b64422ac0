import { afterEach, expect, test } from "vitest";
import { createUrlVisitor } from "../../../../service/registries/probes/probe-endpoint.ts";
import { serveHttp, type TestServer } from "../../net/hostile-server.ts";

const NOT_PUBLIC = "The name of the URL's host must resolve, and to public addresses alone.";
const NOT_HTTPS = "The URL must be https.";
const NOT_AN_ADDRESS = "The URL must name a public address.";

const servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const names: Record<string, readonly string[]> = {
  "public.test": ["93.184.215.14"],
  "inside.test": ["10.0.0.7"],
  "mixed.test": ["93.184.215.14", "127.0.0.1"],
};
/** As in production, but for the names. */
const visitor = createUrlVisitor({
  guard: {
    resolve: async (name) => {
      if (name === "unanswered.test") throw new Error("connect ECONNREFUSED");
      return names[name] ?? [];
    },
  },
  monotonicMs: () => performance.now(),
  maxAtOnce: 1,
});

test.each([
  ["https://public.test/x", null],
  ["https://nowhere.test/", NOT_PUBLIC],
  ["https://inside.test/", NOT_PUBLIC],
  ["https://mixed.test/", NOT_PUBLIC],
  ["http://public.test/", NOT_HTTPS],
  ["https://public.test:22/", "The URL must be on port 443 or 8443, got 22."],
  ["https://user@public.test/", "The URL must be without user name and password."],
  ["http://127.0.0.1:4020/", NOT_HTTPS],
  ["https://localhost/", NOT_AN_ADDRESS],
  ["https://[::ffff:127.0.0.1]/", NOT_AN_ADDRESS],
  ["https://169.254.169.254/", NOT_AN_ADDRESS],
  [
    "https://printer.local/",
    "The URL must name a host of the internet: a name with a dot, and none of this machine or its network.",
  ],
  ["ftp://public.test/", NOT_HTTPS],
  ["file:///etc/passwd", NOT_HTTPS],
  ["agent.eth", "The URL cannot be read as an absolute URL of at most 2,048 characters."],
])("%s is refused before it is visited: %s", async (url, error) => {
  expect(await visitor.refusal(url)).toEqual(error === null ? null : { kind: "refused", error });
});

test("a name for which no name server answers is not refused for good", async () => {
  expect(await visitor.refusal("https://unanswered.test/")).toEqual({ kind: "unresolved" });
});

test("a visit checks the URL anew: a name that leads inside by then is refused", async () => {
  names["rebound.test"] = ["93.184.215.14"];
  expect(await visitor.refusal("https://rebound.test/")).toBeNull();
  names["rebound.test"] = ["127.0.0.1"];
  expect(await visitor.reserve()?.visit("https://rebound.test/")).toMatchObject({
    outcome: "refused",
    status: null,
  });
});

test("no more visits are under way than allowed", async () => {
  let release = () => {};
  const server = await serveHttp((_request, response) => {
    release = () => response.end("ok");
  });
  servers.push(server);
  const local = createUrlVisitor({
    guard: { resolve: async () => [], loopback: "allowed" },
    monotonicMs: () => performance.now(),
    maxAtOnce: 1,
  });
  const url = `http://127.0.0.1:${server.port}/`;
  const place = local.reserve();
  expect(local.reserve()).toBeNull();
  const first = place?.visit(url);
  place?.release();
  // Released while the visit is under way, the place is taken until it is over.
  expect(local.reserve()).toBeNull();
  const wait = setInterval(() => release(), 5);
  expect(await first).toMatchObject({ outcome: "ok", status: 200 });
  clearInterval(wait);
  const next = local.reserve();
  next?.release();
  next?.release();
  await expect(next?.visit(url)).rejects.toThrow("a reserved visit was made or released before");
  expect([local.reserve() === null, local.reserve()]).toEqual([false, null]);
});
