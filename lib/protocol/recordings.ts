/** Terminal recordings in asciicast v2: https://docs.asciinema.org/manual/asciicast/v2/ */

export interface Recording {
  id: string
  devbox_id: string
  /** Devbox name at the start; absent if unknown. */
  devbox_name?: string | undefined
  terminal: string
  title: string
  start_time_ms: number
  /** Duration up to the last output; null if unknown. */
  duration_ms: number | null
  size_bytes: number
  cols: number
  rows: number
  live: boolean
}

export const titleOf = ({ title, terminal }: Pick<Recording, 'title' | 'terminal'>): string => title || terminal

export interface RecordingList {
  recordings: Recording[]
}

export const maxRecordingBytes = 256 * 1024 * 1024
export const maxRecordings = 500
