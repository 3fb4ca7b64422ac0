import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { environment } from "../../bin/environment.ts";
import { documentedMetrics } from "../support/documented-metrics.ts";

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

const CREDENTIALS = [
  "X-API-Key",
  "Authorization",
  "Payment-Signature",
  "X-Payment-Claim",
  "Sign-In-With-X",
  "Cookie",
];
const compose = parse(textOf("ops/compose.yml"), { merge: true }) as Compose;
const rules = (parse(textOf("ops/prometheus/rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

test("compose runs one indexer, two servers and two workers after the migration, by commands that exist", () => {
  const commands = textOf("bin/ahs.ts");
  for (const name of ["migrate", "index", "serve", "work"]) {
    const [command] = compose.services[name]?.command ?? [];
    expect(commands).toContain(`\n  ${command}: [`);
    expect(compose.services[name]).toMatchObject({ image: "agent-health" });
  }
  for (const name of ["serve", "work"]) {
    expect(compose.services[name]).toMatchObject({
      deploy: { replicas: 2 },
      restart: "unless-stopped",
      depends_on: { migrate: { condition: "service_completed_successfully" } },
    });
  }
});

test("only the proxy has ports outside, and everything is watched or was never started", () => {
  const published = Object.entries(compose.services).filter(([, service]) => service.ports !== undefined);
  expect(published.map(([name]) => name)).toEqual(["proxy"]);
  for (const name of ["postgres", "index", "serve", "work"])
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

test("users of the roles look for functions where PostgreSQL's own are, as the documents tell it", () => {
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

test("images of others can be pinned by a variable that is documented, and the proxy gets no settings but its host", () => {
  const variables = textOf("ops/compose.env.example");
  for (const name of ["postgres", "proxy"]) {
    const [, variable = "none"] = /^\$\{([A-Z_]+):-[^}]+\}$/.exec(compose.services[name]?.image ?? "") ?? [];
    expect(variables).toContain(`${variable}=`);
    expect(textOf("docs/run-on-base.md")).toContain(variable);
  }
  expect(textOf("ops/Containerfile")).toMatch(/^ARG NODE_IMAGE=.*\nFROM \$\{NODE_IMAGE\}$/m);
  expect(Object.keys(compose.services.proxy?.environment ?? {})).toEqual(["SITE"]);
  expect(compose.services.proxy?.env_file).toBeUndefined();
  expect(textOf("ops/.gitignore").split("\n")).toEqual(expect.arrayContaining([".env", "env"]));
});

test("the proxy repeats no request that a server may have charged", () => {
  const [, match = ""] = /lb_retry_match \{([^}]*)\}/.exec(textOf("ops/Caddyfile")) ?? [];
  const lines = match.split("\n").map((line) => line.trim());
  expect(lines).toContain("method GET HEAD");
  // Every header by which a request may be charged, or prove whose it is.
  for (const header of CREDENTIALS) expect(lines).toContain(`header !${header}`);
});

test("no variable is set that nobody reads", () => {
  const ours = ["migrate", "index", "serve", "work"].flatMap((name) =>
    Object.keys(compose.services[name]?.environment ?? {}),
  );
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
  for (const job of ["serve", "work"]) {
    expect(expr).toContain(`absent(up{job="ahs-${job}"})`);
    expect(compose.services[job]).toMatchObject({ deploy: { replicas: Number(wanted) } });
  }
});

// Debian's `prometheus` has it; without it the rules are read, and not evaluated.
const PROMTOOL = "/usr/bin/promtool";

test.skipIf(!existsSync(PROMTOOL))("alerts fire when they should, and are silent when all is well", () => {
  const cwd = new URL("ops/prometheus", ROOT);
  const { status, stdout, stderr } = spawnSync(PROMTOOL, ["test", "rules", "rules.test.yml"], { cwd });
  expect(status, `${stdout}${stderr}`).toBe(0);
});

test("every alert reads metrics that exist, and is named in docs/operate.md", () => {
  const documented = documentedMetrics();
  const operate = textOf("docs/operate.md");
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, labels } of rules) {
    const names = (expr.match(/\bahs_\w+/g) ?? []).map((name) => name.replace(/_bucket$/, ""));
    expect(names.filter((name) => !documented.has(name))).toEqual([]);
    expect(operate).toContain(alert);
    expect(["page", "ticket"]).toContain(labels.severity);
  }
});
