/**
 * Recordings of terminals as the console keeps them, in files of asciicast v2. No service knows them: the gateway
 * writes them and the browser half reads them. Format: https://docs.asciinema.org/manual/asciicast/v2/
 */

export interface Recording {
  id: string
  devbox_id: string
  /** As it was when the recording began; absent where the service did not tell it. */
  devbox_name?: string | undefined
  /** The terminal's name in the console's addresses. */
  terminal: string
  title: string
  start_time_ms: number
  /** Up to the last thing that was shown; null when the file does not tell. */
  duration_ms: number | null
  size_bytes: number
  cols: number
  rows: number
  /** It is being written right now. */
  live: boolean
}

/** What a recording is called: by the terminal's title, else by its name. */
export const titleOf = ({ title, terminal }: Pick<Recording, 'title' | 'terminal'>): string => title || terminal

export interface RecordingList {
  recordings: Recording[]
}

/** What one recording may grow to: it ends there, and says so. */
export const maxRecordingBytes = 256 * 1024 * 1024
export const maxRecordings = 500
