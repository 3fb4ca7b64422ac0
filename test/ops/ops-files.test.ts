import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { environment } from "../../bin/environment.ts";
import { documentedMetrics } from "../support/documented-metrics.ts";
import { useFolder } from "../support/use-folder.ts";

const ROOT = new URL("../..", import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

type Service = {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly secrets?: readonly (string | { readonly source: string })[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly restart?: string;
  readonly healthcheck?: unknown;
  readonly image?: string;
  readonly env_file?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly mem_limit?: string;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, unknown>>;
};
type Rule = { readonly alert: string; readonly expr: string; readonly labels: { readonly severity: string } };

const environmentOf = (name: string) => compose.services[name]?.environment ?? {};
const prometheus = parse(textOf("ops/prometheus/prometheus.yml")) as {
  readonly scrape_configs: readonly {
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
  }[];
};
const board = JSON.parse(textOf("ops/grafana/agent-health.json")) as {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
};
const shown = board.panels.flatMap(({ targets }) => targets?.map(({ expr }) => expr) ?? []);
const compose = parse(textOf("ops/compose.yml"), { merge: true }) as Compose;
const rules = (parse(textOf("ops/prometheus/rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

const SERVERS = ["serve-1", "serve-2"];
const OURS = ["migrate", "index", ...SERVERS, "work"];

test("compose runs one indexer, two servers and two workers after the migration, by commands that exist", () => {
  const commands = textOf("bin/ahs.ts");
  for (const name of OURS) {
    const [command] = compose.services[name]?.command ?? [];
    expect(commands).toContain(`\n  ${command}: [`);
    expect(compose.services[name]).toMatchObject({ image: "agent-health" });
  }
  for (const name of [...SERVERS, "work"]) {
    expect(compose.services[name]).toMatchObject({
      restart: "unless-stopped",
      depends_on: { migrate: { condition: "service_completed_successfully" } },
    });
  }
  expect(compose.services.work).toMatchObject({ deploy: { replicas: 2 } });
});

test("proxy and Prometheus ask every server of compose by its name", () => {
  const asked = SERVERS.map((name) => `${name}:4020`).join(" ");
  expect(compose.services.proxy?.environment?.SERVERS).toBe(`\${SERVERS:-${asked}}`);
  expect(textOf("ops/Caddyfile")).toContain(`reverse_proxy {$SERVERS:${asked}} {`);
  expect(
    prometheus.scrape_configs.flatMap((job) => job.static_configs?.flatMap(({ targets }) => targets)),
  ).toEqual(expect.arrayContaining(SERVERS.map((name) => `${name}:9464`)));
});

test("Prometheus scrapes services of compose at the ports where they show metrics", () => {
  const targets = prometheus.scrape_configs.flatMap(({ static_configs, dns_sd_configs }) => [
    ...(static_configs?.flatMap((config) => config.targets) ?? []),
    ...(dns_sd_configs?.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)) ?? []),
  ]);
  const { METRICS_PORT } = environmentOf("work");
  expect(targets.toSorted()).toEqual(
    [
      ...[...SERVERS, "work"].map((name) => `${name}:${METRICS_PORT}`),
      `index:${environment.shape.INDEX_PORT.parse(undefined)}`,
      "proxy:9180",
      "database-disk:9100",
    ].toSorted(),
  );
  for (const name of [...SERVERS, "index", "work"])
    expect(environmentOf(name)).toMatchObject({ METRICS_HOST: "0.0.0.0" });
});

test("only the proxy has ports outside, and everything is watched or was never started", () => {
  const published = Object.entries(compose.services).filter(([, service]) => service.ports !== undefined);
  expect(published.map(([name]) => name)).toEqual(["proxy"]);
  for (const name of ["postgres", "index", ...SERVERS, "work"])
    expect(compose.services[name]?.healthcheck).toBeDefined();
  // Of the image when it runs alone.
  expect(textOf("ops/Containerfile")).toMatch(/^HEALTHCHECK/m);
});

test("secrets are files, and every secret, volume and network that is named is declared", () => {
  for (const service of Object.values(compose.services)) {
    for (const secret of service.secrets ?? [])
      expect(compose.secrets).toHaveProperty(typeof secret === "string" ? secret : secret.source);
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      if (!source.startsWith(".")) expect(compose.volumes).toHaveProperty(source);
    }
    for (const network of service.networks ?? []) expect(compose.networks).toHaveProperty(network);
  }
  for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\/secrets\//);
  expect(textOf("ops/.gitignore")).toContain("secrets/");
});

test("backups are out of reach of the processes that serve, work and index", () => {
  const mounting = Object.entries(compose.services).filter(([, service]) =>
    service.volumes?.some((volume) => volume.startsWith("backups:")),
  );
  expect(mounting.map(([name]) => name)).toEqual(["migrate"]);
  expect(compose.services.migrate?.volumes).toEqual(
    expect.arrayContaining([...(compose.services.work?.volumes ?? []), "backups:/backups"]),
  );
});

test("users of the roles look for functions where PostgreSQL's own are, as documented", () => {
  for (const path of ["ops/postgres/logins.sh", "docs/database.md"]) {
    const text = textOf(path);
    const usersThat = (set: string) =>
      [...text.matchAll(new RegExp(`^alter role (\\S+) set ${set}`, "gm"))].map(([, user]) => user);
    const users = usersThat("role = ");
    expect(users.length).toBeGreaterThan(0);
    expect(usersThat("search_path = pg_catalog;")).toEqual(expect.arrayContaining(users));
  }
});

test("every container is confined, and has a limit of memory", () => {
  const added: Record<string, readonly string[] | undefined> = {
    postgres: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"],
    proxy: ["NET_BIND_SERVICE"],
  };
  for (const [name, service] of Object.entries(compose.services)) {
    expect(service).toMatchObject({
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      read_only: true,
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
    });
    expect([name, service.cap_add]).toEqual([name, added[name]]);
    expect(service.tmpfs).toContain("/tmp");
  }
  expect(textOf("ops/Containerfile")).toContain("RUN ln -s /tmp/ponder-env.d.ts ponder-env.d.ts");
});

test("images of others can be pinned by a variable that is documented, and the proxy gets no settings but its host and its servers", () => {
  const variables = textOf("ops/compose.env.example");
  const images = Object.entries(compose.services).filter(([name]) => !OURS.includes(name));
  expect(images.map(([name]) => name)).toEqual(expect.arrayContaining(["postgres", "proxy", "prometheus"]));
  for (const [, { image = "" }] of images) {
    const [, variable = "none"] = /^\$\{([A-Z_]+):-[^}]+\}$/.exec(image) ?? [];
    expect(variables).toContain(`${variable}=`);
    expect(textOf("docs/run-on-base.md")).toContain(variable);
  }
  expect(textOf("ops/Containerfile")).toMatch(/^ARG NODE_IMAGE=.*\nFROM \$\{NODE_IMAGE\}$/m);
  expect(Object.keys(compose.services.proxy?.environment ?? {})).toEqual(["SITE", "SERVERS"]);
  expect(compose.services.proxy?.env_file).toBeUndefined();
  expect(textOf("ops/.gitignore").split("\n")).toEqual(expect.arrayContaining([".env", "env"]));
});

test("no variable is set that no process reads", () => {
  const ours = OURS.flatMap((name) => Object.keys(environmentOf(name)));
  const lines = textOf("ops/env.example").match(/^[A-Z0-9_]+(?==)/gm) ?? [];
  const image =
    textOf("ops/Containerfile")
      .match(/^ENV .*/m)?.[0]
      .match(/[A-Z0-9_]+(?==)/g) ?? [];
  const known = new Set([...Object.keys(environment.shape), "NODE_ENV"]);
  expect([...ours, ...lines, ...image].filter((name) => !known.has(name))).toEqual([]);
});

test("the image copies what exists, runs as a user without rights and takes in nothing else", () => {
  const lines = textOf("ops/Containerfile").split("\n");
  const copied = lines
    .filter((line) => line.startsWith("COPY"))
    .flatMap((line) =>
      line
        .split(" ")
        .filter((part) => !part.startsWith("-"))
        .slice(1, -1),
    );
  expect(copied.length).toBeGreaterThan(8);
  for (const path of copied) expect(existsSync(new URL(path, ROOT))).toBe(true);
  const ignored = textOf("ops/Containerfile.containerignore");
  expect(ignored.trim().split("\n")).toEqual(["*", ...copied.map((path) => `!${path}`)]);
  expect(textOf("ops/Containerfile.dockerignore")).toBe(ignored);
  expect(lines).toContain("USER node");
});

test("an alert misses a replica as soon as there are fewer than compose runs", () => {
  const { expr = "" } = rules.find(({ alert }) => alert === "AhsReplicaMissing") ?? {};
  const [, wanted] = /< (\d+) /.exec(expr) ?? [];
  expect(expr).toContain('absent(up{job="ahs-work"})');
  expect(compose.services.work).toMatchObject({ deploy: { replicas: Number(wanted) } });
});

// Debian's `prometheus` has it; without it rules and queries are read, and not evaluated.
const PROMTOOL = "/usr/bin/promtool";
const HAS_PROMTOOL = existsSync(PROMTOOL);
if (!HAS_PROMTOOL && process.env.CI === "true") throw new Error("no promtool: install Debian's prometheus");

function promtool(...args: readonly string[]): void {
  const cwd = new URL("ops/prometheus", ROOT);
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { cwd });
  expect(status, `${stdout}${stderr}`).toBe(0);
}

test.skipIf(!HAS_PROMTOOL)("alerts fire when they should, and are silent when all is well", () => {
  promtool("check", "config", "prometheus.yml");
  promtool("test", "rules", "rules.test.yml");
});

const folder = useFolder();

test.skipIf(!HAS_PROMTOOL)("every query of the board is one that Prometheus understands", () => {
  const rules = shown.map((expr, at) => ({ record: `board:query${at}`, expr }));
  const file = join(folder, "board.yml");
  writeFileSync(file, stringify({ groups: [{ name: "board", rules }] }));
  promtool("check", "rules", file);
});

test("pages and tickets have receivers of their own", () => {
  const { route, receivers } = parse(textOf("ops/prometheus/alertmanager.example.yml")) as {
    readonly route: { readonly receiver: string; readonly routes: readonly { readonly receiver: string }[] };
    readonly receivers: readonly { readonly name: string }[];
  };
  const used = [route.receiver, ...route.routes.map(({ receiver }) => receiver)];
  expect(used.toSorted()).toEqual(receivers.map(({ name }) => name).toSorted());
  expect(textOf("ops/.gitignore")).toContain("prometheus/alertmanager.yml");
});

test("the board shows metrics that exist", () => {
  const documented = documentedMetrics();
  expect(shown.length).toBeGreaterThan(30);
  expect(shown.flatMap(oursIn).filter((name) => !documented.has(name))).toEqual([]);
});

test("every alert reads metrics that exist, and is named in docs/operate.md", () => {
  const documented = documentedMetrics();
  const operate = textOf("docs/operate.md");
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, labels } of rules) {
    expect(oursIn(expr).filter((name) => !documented.has(name))).toEqual([]);
    expect(operate).toContain(alert);
    expect(["page", "ticket"]).toContain(labels.severity);
  }
});

/** Our metrics in a query. */
function oursIn(expr: string): readonly string[] {
  return (expr.match(/\bahs_\w+/g) ?? []).map((name) => name.replace(/_bucket$/, ""));
}
