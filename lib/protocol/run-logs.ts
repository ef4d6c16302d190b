export interface RunLogFile {
  path: string
  size_bytes: number
  packed_bytes: number
  modified_ms: number | null
  /** Changes with the content. */
  version: string
  refusal: string | null
}

export interface RunLogArchive {
  read_at_ms: number
  size_bytes: number
  files: RunLogFile[]
  left_out: { count: number; first: { name: string; reason: string }[] }
}

export interface RunLogs {
  /** Null until the archive has been read once. */
  archive: RunLogArchive | null
  reading: { received_bytes: number; total_bytes: number | null } | null
}

export const maxPieceBytes = 4 * 1024 * 1024
