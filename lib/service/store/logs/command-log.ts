import type { LogSource } from '#lib/contract/logs.ts'
import { lengthOfWholeCharacters } from '#lib/service/kit/utf8.ts'
import type { LogFile } from './log-file.ts'

/** Unspecified: longest message. Longer lines lose text overwritten after a carriage return, and are then truncated. */
const maxMessageBytes = 8 * 1024
/** Unspecified: log limit per command. Its execution has the full output. */
const maxCommandBytes = 256 * 1024
const newline = 10
const carriageReturn = 13

export interface LoggedCommand {
  source: LogSource
  cmd: string
  cmd_id?: string
  shell_name?: string | null
}

export interface CommandLog {
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void
  end(exitCode: number): void
}

/** Logs a command, each line of its output up to a limit, and its exit code. */
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
        message: 'Log limit of this command reached; later output is not logged',
      })
  }
  // Unspecified: stderr lines are warnings. Many programs write progress there.
  const lines = {
    stdout: new LineSplitter((line) => log('info', line)),
    stderr: new LineSplitter((line) => log('warn', line)),
  }
  file.begin()
  file.append({ level: 'info', ...about, cmd: toMessage(Buffer.from(cmd)) })
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

/** Splits bytes into lines, buffering at most twice the longest message. */
class LineSplitter {
  readonly #emit: (line: string) => void
  readonly #bytes = Buffer.allocUnsafe(2 * maxMessageBytes)
  #length = 0
  /** Dropped bytes since the last carriage return or line start. */
  #missing = 0
  #endsWithReturn = false

  constructor(emit: (line: string) => void) {
    this.#emit = emit
  }

  push(chunk: Uint8Array) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#addPiece(chunk.subarray(start, end))
      this.#line()
      start = end + 1
    }
    this.#addPiece(chunk.subarray(start))
  }

  end() {
    if (this.#length > 0) this.#line()
  }

  #addPiece(piece: Uint8Array) {
    let start = 0
    for (let end = piece.indexOf(carriageReturn); end !== -1; end = piece.indexOf(carriageReturn, start)) {
      this.#add(piece.subarray(start, end))
      this.#endsWithReturn = true
      start = end + 1
    }
    this.#add(piece.subarray(start))
  }

  #add(piece: Uint8Array) {
    if (piece.length === 0) return
    if (this.#endsWithReturn && this.#missing > 0) {
      if (!hasText(piece)) return
      this.#length = 0
      this.#missing = 0
    } else if (this.#endsWithReturn) this.#write(carriageReturnBytes)
    this.#endsWithReturn = false
    this.#write(piece)
  }

  #write(piece: Uint8Array) {
    for (let at = 0; at < piece.length; ) {
      if (this.#length === this.#bytes.length) this.#truncate()
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

  /** Truncates to one message, starting at a carriage return that text follows. */
  #truncate() {
    const bytes = this.#bytes.subarray(0, this.#length)
    const next = bytes.indexOf(carriageReturn, this.#length - maxMessageBytes)
    const isOverwritten = next !== -1 && hasText(bytes.subarray(next))
    const start = isOverwritten
      ? next
      : Math.max(0, bytes.lastIndexOf(carriageReturn, next === -1 ? undefined : next - 1))
    const keptBytes = Math.min(this.#length - start, maxMessageBytes)
    this.#missing = this.#length - start - keptBytes
    bytes.copyWithin(0, start, start + keptBytes)
    this.#length = keptBytes
  }

  #line() {
    if (this.#length > maxMessageBytes) this.#truncate()
    this.#emit(toMessage(this.#bytes.subarray(0, this.#length), this.#length + this.#missing))
    this.#length = 0
    this.#missing = 0
    this.#endsWithReturn = false
  }
}

const carriageReturnBytes = Uint8Array.of(carriageReturn)

const hasText = (bytes: Uint8Array): boolean =>
  printed.test(Buffer.from(bytes).toString('latin1').replace(controlSequence, ''))
const printed = /[^\0- \x7f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is searched for
const controlSequence = /\x1b\[[0-?]*[ -/]*[@-~]/g

/** Decodes a line that starts with `bytes`. Invalid UTF-8 becomes U+FFFD. */
const toMessage = (bytes: Buffer, length = bytes.length): string => {
  if (length <= maxMessageBytes) return bytes.toString('utf8')
  const end = lengthOfWholeCharacters(bytes.subarray(0, maxMessageBytes))
  return `${bytes.toString('utf8', 0, end)} … (${length - end} more bytes)`
}
