import type { LogSource } from '#lib/contract/logs.ts'
import { wholeLength } from '#lib/service/kit/utf8.ts'
import type { LogFile } from './log-file.ts'

/**
 * Unspecified: how long a message may be. Of a longer line, what a carriage return began to overwrite is dropped; what is
 * still longer is cut, and the record says so.
 */
const maxMessageBytes = 8 * 1024
/** Unspecified: how much one command may add to the log. The streams of an execution carry all it wrote. */
const maxCommandBytes = 256 * 1024
const newline = 10
const carriageReturn = 13

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

/** Cuts bytes into lines of text, and holds no more of one than twice of what is logged. */
class Lines {
  readonly #emit: (line: string) => void
  readonly #bytes = Buffer.allocUnsafe(2 * maxMessageBytes)
  #length = 0
  /** How many bytes of the line, or of what follows its last carriage return, are not kept. */
  #missing = 0
  /** The line so far ends with a carriage return. */
  #isReturned = false

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
    let start = 0
    for (let end = piece.indexOf(carriageReturn); end !== -1; end = piece.indexOf(carriageReturn, start)) {
      this.#add(piece.subarray(start, end))
      this.#isReturned = true
      start = end + 1
    }
    this.#add(piece.subarray(start))
  }

  #add(piece: Uint8Array) {
    if (piece.length === 0) return
    if (this.#isReturned && this.#missing > 0) {
      if (!hasText(piece)) return
      this.#length = 0
      this.#missing = 0
    } else if (this.#isReturned) this.#write(returnBytes)
    this.#isReturned = false
    this.#write(piece)
  }

  #write(piece: Uint8Array) {
    for (let at = 0; at < piece.length; ) {
      if (this.#length === this.#bytes.length) this.#makeRoom()
      if (this.#missing > 0) {
        this.#missing += piece.length - at
        return
      }
      const part = piece.subarray(at, at + this.#bytes.length - this.#length)
      this.#bytes.set(part, this.#length)
      this.#length += part.length
      at += part.length
    }
  }

  /** Keeps as much as is logged, from a carriage return on where text follows one. */
  #makeRoom() {
    const bytes = this.#bytes.subarray(0, this.#length)
    const next = bytes.indexOf(carriageReturn, this.#length - maxMessageBytes)
    const isOverwritten = next !== -1 && hasText(bytes.subarray(next))
    const start = isOverwritten
      ? next
      : Math.max(0, bytes.lastIndexOf(carriageReturn, next === -1 ? undefined : next - 1))
    const kept = Math.min(this.#length - start, maxMessageBytes)
    this.#missing = this.#length - start - kept
    bytes.copyWithin(0, start, start + kept)
    this.#length = kept
  }

  #line() {
    if (this.#length > maxMessageBytes) this.#makeRoom()
    this.#emit(cut(this.#bytes.subarray(0, this.#length), this.#length + this.#missing))
    this.#length = 0
    this.#missing = 0
    this.#isReturned = false
  }
}

const returnBytes = Uint8Array.of(carriageReturn)

/** Whether it prints something, and not only moves the cursor or changes the look of what follows. */
const hasText = (bytes: Uint8Array): boolean =>
  printed.test(Buffer.from(bytes).toString('latin1').replace(controlSequence, ''))
const printed = /[^\0- \x7f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const controlSequence = /\x1b\[[0-?]*[ -/]*[@-~]/g

/** The text of a line, of which `bytes` is the beginning. Bad UTF-8 becomes U+FFFD. */
const cut = (bytes: Buffer, length = bytes.length): string => {
  if (length <= maxMessageBytes) return bytes.toString('utf8')
  const end = wholeLength(bytes.subarray(0, maxMessageBytes))
  return `${bytes.toString('utf8', 0, end)} … (${length - end} more bytes)`
}
