import { afterEach, expect, test } from "vitest";
import { createUrlVisitor } from "../../../service/scan/url-visitor.ts";
import { serveHttp, type TestServer } from "../net/hostile-server.ts";

const REFUSED =
  "The URL must be https, without user information, on an allowed port of a host whose name resolves, and to public addresses alone.";

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
      const found = names[name];
      if (found === undefined) throw new Error("no such name");
      return found;
    },
  },
  monotonicMs: () => performance.now(),
  maxAtOnce: 1,
});

test.each([
  ["https://public.test/x", null],
  ["https://nowhere.test/", REFUSED],
  ["https://inside.test/", REFUSED],
  ["https://mixed.test/", REFUSED],
  ["http://public.test/", REFUSED],
  ["https://public.test:22/", REFUSED],
  ["https://user@public.test/", REFUSED],
  ["http://127.0.0.1:4020/", REFUSED],
  ["https://localhost/", REFUSED],
  ["https://[::ffff:127.0.0.1]/", REFUSED],
  ["https://169.254.169.254/", REFUSED],
  ["ftp://public.test/", REFUSED],
  ["file:///etc/passwd", REFUSED],
  ["agent.eth", "The URL cannot be read as an absolute URL of at most 2,048 characters."],
])("%s is refused before it is visited: %s", async (url, refusal) => {
  expect(await visitor.refusal(url)).toBe(refusal);
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
