/** What a page is told of the log archive of a benchmark run. */

export interface RunLogFile {
  /** Its name in the archive, parts with `/` between them. */
  path: string
  size_bytes: number
  packed_bytes: number
  modified_ms: number | null
  /** Changes with what is in it. */
  version: string
  /** Why it cannot be opened here. */
  refusal: string | null
}

export interface RunLogArchive {
  /** When the console began to read it. */
  read_at_ms: number
  size_bytes: number
  /** In the order of the archive. */
  files: RunLogFile[]
  /** Entries that are not shown: how many, and the first of them with the reason. */
  left_out: { count: number; first: { name: string; reason: string }[] }
}

export interface RunLogs {
  /** Null until the archive has been read once. */
  archive: RunLogArchive | null
  /** The archive is being read, for the first time or anew. */
  reading: { received_bytes: number; total_bytes: number | null } | null
}

/** A page is sent no more than this of a file at once. */
export const maxPieceBytes = 4 * 1024 * 1024
