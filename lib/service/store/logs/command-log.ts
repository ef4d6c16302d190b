import type { LogSource } from '#lib/contract/logs.ts'
import { wholeLength } from '#lib/service/kit/utf8.ts'
import type { LogFile } from './log-file.ts'

/** Unspecified: how long a message may be; the rest of a longer line is cut, and the record says so. */
const maxMessageBytes = 8 * 1024
/** Unspecified: how much one command may add to the log. The streams of an execution carry all it wrote. */
const maxCommandBytes = 256 * 1024
const newline = 10

export interface LoggedCommand {
  source: LogSource
  cmd: string
  cmd_id?: string
  shell_name?: string | null
}

/** Takes the output of a command; it is logged by line, up to a limit. */
export interface CommandLog {
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void
  end(exitCode: number): void
}

/** Logs a command: itself, each line it writes, its exit code. */
export const logCommand = (file: LogFile, { source, cmd, cmd_id, shell_name }: LoggedCommand): CommandLog => {
  const about = { source, ...(cmd_id && { cmd_id }), ...(shell_name && { shell_name }) }
  let left = maxCommandBytes
  const log = (level: 'info' | 'warn', message: string) => {
    if (left <= 0) return
    left -= file.append({ level, ...about, message })
    if (left <= 0)
      file.append({
        level: 'warn',
        ...about,
        message: 'The log of this command is full; what it wrote after this is not in it',
      })
  }
  // Unspecified: the level of a line on stderr. Much that is written there is no error.
  const lines = {
    stdout: new Lines((line) => log('info', line)),
    stderr: new Lines((line) => log('warn', line)),
  }
  file.begin()
  file.append({ level: 'info', ...about, cmd: cut(Buffer.from(cmd)) })
  return {
    output(stream, chunk) {
      if (left > 0) lines[stream].push(chunk)
    },
    end(exitCode) {
      lines.stdout.end()
      lines.stderr.end()
      file.append({ level: exitCode === 0 ? 'info' : 'error', ...about, exit_code: exitCode })
      file.finish()
    },
  }
}

/** Cuts bytes into lines of text; never holds more of one than is logged. */
class Lines {
  readonly #emit: (line: string) => void
  #held: Buffer[] = []
  #heldBytes = 0
  #length = 0

  constructor(emit: (line: string) => void) {
    this.#emit = emit
  }

  push(chunk: Uint8Array) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#hold(chunk.subarray(start, end))
      this.#line()
      start = end + 1
    }
    this.#hold(chunk.subarray(start))
  }

  end() {
    if (this.#length > 0) this.#line()
  }

  #hold(piece: Uint8Array) {
    this.#length += piece.length
    const room = maxMessageBytes + 1 - this.#heldBytes
    if (room <= 0 || piece.length === 0) return
    const kept = Buffer.from(piece.subarray(0, room))
    this.#held.push(kept)
    this.#heldBytes += kept.length
  }

  #line() {
    this.#emit(cut(Buffer.concat(this.#held), this.#length))
    this.#held = []
    this.#heldBytes = 0
    this.#length = 0
  }
}

/** The text of a line, of which `bytes` is the beginning; what is no UTF-8 in it becomes U+FFFD. */
const cut = (bytes: Buffer, length = bytes.length): string => {
  if (length <= maxMessageBytes) return bytes.toString('utf8').replace(/\r$/, '')
  const end = wholeLength(bytes.subarray(0, maxMessageBytes))
  return `${bytes.toString('utf8', 0, end)} … (${length - end} more bytes)`
}
