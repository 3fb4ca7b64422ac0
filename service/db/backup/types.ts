/** The first frame of a backup. */
export type BackupBegin = {
  readonly format: "agent-health-backup";
  readonly version: 1;
  /** ISO time of the snapshot. */
  readonly takenAt: string;
  /** Hashes of the migrations that the database had, oldest first. */
  readonly migrations: readonly string[];
  readonly chainIds: readonly number[];
};

/** Before the rows of a table. */
export type BackupTable = {
  readonly table: string;
  readonly columns: readonly string[];
  /** The column that counts by itself, with the number it gave out last; null where there is none or none was given. */
  readonly identity: { readonly column: string; readonly last: string } | null;
};

/** Of one table, as its rows were written. */
export type BackupCount = {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 of the rows as COPY text, hexadecimal. */
  readonly sha256: string;
};

/** The last frame: all tables with what the file holds of them. */
export type BackupManifest = { readonly tables: readonly BackupCount[] };
