declare module "autocannon" {
  type Options = {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly requests: readonly { readonly method: string; readonly path: string }[];
  };
  type Result = {
    readonly requests: { readonly average: number };
    readonly non2xx: number;
    readonly errors: number;
  };
  // biome-ignore lint/style/noDefaultExport: this is how the package exports it
  export default function autocannon(options: Options): Promise<Result>;
}
