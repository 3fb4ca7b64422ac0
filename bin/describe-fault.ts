import { resolve } from "node:path";
import { OPTION_VARIABLES } from "./config.ts";
import { environment } from "./environment.ts";

type Given = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Message of an error that ends a command; a file or an address that failed is named with the option it came from. */
export function describeFault(error: Error, given: Given): string {
  const { code, path, address, port } = error as Error &
    Partial<Record<"code" | "path" | "address", string>> & {
      readonly port?: number;
    };
  if (code === "ENOENT" && path !== undefined) return `no such file: ${path}${originOf(path, given)}`;
  if (code === "EACCES" && path !== undefined) return `no permission for ${path}${originOf(path, given)}`;
  if (code === "ECONNREFUSED" && port !== undefined) {
    return `nothing accepts connections at ${address}:${port}${settingOf(port, given)}`;
  }
  if (code === "EADDRINUSE" && port !== undefined) {
    const settings = PORTS.filter(
      (name) => environment.shape[name].safeParse(given.env[name] || undefined).data === port,
    );
    const named = settings.length === 0 ? "" : ` (${settings.join(", ")})`;
    return `port ${port} of ${address} is taken${named}: stop what listens there, or set another`;
  }
  return error.message;
}

const PORTS = ["PORT", "INDEX_PORT", "METRICS_PORT"] as const;

/** The option, argument or variable that named a file. */
function originOf(path: string, { argv, env }: Given): string {
  const place = argv.findIndex((argument) => resolve(argument.replace(/^--[a-z-]+=/, "")) === resolve(path));
  const option = argv[place]?.match(/^--[a-z-]+(?==)/)?.[0] ?? argv[place - 1];
  if (place >= 0) return option?.startsWith("--") ? ` (${option})` : "";
  return nameOf((value) => resolve(value) === resolve(path), env);
}

/** The setting whose URL has the port. */
function settingOf(port: number, { env }: Given): string {
  return nameOf((value) => URL.canParse(value) && new URL(value).port === String(port), env);
}

function nameOf(matches: (value: string) => boolean, env: Given["env"]): string {
  for (const [option, variable] of Object.entries(OPTION_VARIABLES)) {
    const value = env[variable];
    if (value && matches(value)) return ` (${variable} or --${option})`;
  }
  return "";
}
